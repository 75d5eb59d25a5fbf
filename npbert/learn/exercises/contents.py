"""EXERCISES: each text with the blanks that it asks for. VARIANTS: exercises in another form, to repeat days later."""

from typing import Any

from npbert.catalogue import Setting
from npbert.layers import Softmax
from npbert.learn.exercise import read_exercise
from npbert.learn.exercises import derivative, find_the_bug, masking, steps
from npbert.learn.exercises.other_layers import (
    LinearOfColumns,
    PaddedAttention,
    RMSNorm,
    SoftmaxOfColumns,
    TiedTable,
    with_heads,
)
from npbert.learn.layer import LayerBlank, layer_blank

_THREE_AXES = Setting(Softmax, lambda cls, init: cls(), [(3, 4, 11)])

_WITH_HEADS = LayerBlank(
    right=PaddedAttention, settings=(with_heads(2, 3, (7, 2, 6, 7, 4)), with_heads(5, 2, (4, 11, 7)))
)

_BLANKS: Any = (
    ("derivative", derivative.CENTRAL, derivative.COMPLEX),
    ("linear", layer_blank("Linear")),
    ("gelu", layer_blank("GELU", method="value_and_slope", fixed=())),
    ("softmax", layer_blank("Softmax", other=_THREE_AXES)),
    ("cross_entropy", layer_blank("SoftmaxCrossEntropy")),
    ("embedding", layer_blank("Embedding")),
    ("layer_norm", layer_blank("LayerNorm", without=("three_paths",))),
    ("dropout", layer_blank("Dropout")),
    ("add_and_norm", layer_blank("EncoderLayer")),
    ("attention", layer_blank("DotProductAttention", method="attend_backward"), _WITH_HEADS),
    ("tied_table", layer_blank("Embedding", TiedTable)),
    ("masking", masking.BLANK),
    ("accumulate_and_clip", steps.ACCUMULATE, steps.CLIP),
    ("adam", steps.STEP, steps.KEPT),
    ("find_the_bug", find_the_bug.BLANK),
    ("rotary", layer_blank("Rotary")),
    ("gate", layer_blank("GatedFeedForward, gelu", given=2)),
)
"""The name of a text, and what it asks for."""
_AGAIN = {
    2: layer_blank("Linear", LinearOfColumns),
    3: layer_blank("SiLU", method="value_and_slope", given=1, fixed=()),
    4: layer_blank("Softmax", SoftmaxOfColumns),
    5: layer_blank("MeanSquaredError"),
    6: layer_blank("Gather"),
    7: layer_blank("LayerNorm", RMSNorm),
}

EXERCISES = {number: read_exercise(slug, number, *blanks) for number, (slug, *blanks) in enumerate(_BLANKS, 1)}
"""The exercises by number."""

VARIANTS = {
    100 + number: read_exercise(f"{EXERCISES[number].slug}_again", 100 + number, blank)
    for number, blank in _AGAIN.items()
}
"""The variants by number: 100 more than the exercise's. Repeated tests help to remember. (Roediger & Karpicke 2006,
"Test-Enhanced Learning".)"""

ALL = {**EXERCISES, **VARIANTS}
"""The exercises and the variants, by number."""
