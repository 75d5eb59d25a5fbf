"""Types: Array for all arrays in npbert, DTypeLike for dtypes, and Forward for anything with a forward."""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy.typing as npt

Array = npt.NDArray[Any]
"""A NumPy array of any shape and dtype; the docstrings say which."""

DTypeLike: TypeAlias = "npt.DTypeLike"
"""A dtype, or a name of one. (The name keeps signatures short in help().)"""

Output = TypeVar("Output", covariant=True)


class Forward(Protocol[Output]):
    """Anything with a forward, by the type of its output."""

    @property
    def forward(self) -> Callable[..., Output]: ...
