"""Holds BLAS to one thread while npbert computes. Whoever ends last gives BLAS its own number of threads back."""

import contextlib
import threading
from collections.abc import Iterator

from npbert.compute.blas import blas_threads


class _State:
    """The users that hold BLAS, and BLAS's own number of threads, which it had before the first of them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users: set[object] = set()
        self.own_count = 1


def count_of_its_own() -> int:
    """Return BLAS's own number of threads, also while it is held; 0 if it cannot be set."""
    blas = blas_threads()
    if blas is None:
        return 0
    with _state.lock:  # otherwise another thread could take hold of BLAS in between
        return _state.own_count if _state.users else blas.get()


def _hold(user: object, threads: int) -> bool:
    """Set BLAS to `threads` threads until `_release(user)`. Returns: whether it is set."""
    blas = blas_threads()
    if blas is None:
        return False
    with _state.lock:
        if not _state.users:
            _state.own_count = blas.get()
        elif threads > 1:
            return False
        _state.users.add(user)
        blas.set(threads)
    return True


def _release(user: object) -> None:
    """End the hold of `user`. The last one gives BLAS its own threads back. A second release does nothing."""
    if user in _state.users:
        with _state.lock:
            if _state.users == {user} and (blas := blas_threads()):
                blas.set(_state.own_count)
            _state.users.discard(user)


@contextlib.contextmanager
def hold_blas(threads: int = 1) -> Iterator[bool]:
    """Within it, BLAS has `threads` threads, or one while there are several users.

    Gives False, and does nothing, if BLAS cannot be set, or if it has a user and several threads are asked for."""
    user = object()
    try:
        yield _hold(user, threads)
    finally:
        try:
            _release(user)
        finally:
            _release(user)  # again, as a KeyboardInterrupt may interrupt the first call


def start_in_child() -> None:
    """A forked process has none of the users: threads.py calls this there."""
    global _state
    parent, _state = _state, _State()
    blas = blas_threads()
    if blas and parent.users:
        blas.set(parent.own_count)


_state = _State()
