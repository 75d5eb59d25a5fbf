"""Exercise 6: Embedding."""

from npbert.layers import Embedding
from npbert.learn.exercise import CHAPTERS, Exercise
from npbert.learn.layer import layer_part, permuted, sample

TEXT = """
An embedding is a table with a vector for each word: y[n] is row ids[n] of the table. Some words appear several times in
a batch, most not at all.

Ids are whole numbers and have no gradient, so backward returns nothing. Only the table learns. A row that is read three
times moves three rows of y, and their gradients add up.
"""
ASKED = """
Add dW to the gradient of self.weight: dW[v] is the sum of dy[n] over all n with ids[n] = v.

dy (N, D)   dW (V, D), as W, and 0 in rows that are not read

Return nothing: ids have no gradient.
"""
HINTS = """
Try it on paper with ids = [5, 1, 5]: row 5 of dW is dy[0] + dy[2], row 1 is dy[1], and all others are 0.

dW[ids] += dy looks right, and is wrong: NumPy reads the rows, adds, and writes each row once, so of several equal ids
the last one wins.

np.add.at(dW, ids, dy) adds one after another, as a loop would: for n in range(len(ids)): dW[ids[n]] += dy[n].
"""
PLAIN = """
def backward(self, dy, tape):
    ids = tape.take(self)
    places = np.arange(len(ids))
    words = np.arange(len(self.weight.value))
    is_read = words[:, None] == ids
    dW = is_read @ dy
    self.weight.add_grad(dW)
"""
REASONS = {
    "dW": "A row of the table that is read three times moves three rows of y, and adds up their three dy. A "
    "row that is not read gets 0. dy[n] belongs to row ids[n].",
}
ADVICE = {
    "grad has shape": "dW has a row for each word of the table, as W, and dy has a row for each n. So start with "
    "dW = np.zeros_like(self.weight.value), and add dy[n] to row ids[n].",
    r"IndexError: .*out of bounds.*\n.*dy\[": "An id is a row of the table; dy has a row for each place n in ids. So "
    "dy[n] belongs to row ids[n] of dW.",
}
PART = layer_part(
    sample(Embedding, permuted(5, 0, 5, 10, 2, 5, 0), 11, 3),  # includes the first and the last row
    sample(Embedding, permuted(6, 3, 6, 0, 3), 7, 4),
    names={"weight": "dW"},
    asked=ASKED,
    plain=PLAIN,
    reasons=REASONS,
    advice=ADVICE,
)
EXERCISE = Exercise("Embedding", CHAPTERS[7], TEXT, HINTS, (PART,))
