"""BLAS, the library with which NumPy multiplies matrices, and the number of its threads.

NumPy from PyPI has OpenBLAS in it on most systems, whose two functions are found at once. Another BLAS (Intel's MKL,
say, or BLIS) is found by the package threadpoolctl, where that is installed. Apple's Accelerate cannot be told.
"""

import ctypes
import importlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple


class BlasThreads(NamedTuple):
    """get() says on how many threads BLAS multiplies, set(count) changes it for the whole process."""

    get: Callable[[], int]
    set: Callable[[int], object]


@cache
def blas_threads() -> BlasThreads | None:
    """The threads of NumPy's BLAS, or None where it has one that cannot be told how many to use."""
    return _openblas() or _by_threadpoolctl()


def _openblas() -> BlasThreads | None:
    core = Path(importlib.import_module("numpy._core._multiarray_umath").__file__ or "")
    beside_numpy = core.parents[2] / "numpy.libs"  # Windows does not look for a name in the libraries of a library
    for path in (core, *beside_numpy.glob("*openblas*.dll")):
        library = ctypes.CDLL(str(path))
        for prefix, suffix in (("scipy_openblas", "64_"), ("openblas", "64_"), ("openblas", "")):
            get = getattr(library, f"{prefix}_get_num_threads{suffix}", None)
            if get is not None:
                return BlasThreads(get, getattr(library, f"{prefix}_set_num_threads{suffix}"))
    return None


def _by_threadpoolctl() -> BlasThreads | None:
    try:
        threadpoolctl = importlib.import_module("threadpoolctl")
    except ImportError:
        return None
    libraries = threadpoolctl.ThreadpoolController().select(user_api="blas").lib_controllers
    if not libraries:
        return None

    def set_all(count: int) -> None:
        for library in libraries:
            library.set_num_threads(count)

    return BlasThreads(lambda: max(library.get_num_threads() for library in libraries), set_all)
