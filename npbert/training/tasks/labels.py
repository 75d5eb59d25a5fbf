"""The labels of a task: found in a file, in an order that does not change, and refused where they cannot be labels."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from npbert.data.listed import MOST, listed
from npbert.files import FileError
from npbert.training.tasks.header import is_number

_TOO_MANY = 100


def find_labels(names: Sequence[str], path: str) -> tuple[str, ...]:
    """Each name once, in the order of the alphabet, or if all are whole numbers, of their size.

    Raises: FileError when there are more than a hundred, and hardly one comes twice: such a column holds no labels; for
    labels that are the same but for white space.
    """
    bare: dict[str, str] = {}
    for name in sorted(set(names)):
        other = bare.setdefault(" ".join(name.split()), name)
        if other != name:
            raise FileError(f"{path}: the labels {listed([other, name])} are the same but for white space")
    numeric = all(re.fullmatch(r"-?[0-9]+", name) for name in names)
    labels = tuple(sorted(set(names), key=int if numeric else None))
    if len(labels) > _TOO_MANY and 2 * len(labels) > len(names):
        raise FileError(
            f"{path}: {len(labels):,} different labels for {len(names):,} examples are too many to learn: "
            f"{listed(labels)}{_hint(labels)}"
        )
    return labels


def unknown_label(label: str, labels: Collection[str]) -> str:
    """What is wrong with a label that never occurs in training."""
    return f"the label {listed([label])} is none of those in training: {listed(labels)}{_hint(labels)}"


def are_measures(labels: Collection[str]) -> bool:
    """Whether the labels look like numbers that measure something: many, and not all of them whole."""
    return len(labels) > MOST and all(map(is_number, labels)) and any("." in label for label in labels)


def _hint(labels: Collection[str]) -> str:
    if len(labels) <= MOST:
        return ""
    if all(map(is_number, labels)):
        return "; numbers are learned with --task regression"
    if 2 * sum(" " in label for label in labels) > len(labels):
        return "; they look like texts: --label says which column the labels are in"
    return "; --label says which column the labels are in"
