"""Exercise 4: softmax."""

from npbert.layers import Softmax
from npbert.learn.exercise import CHAPTERS, Exercise
from npbert.learn.layer import layer_part, normal, sample

TEXT = """
Softmax turns each row of numbers into a probability distribution. Unlike an activation, it mixes the numbers of a row:
a larger x raises its own p and lowers all others, as they add up to 1. So each x moves every p of its row, and its
gradient is a sum over all of them:

    dxⱼ = Σₖ dpₖ ∂pₖ/∂xⱼ

Work out ∂pₖ/∂xⱼ from pₖ = e^(xₖ) / Σᵢ e^(xᵢ), once for k = j and once for k ≠ j, and put it into the sum.
"""
ASKED = """
Return dx, of the shape of x. dp is ∂loss/∂p, and forward kept p.

x, p, dp, dx (..., T): two axes or more. Each row along the last axis is a distribution.
"""
HINTS = """
By the quotient rule, ∂pₖ/∂xⱼ is pⱼ (1 − pⱼ) for k = j, and −pₖ pⱼ for k ≠ j. Both at once: pₖ (δₖⱼ − pⱼ), where δₖⱼ is
1 for k = j and else 0.

Put it into the sum: dxⱼ = Σₖ dpₖ pₖ δₖⱼ − Σₖ dpₖ pₖ pⱼ. In the first sum only the term k = j is left. In the second, pⱼ
does not depend on k, so move it out of the sum.

dx = p · (dp − s), where s = Σₖ dpₖ pₖ is one number for each row: (dp * p).sum(axis=-1, keepdims=True).
"""
PLAIN = """
def backward(self, dp, tape):
    p = tape.take(self)
    dot = (dp * p).sum(axis=-1, keepdims=True)
    dx = p * (dp - dot)
    return dx
"""
REASONS = {
    "dx": "A larger x raises its own p, and lowers all others of its row, as they add up to 1. So dx has two terms: "
    "one from its own dp, and one from the dp of its whole row, each weighted by its p.",
}
ADVICE = {
    "^(Value|Index|Axis)Error": "Softmax takes (..., T), any number of axes; attention gives it four. Along the last "
    "axis is axis=-1. A loop goes over all rows with `for place in np.ndindex(p.shape[:-1])`: then p[place] is a row.",
}
PART = layer_part(
    sample(Softmax, normal(7, 5)),
    sample(Softmax, normal(3, 4, 11)),
    asked=ASKED,
    plain=PLAIN,
    reasons=REASONS,
    advice=ADVICE,
)
EXERCISE = Exercise("softmax", CHAPTERS[4], TEXT, HINTS, (PART,))
