"""Threads: the number that npbert computes on, and the work that they share.

NumPy does elementwise work on one thread. Its BLAS splits a matrix product among threads of its own, in equal shares,
and all wait for the slowest: on a processor that another process uses too, a small product then takes a hundred times
as long. So npbert holds BLAS to one thread while it computes, and cuts large work, products and all else, into pieces
itself. A thread takes the next piece when it has done one, and waits for none that has not begun. (Small work: lent.py)
"""

from __future__ import annotations

import contextlib
import contextvars
import itertools
import os
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from npbert.compute.blas import blas_threads

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Item = TypeVar("Item")

VARIABLE = "NPBERT_NUM_THREADS"

WAYS = 4
"""Pieces that a large product is cut into, on any number of threads: BLAS may round otherwise in a piece of another
size. More would take one thread longer; each piece copies a whole factor again."""


def num_threads() -> int:
    """The number of threads that npbert computes on, with the calling one.

    As `set_num_threads` or the environment variable NPBERT_NUM_THREADS said; otherwise as many as NumPy's BLAS has,
    which follows OPENBLAS_NUM_THREADS and OMP_NUM_THREADS, or as there are processors for this process. In a piece of
    what `run` shares out: its part of them. In `lend_to_blas`, where BLAS has them all: 1.
    """
    if _here.count is not None:
        return _here.count
    if _state.count is None:
        blas = blas_threads()
        with _state.lock:  # or another thread could hold BLAS to one thread between the two questions
            of_blas = _state.blas_count if _state.blas_users else blas.get() if blas else 0
            _state.count = of_blas or _processors()
    return _state.count


def ways() -> int:
    """The number of pieces that a large product is cut into: WAYS, or in one of n pieces of what `run` shares out, an
    n-th of them. It depends on what is computed, and never on the number of threads."""
    return _here.ways


def set_num_threads(count: int) -> None:
    """Compute on `count` threads from now on, in the whole process.

    Raises: TypeError or ValueError for anything but a whole number of at least 1.
    """
    if isinstance(count, bool) or not isinstance(count, int):
        raise TypeError(f"the number of threads is {count!r}, wanted a whole number")
    if count < 1:
        raise ValueError(f"the number of threads is {count}, wanted at least 1")
    with _state.lock:
        _state.count = count
        pool, _state.pool = _state.pool, None
    if pool is not None:
        pool.shutdown(wait=False)


def run(work: Callable[[Item], object], items: Iterable[Item], *, of: int | None = None) -> None:
    """Call work(item) once for every item, on several threads at a time, and return when all is done.

    of: the number of items that there are in all, where these are only some of them: products are cut by it (`ways`).

    NumPy lets go of Python's lock inside its loops, so pieces should be large: 10,000 elements and more. `work` may
    multiply matrices; where BLAS cannot be held to one thread, all is done on the calling thread. `work` may call `run`
    itself: of 8 threads, each of 2 pieces has 4, and each of 8 or more has one.

    An error of `work` comes out of `run`, a KeyboardInterrupt as well; items that were not begun by then are left, no
    thread is at work on one, and BLAS has its threads again.
    """
    waiting, user, before = deque(items), object(), _here.ways
    helpers, within = min(num_threads(), len(waiting)) - 1, max(1, before // max(1, of or len(waiting)))

    def piece(item: Item) -> None:
        _here.ways = within
        work(item)

    try:
        if _here.count != 1 and _hold_blas(user) and helpers > 0:
            _run_on_several(piece, waiting, helpers)
        else:
            for item in waiting:
                piece(item)
    finally:
        _here.ways = before
        try:
            _release_blas(user)
        finally:
            _release_blas(user)  # again: a KeyboardInterrupt can come in the middle of the first


def _run_on_several(work: Callable[[Item], object], waiting: deque[Item], helpers: int) -> None:
    futures: list[Future[None]] = []
    count = num_threads() // (helpers + 1)

    def drain() -> None:
        before, _here.count = _here.count, count
        try:
            while True:
                try:
                    item = waiting.popleft()
                except IndexError:
                    return
                work(item)
        except BaseException:
            waiting.clear()
            raise
        finally:
            _here.count = before

    def end() -> list[BaseException]:
        waiting.clear()
        return [*filter(None, [future.exception() for future in futures if not future.cancel()])]

    try:
        _submit(drain, helpers, futures)
        drain()
    finally:
        try:
            errors = end()
        finally:
            errors = end()  # again, as above
    if errors:
        raise errors[0]


@contextlib.contextmanager
def lend_to_blas() -> Iterator[bool]:
    """Within it BLAS splits each product of the calling thread among num_threads() threads of its own, and `run` shares
    nothing out. False, and all as ever, where there is only one thread, or another part of the program computes."""
    count, before = num_threads(), _here.count
    with hold_blas(count) as is_held:
        try:
            _here.count = 1 if is_held else before
            yield is_held and count > 1
        finally:
            _here.count = before


@contextlib.contextmanager
def hold_blas(threads: int = 1) -> Iterator[bool]:
    """Within it BLAS multiplies on so many threads, and `lend_to_blas` lends it no others. False: see `_hold_blas`."""
    user = object()
    try:
        yield _hold_blas(user, threads)
    finally:
        try:
            _release_blas(user)
        finally:
            _release_blas(user)  # again, as above


def slices(length: int, count: int) -> list[slice]:
    """`count` slices that cover 0 to length − 1, as equal as can be: items for `run`."""
    edges = [length * i // max(1, count) for i in range(count + 1)]
    return [slice(*pair) for pair in itertools.pairwise(edges)]


def _hold_blas(user: object, threads: int = 1) -> bool:
    """Have BLAS multiply on `threads` threads until `user` releases it, or on the calling one once it has more users.
    False where it cannot be told so, or where several threads are wanted and it has a user."""
    blas = blas_threads()
    if blas is None:
        return False
    with _state.lock:
        if not _state.blas_users:
            _state.blas_count = blas.get()
        elif threads > 1:
            return False
        _state.blas_users.add(user)
        blas.set(threads)
    return True


def _release_blas(user: object) -> None:
    """The last user that releases BLAS gives it its threads back. To release it once more changes nothing."""
    if user in _state.blas_users:
        with _state.lock:
            if _state.blas_users == {user} and (blas := blas_threads()):
                blas.set(_state.blas_count)
            _state.blas_users.discard(user)


class _State:
    """The state that the threads of a process share. A forked process has none of its parent's, and starts anew."""

    def __init__(self, count: int | None = None) -> None:
        self.count = count
        self.pool: ThreadPoolExecutor | None = None
        self.lock = threading.Lock()
        self.blas_users: set[object] = set()  # those for whom BLAS's threads are changed, and what it had before
        self.blas_count = 1


class _Here(threading.local):
    """The state of one thread in a piece of work that is shared out: on how many it may compute, and into how many
    pieces it cuts a product."""

    count: int | None = None
    ways = WAYS


def _submit(work: Callable[[], None], times: int, futures: list[Future[None]]) -> None:
    """Have other threads do `work`, with the caller's context: NumPy's errstate is part of it."""
    # Once the main thread has ended, Python starts no more threads: what is left of the work is the caller's.
    with _state.lock, contextlib.suppress(RuntimeError):
        if _state.pool is None:
            from concurrent.futures import ThreadPoolExecutor  # here: it is a twentieth of the time of the import

            helpers = max(1, (_state.count or 1) - 1)  # the count may have been set to 1 since the caller looked
            _state.pool = ThreadPoolExecutor(helpers, thread_name_prefix="npbert")
        for _ in range(times):
            futures.append(_state.pool.submit(contextvars.copy_context().run, work))


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start_in_child() -> None:
    global _state
    parent, _state = _state, _State(_state.count)
    blas = blas_threads()
    if blas and parent.blas_users:
        blas.set(parent.blas_count)


_state, _here = _State(), _Here()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_in_child)
if VARIABLE in os.environ:
    try:
        set_num_threads(int(os.environ[VARIABLE]))
    except ValueError:
        warnings.warn(f"{VARIABLE} is {os.environ[VARIABLE]!r}, wanted a whole number of at least 1", stacklevel=2)
