"""EXERCISES: each text with the parts that it asks for."""

from npbert.learn.exercise import Exercise, Part
from npbert.learn.exercises import (
    accumulate_and_clip,
    adam,
    attention,
    derivative,
    find_the_bug,
    layers,
    masking,
    tied_table,
)

_PARTS: dict[str, tuple[Part, ...]] = {
    "derivative": (derivative.CENTRAL, derivative.COMPLEX),
    "linear": (layers.LINEAR,),
    "gelu": (layers.SLOPE,),
    "softmax": (layers.SOFTMAX,),
    "cross_entropy": (layers.CROSS_ENTROPY,),
    "embedding": (layers.EMBEDDING,),
    "layer_norm": (layers.LAYER_NORM,),
    "dropout": (layers.DROPOUT,),
    "add_and_norm": (layers.ENCODER,),
    "attention": (attention.OF_ONE_HEAD, attention.WITH_HEADS),
    "tied_table": (tied_table.PART,),
    "masking": (masking.PART,),
    "accumulate_and_clip": (accumulate_and_clip.ACCUMULATE, accumulate_and_clip.CLIP),
    "adam": (adam.STEP, adam.KEPT),
    "find_the_bug": (find_the_bug.PART,),
    "rotary": (layers.ROTARY,),
    "gate": (layers.GATE,),
}

EXERCISES = {number: Exercise.of(slug, number, *parts) for number, (slug, parts) in enumerate(_PARTS.items(), 1)}
"""The exercises by number."""
