"""Exercise 5: softmax with cross-entropy, where some labels are ignored."""

from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.core import IGNORED, Tape
from npbert.layers import SoftmaxCrossEntropy
from npbert.learn.attempt import attempt
from npbert.learn.exercise import CHAPTERS, Exercise
from npbert.learn.layer import another_dtype, layer_part, sample
from npbert.learn.verdict import paragraphs

TEXT = """
The loss measures the surprise at the right answers. For each row with a label, it is −log of the label's probability by
softmax. The loss is the mean of these numbers. Rows with the label −100 (IGNORED) have no target, and do not affect the
loss.

With softmax in front, the logarithm undoes one exponential: log p = logit − log Σ e^logits. Take its derivative in one
logit. backward gets dloss, one number. It is not always 1: a loss may have a weight, or be one of two in a sum.
"""
ASKED = """
Return dlogits (N, C), of the shape of logits; 0 in ignored rows.

is_target (N,): True for a row with a label   targets (n,): the labels of these n rows
scores (n, C): their logits   largest, total (n, 1): the maximum of each row, and Σ e^(score − maximum)
"""
HINTS = """
For one row: loss = −(logit[label] − log Σₖ e^(logit[k])). The first term moves with the logit of the label alone; the
second with all of them: its slope by logit[k] is e^(logit[k]) / Σ e^logits, which is p[k].

So a row gives p − onehot(label). The loss is the mean over the n targets, so divide by n = len(targets), not by N; and
by the chain rule multiply by dloss. p is np.exp(scores - largest) / total.

dscores = p; dscores[np.arange(n), targets] -= 1; dscores *= dloss / n, with n = len(targets). Then put them in their
rows: dlogits = np.zeros((len(is_target), scores.shape[1]), scores.dtype); dlogits[is_target] = dscores.
"""
PLAIN = """
def backward(self, dloss, tape):
    is_target, targets, scores, largest, total = tape.take(self)
    n = len(targets)
    each = np.arange(n)
    rows = np.flatnonzero(is_target)
    share = dloss / n
    p = np.exp(scores - largest) / total
    onehot = np.zeros(p.shape)
    labels = each, targets
    onehot[labels] = 1
    dscores = (p - onehot) * share
    dlogits = np.zeros((len(is_target), scores.shape[1]))
    np.add.at(dlogits, rows, dscores)
    return dlogits
"""
REASONS = {
    "dlogits": "The loss is the mean over the targets, with the factor dloss. In a row with a label, logit[label] "
    "moves the first term of −logit[label] + log Σ e^logits, and all logits of the row move the second. An ignored row "
    "does not affect the loss.",
}
ADVICE = {"NameError: .*'softmax'": "You have all that it needs: p = np.exp(scores - largest) / total."}
LARGE = 1000.0
OVERFLOW = f"""
Note: for large scores, such as {LARGE:g}, your result is NaN, as e^score overflows (in float32 from 89 on). forward
first subtracts the largest score of each row. p = np.exp(scores - largest) / total does so, too, and is the same
number.
""".strip().replace("\n", " ")


def labelled(*labels: int, classes: int) -> Setting:
    """Return the setting of the loss with these labels, and logits of this number of classes."""
    return sample(SoftmaxCrossEntropy, lambda rng: (rng.standard_normal((len(labels), classes)), np.array(labels)))


SOME = labelled(IGNORED, 4, 0, 2, IGNORED, 4, 2, 3, IGNORED, 4, IGNORED, classes=5)
ALL = labelled(3, 0, 3, 2, 0, 3, 1, classes=4)  # if each row is a target, the kept scores are the caller's array


def overflows(layer_class: type[Any]) -> str:
    """Return remarks on a right answer that is NaN for large scores, and on its dtype."""
    layer, (logits, labels), _ = SOME.make(layer_class)

    def is_finite() -> bool:
        tape = Tape()
        layer(logits + LARGE, labels, tape=tape)
        return bool(np.isfinite(layer.backward(1.0, tape)).all())

    return paragraphs("" if attempt(is_finite) is True else OVERFLOW, another_dtype(SOME, layer_class))


PART = layer_part(SOME, ALL, asked=ASKED, plain=PLAIN, reasons=REASONS, advice=ADVICE, remarks=overflows)
EXERCISE = Exercise("softmax with cross-entropy", CHAPTERS[4], TEXT, HINTS, (PART,))
