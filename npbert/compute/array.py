"""Array, the type of all arrays in npbert; and Forward, the type of what has a forward."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

Array = NDArray[Any]
"""A NumPy array of any shape and dtype; the docstrings say which."""

Output = TypeVar("Output", covariant=True)


class Forward(Protocol[Output]):
    """Anything with a forward, which says what the type of its output is."""

    @property
    def forward(self) -> Callable[..., Output]: ...
