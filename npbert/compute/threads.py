"""The number of threads of npbert, and the work that they share.

NumPy does elementwise work on one thread. Its BLAS splits a matrix product among its threads in equal shares, and all
wait for the slowest: with another busy process, a small product takes a hundred times as long. So npbert holds BLAS to
one thread while it computes (blas.py), and cuts large work into pieces. A thread that has finished a piece takes
the next one. (Work too small to cut: blas_lending.py.)
"""

from __future__ import annotations

import contextlib
import contextvars
import itertools
import operator
import os
import threading
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from npbert.compute import blas

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")

VARIABLE = "NPBERT_NUM_THREADS"

WAYS = 4
"""The pieces of a large product, on any number of threads, as BLAS may round differently in a piece of another size.
More pieces are slower on one thread: each copies a whole factor again."""


def num_threads() -> int:
    """Return the number of threads that npbert computes on, including the calling one.

    It is set by `set_num_threads` or the environment variable NPBERT_NUM_THREADS. By default it is the number of BLAS
    threads (OPENBLAS_NUM_THREADS, OMP_NUM_THREADS), or of processors for this process. Within a piece of `run` it is
    the share of this piece, and within `lend_to_blas` it is 1.
    """
    if _here.count is not None:
        return _here.count
    if _state.count is None:
        _state.count = blas.count_of_its_own() or len(processors())
    return _state.count


def ways() -> int:
    """Return the number of pieces of a large product: WAYS, or within one of n pieces of `run`, an n-th of it.

    It does not depend on the number of threads."""
    return _here.ways


def set_num_threads(count: int) -> None:
    """Set the number of threads for the whole process.

    Raises: TypeError or ValueError unless it is a whole number of at least 1.
    """
    if operator.index(count) < 1:
        raise ValueError(f"count is {count}, wanted at least 1 thread")
    with _state.lock:
        _state.count = count
        pool, _state.pool = _state.pool, None
    if pool is not None:
        pool.shutdown(wait=False)


def run(work: Callable[[Item], Result], items: Iterable[Item], *, of: int | None = None) -> list[Result]:
    """Call work(item) once for every item, on several threads, and return the results in order when all are done.

    of: the number of all items, if these are only some of them; it decides the cut of products (`ways`).

    NumPy releases Python's lock inside its loops, so pieces should be large: 10,000 elements and more. `work` may
    multiply matrices; if BLAS cannot be set to one thread, the calling thread does all the work. `work` may call `run`:
    of 8 threads, each of 2 pieces has 4, and each of 8 or more has one.

    `run` raises an error of `work`, or a KeyboardInterrupt, after all threads have stopped and BLAS has its threads
    again. The remaining items are not started.
    """
    items = list(items)
    found: list[Any] = [None] * len(items)
    left, threads = iter(enumerate(items)), num_threads()
    within = max(1, _here.ways // max(1, of or len(items)))

    def drain(threads: int) -> None:
        """Do the items that are left, with so many threads in each. After an error, none is left."""
        before = _here.count, _here.ways
        _here.count, _here.ways = threads, within
        try:
            for number, item in left:  # the threads share this iterator
                found[number] = work(item)
        except BaseException:
            list(left)
            raise
        finally:
            _here.count, _here.ways = before

    user = object()
    try:  # not hold_blas: an interrupt on the way into its end would leave BLAS held
        doers = min(threads, len(items)) if _here.count != 1 and blas.hold(user) else 1
        if doers > 1:
            _on_several(partial(drain, threads // doers), left, doers - 1)
        else:
            drain(threads)
    finally:
        try:
            blas.release(user)
        finally:
            blas.release(user)  # again, as a KeyboardInterrupt may interrupt the first call
    return found


def _on_several(drain: Callable[[], None], left: Iterator[object], helpers: int) -> None:
    """Call drain() here and on other threads, in the caller's context, which includes NumPy's errstate."""
    futures: list[Future[None]] = []

    def end() -> list[BaseException]:
        list(left)  # no other item is started
        return [*filter(None, [future.exception() for future in futures if not future.cancel()])]

    try:
        # After the end of the main thread, Python starts no threads, and the caller does the rest of the work.
        with _state.lock, contextlib.suppress(RuntimeError):
            if _state.pool is None:
                from concurrent.futures import ThreadPoolExecutor  # imported here: a twentieth of the import time

                others = max(1, (_state.count or 1) - 1)  # the count may be 1 by now
                _state.pool = ThreadPoolExecutor(others, thread_name_prefix="npbert")
            for _ in range(helpers):
                futures.append(_state.pool.submit(contextvars.copy_context().run, drain))
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
    """Within it, BLAS splits each product of the calling thread among num_threads() threads, and `run` uses one.

    Gives False if there is only one thread, or if BLAS is held: another part of the program computes."""
    count, before = num_threads(), _here.count
    with blas.hold_blas(count) as is_held:
        try:
            _here.count = 1 if is_held else before
            yield is_held and count > 1
        finally:
            _here.count = before


def slices(length: int, count: int) -> list[slice]:
    """Return `count` nearly equal slices that cover 0 to length − 1, as items for `run`."""
    edges = [length * i // max(1, count) for i in range(count + 1)]
    return [slice(*pair) for pair in itertools.pairwise(edges)]


class _State:
    """The state shared by the threads of a process. A forked process has neither their pool nor their lock."""

    count: int | None = None
    pool: ThreadPoolExecutor | None = None
    lock = threading.Lock()


class _Here(threading.local):
    """The state of one thread within a piece of `run`: its number of threads, and of pieces of a product."""

    count: int | None = None
    ways = WAYS


def processors() -> Collection[int]:
    """Return the processors that this process may use."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)


def _start_in_child() -> None:
    _state.pool, _state.lock = None, threading.Lock()
    blas.start_in_child()


_state, _here = _State(), _Here()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_in_child)
if VARIABLE in os.environ:
    try:
        set_num_threads(int(os.environ[VARIABLE]))
    except ValueError:
        warnings.warn(f"{VARIABLE} is {os.environ[VARIABLE]!r}, wanted a whole number of at least 1", stacklevel=2)
