"""BLAS, NumPy's library for matrix products, and the number of its threads.

NumPy from PyPI contains OpenBLAS on most systems, and its two functions are found directly. Another BLAS, such as MKL
or BLIS, needs the package threadpoolctl. The threads of Apple's Accelerate cannot be set.
"""

import ctypes
import importlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple


class BlasThreads(NamedTuple):
    """get() returns the number of BLAS threads, set(count) changes it for the whole process."""

    get: Callable[[], int]
    set: Callable[[int], object]


@cache
def blas_threads() -> BlasThreads | None:
    """Return the BlasThreads of NumPy's BLAS, or None if its number of threads cannot be set."""
    return _openblas() or _by_threadpoolctl()


def _openblas() -> BlasThreads | None:
    core = Path(importlib.import_module("numpy._core._multiarray_umath").__file__ or "")
    beside_numpy = core.parents[2] / "numpy.libs"  # Windows does not search a library's own libraries for a name
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
