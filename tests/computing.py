"""How the package computes, chosen for a test: on how many threads, and in how small pieces."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any
from unittest import mock

import numpy as np

from npbert.compute import Array, num_threads, set_num_threads

BLOCKS = ("npbert.compute.blocks", "npbert.compute.rowwise", "npbert.core.sequences")
PRODUCTS = ("SMALL", "TINY")

BLAS_THREADS = 3
"""A number of threads for BLAS that nothing else gives it: see the fixture `count_of_blas`."""


@contextmanager
def on_threads(count: int) -> Iterator[None]:
    before = num_threads()
    set_num_threads(count)
    try:
        yield
    finally:
        set_num_threads(before)


@contextmanager
def in_pieces(block: int, product: int = 1) -> Iterator[None]:
    """Cut what is larger than `block` elements, products of more than `product` multiplications a piece, and batches."""
    with ExitStack() as stack:
        for module in BLOCKS:
            stack.enter_context(mock.patch.object(import_module(module), "BLOCK", block))
        for name in PRODUCTS:
            stack.enter_context(mock.patch.object(import_module("npbert.compute.matmul"), name, product))
        stack.enter_context(mock.patch.object(import_module("npbert.core.sequences"), "SHARE", 1))
        yield


@contextmanager
def nothing_is_nan() -> Iterator[None]:
    """New arrays of floats hold NaN until they are written, not what an earlier call left in their memory."""
    empty = np.empty

    def empty_with_nan(*args: Any, **options: Any) -> Array:
        array = empty(*args, **options)
        if array.dtype.kind in "fc":
            array.fill(np.nan)
        return array

    with mock.patch.object(np, "empty", empty_with_nan):
        yield


def assert_same_but_for_rounding(got: Array, wanted: Array, tolerance: float = 1e-6) -> None:
    """Shape and dtype the same, and no element farther off than `tolerance` times the largest."""
    assert got.shape == wanted.shape
    assert got.dtype == wanted.dtype
    assert np.isfinite(wanted).all()
    if wanted.size:
        off = np.abs(got - wanted).max()  # NaN if any is
        assert off <= tolerance * np.abs(wanted).max(), f"off by {off}"


class Meeting:
    """Work that ends only when other threads are at work too: proof of `count` at a time."""

    def __init__(self, count: int = 2) -> None:
        self.barrier = threading.Barrier(count)
        self.seen: Counter[threading.Thread] = Counter()

    def __call__(self, item: Any = None) -> None:
        self.barrier.wait(30)
        self.seen[threading.current_thread()] += 1


def soon(function: Callable[[], Any], seconds: float = 60) -> Any:
    """function(), which another thread calls; AssertionError if that takes longer, as a deadlock does."""
    results: list[Any] = []
    errors: list[BaseException] = []

    def call() -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), f"not done after {seconds} s"
    if errors:
        raise errors[0]
    return results[0]
