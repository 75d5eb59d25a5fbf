// A noisy row of numbers made smooth, for curves of losses.

// Of each value the mean with those before it, weighted so that one counts less the longer ago it is: over about `over`
// of them, without a kink where an old one leaves the mean.
export function smoothed(values, over) {
  const keep = 1 - 1 / over;
  let [sum, weight] = [0, 0];
  return values.map((value) => {
    [sum, weight] = [keep * sum + value, keep * weight + 1];
    return sum / weight;
  });
}
