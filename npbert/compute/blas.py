"""BLAS, NumPy's library for matrix products: the number of its threads, and a hold on it while npbert computes.

NumPy from PyPI contains OpenBLAS on most systems, and its two functions are found directly. Another BLAS, such as MKL
or BLIS, needs the package threadpoolctl. The threads of Apple's Accelerate cannot be set.
"""

import contextlib
import ctypes
import importlib
import threading
from collections.abc import Callable, Iterator
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


class _State:
    """The users that hold BLAS, and BLAS's own number of threads, which it had before the first of them."""

    lock = threading.Lock()
    users: frozenset[object] = frozenset()
    own_count = 1


def count_of_its_own() -> int:
    """Return BLAS's own number of threads, also while it is held; 0 if it cannot be set."""
    blas = blas_threads()
    if blas is None:
        return 0
    with _state.lock:  # otherwise another thread could take hold of BLAS in between
        return _state.own_count if _state.users else blas.get()


def hold(user: object, threads: int = 1) -> bool:
    """Set BLAS to `threads` threads until `release(user)`, or to one while there are several users.

    Returns False, and does nothing, if BLAS cannot be set, or if it has a user and several threads are asked for."""
    blas = blas_threads()
    if blas is None:
        return False
    with _state.lock:
        if not _state.users:
            _state.own_count = blas.get()
        elif threads > 1:
            return False
        _state.users |= {user}
        blas.set(threads)
    return True


def release(user: object) -> None:
    """End the hold of `user`. The last one gives BLAS its own threads back. A second release does nothing.

    A KeyboardInterrupt may break it off, so call it twice: in `try`, and again in `finally`."""
    if user in _state.users:
        with _state.lock:
            if _state.users == {user} and (blas := blas_threads()):
                blas.set(_state.own_count)
            _state.users -= {user}


@contextlib.contextmanager
def hold_blas(threads: int = 1) -> Iterator[bool]:
    """Within it, BLAS is held, if the value is True: see `hold`."""
    user = object()
    try:
        yield hold(user, threads)
    finally:
        try:
            release(user)
        finally:
            release(user)


def start_in_child() -> None:
    """A forked process has none of the users: threads.py calls this there."""
    users, _state.users, _state.lock = _state.users, frozenset(), threading.Lock()
    blas = blas_threads()
    if blas and users:
        blas.set(_state.own_count)


_state = _State()
