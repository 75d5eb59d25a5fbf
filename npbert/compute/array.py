"""Array: what all of npbert computes with."""

from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]
"""A NumPy array of any shape and dtype; the docstrings say which."""
