"""The exercises, in order. Each is a file of data: its text, its hints, a right answer, and the reasons."""

from dataclasses import replace
from importlib import import_module

from npbert.learn.exercise import Exercise

_FILES = (
    "derivative", "linear", "gelu", "softmax", "cross_entropy", "embedding", "layer_norm", "dropout", "add_and_norm",
    "attention", "tied_table", "masking", "accumulate_and_clip", "adam", "find_the_bug", "rotary",
    "gate",
)  # fmt: skip

_ALL = tuple(
    replace(import_module(f"{__name__}.{slug}").EXERCISE, number=number, slug=slug)
    for number, slug in enumerate(_FILES, 1)
)

EXERCISES: dict[int, Exercise] = {exercise.number: exercise for exercise in _ALL}
"""The exercises by number."""

__all__ = ["EXERCISES"]
