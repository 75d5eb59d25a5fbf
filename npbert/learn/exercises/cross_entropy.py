"""Exercise 5: softmax with cross-entropy, where some labels are ignored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.core import Tape
from npbert.layers import SoftmaxCrossEntropy
from npbert.layers.cross_entropy import _exponentials
from npbert.learn.attempt import Failure, attempt
from npbert.learn.chapters import chapter
from npbert.learn.dtypes import another_dtype
from npbert.learn.exercise import Exercise
from npbert.learn.exercises.cross_entropy_answer import LABELS
from npbert.learn.exercises.cross_entropy_mistakes import WRONG, pairs, too_few_rows
from npbert.learn.layers import layer_part
from npbert.learn.source import Blank, class_source, exercise_file, function_source

SETTING = Setting(
    SoftmaxCrossEntropy, lambda cls, init: cls(), lambda rng: (rng.standard_normal((11, 5)), LABELS.copy())
)
_LARGE = 1000.0
_OVERFLOW = (
    f"One thing to know: where scores are large, such as {_LARGE:g}, yours is NaN, as e^score overflows (in float32 at "
    "89 already). forward subtracts the largest score of each row first, and so does p = np.exp(scores - largest) / "
    "total, which is the same number."
)
TEXT = """
The loss says how surprised the model is by the right answers: for each row that has a label, −log of the probability
that softmax gives to it, and of these numbers the mean. Rows whose label is −100 (IGNORED) have no target: they have no
say in the loss.

With softmax in front, the logarithm cancels nearly everything: log p = logit − log Σ e^logits. Take the derivative of
that by one logit. backward is given dloss, one number, and it is not always 1: a loss may be weighted, or be one of two
that are added.
"""
BLANK = Blank(
    "backward",
    """Return dlogits (N, C), of the shape of logits; 0 in the rows that are ignored.

    is_target (N,): True where a row has a label   targets (n,): the labels of these n rows
    scores (n, C): their logits   largest, total (n, 1): of each row the maximum, and Σ e^(score − maximum)
    """,
)
HINTS = (
    "For one row: loss = −(logit[label] − log Σₖ e^(logit[k])). The first term moves with the logit of the label "
    "alone; the second with all of them: its slope by logit[k] is e^(logit[k]) / Σ e^logits, which is p[k].",
    "So a row gives p − onehot(label). The loss is the mean over the n targets, so divide by n = len(targets), not "
    "by N; and by the chain rule multiply by dloss. p is np.exp(scores - largest) / total.",
    "dscores = p; dscores[np.arange(n), targets] -= 1; dscores *= dloss / n, with n = len(targets). Then put them "
    "where they belong: dlogits = np.zeros((len(is_target), scores.shape[1]), scores.dtype); "
    "dlogits[is_target] = dscores.",
)


def overflows(layer_class: type[Any]) -> str:
    """What is said of a right answer that is NaN where scores are large; and of the dtype."""
    layer, (logits, labels), _ = SETTING.make(layer_class)

    def dlogits() -> Any:
        tape = Tape()
        layer.forward(logits + _LARGE, labels, tape=tape)
        return layer.backward(1.0, tape)

    given = attempt(dlogits)
    is_finite = not isinstance(given, Failure) and np.isfinite(given).all()
    return "\n\n".join(filter(None, ["" if is_finite else _OVERFLOW, another_dtype(SETTING, layer_class)]))


def advise(failure: Failure) -> str:
    """Where a softmax is called for."""
    if failure.kind != "NameError" or "'softmax'" not in failure.message:
        return ""
    return "What it takes is there already: p = np.exp(scores - largest) / total."


EXERCISE = Exercise(
    number=5,
    slug="cross_entropy",
    title="softmax with cross-entropy",
    chapter=chapter(4),
    hints=HINTS,
    parts=(replace(layer_part(SETTING, WRONG, recognise=too_few_rows, pairs=pairs, advise=advise), remarks=overflows),),
    source=lambda: exercise_file(
        5,
        "softmax with cross-entropy",
        chapter(4),
        TEXT,
        [class_source(SoftmaxCrossEntropy, BLANK), function_source(_exponentials)],
    ),
    blanks=("SoftmaxCrossEntropy.backward",),
)
