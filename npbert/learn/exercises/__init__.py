"""The exercises, in order. Each is one file: its text, its hints, and the wrong answers that are known."""

from importlib import import_module

from npbert.learn.exercise import Exercise

_FILES = (
    "derivative", "linear", "gelu", "softmax", "cross_entropy", "embedding", "layer_norm", "dropout", "add_and_norm",
    "attention", "tied_table", "masking", "accumulate_and_clip", "adam", "find_the_bug",
)  # fmt: skip

_ALL: list[Exercise] = []
for _name in _FILES:  # TEMPORARY, while exercises are converted
    try:
        _ALL.append(import_module(f"{__name__}.{_name}").EXERCISE)
    except (ImportError, TypeError, AttributeError) as _error:
        print("not converted:", _name, _error)

EXERCISES = {exercise.number: exercise for exercise in _ALL}
"""By number."""

__all__ = ["EXERCISES"]
