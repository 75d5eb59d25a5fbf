"""Exercise 13, part two: what is taken for the joint norm."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter
from npbert.learn.exercises.clipping import joint_norm
from npbert.learn.exercises.clipping_mistakes import CLIPS, scaled


def _all(parameters: Iterable[Parameter]) -> Array:
    return np.concatenate([parameter.grad.ravel() for parameter in parameters])


_NORM = "The joint norm is √(Σ grad²), over all numbers of all gradients."
_NORMS: dict[str, tuple[str, Callable[[list[Parameter]], float]]] = {
    "largest": ("The largest number is taken for the norm.", lambda given: float(np.abs(_all(given)).max())),
    "sizes_added": (
        "The sizes of the numbers are added up, without squares.",
        lambda given: float(np.abs(_all(given)).sum()),
    ),
    "numbers_added": ("The numbers are added up, without squares.", lambda given: float(_all(given).sum())),
    "mean_square": (
        "The mean of all squares is taken, and not their sum.",
        lambda given: float(np.sqrt((_all(given) ** 2).mean())),
    ),
    "means_of_squares": (
        "The mean of the squares of each gradient is taken, and not their sum.",
        lambda given: math.sqrt(sum(float((parameter.grad**2).mean()) for parameter in given)),
    ),
    "largest_norm": (
        "The largest of the norms of the gradients is taken, and not their joint norm.",
        lambda given: max(joint_norm([parameter]) for parameter in given),
    ),
    "mean_norm": (
        "The mean of the norms of the gradients is taken, and not their joint norm.",
        lambda given: sum(joint_norm([parameter]) for parameter in given) / len(given),
    ),
    "of_values": (
        "The norm is that of the values, and should be that of the gradients.",
        lambda given: math.sqrt(sum(float((parameter.value**2).sum()) for parameter in given)),
    ),
    "singular": (
        "The norm of a matrix is its largest singular value there, which is what np.linalg.norm(grad, 2) gives.",
        lambda given: math.sqrt(sum(float(np.linalg.norm(parameter.grad, 2)) ** 2 for parameter in given)),
    ),
    "first_alone": ("The norm is that of the first gradient alone.", lambda given: joint_norm(given[:1])),
    "last_alone": ("The norm is that of the last gradient alone.", lambda given: joint_norm(given[-1:])),
}


def _with_norm(name: str, says: str, norm_of: Callable[[list[Parameter]], float]) -> None:
    def clipped_by(parameters: Iterable[Parameter], max_norm: float) -> float:
        parameters = list(dict.fromkeys(parameters))
        norm = norm_of(parameters)
        scaled(parameters, max_norm, norm)
        return norm

    clipped_by.__name__ = f"norm_{name}"
    CLIPS(says, _NORM)(clipped_by)


for _name, (_says, _norm_of) in _NORMS.items():
    _with_norm(_name, _says, _norm_of)

__all__ = ["CLIPS"]
