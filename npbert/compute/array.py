"""Array, the type of all arrays in npbert; DTypeLike, of a dtype; and Forward, the type of what has a forward."""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy.typing as npt

Array = npt.NDArray[Any]
"""A NumPy array of any shape and dtype; the docstrings say which."""

DTypeLike: TypeAlias = "npt.DTypeLike"
"""A dtype, or a name of one. (By this name it is short in what help says.)"""

Output = TypeVar("Output", covariant=True)


class Forward(Protocol[Output]):
    """Anything with a forward, which says what the type of its output is."""

    @property
    def forward(self) -> Callable[..., Output]: ...
