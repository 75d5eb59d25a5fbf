"""How the package computes, chosen for a test: on how many threads, and in how small pieces."""

import threading
from collections import Counter
from concurrent.futures import Future
from contextlib import contextmanager
from importlib import import_module
from unittest import mock

import numpy as np

from npbert.compute import num_threads, set_num_threads

BLAS_THREADS = 3
"""A number of threads for BLAS that nothing else gives it: see the fixture `count_of_blas`."""


@contextmanager
def on_threads(count):
    before = num_threads()
    set_num_threads(count)
    try:
        yield
    finally:
        set_num_threads(before)


@contextmanager
def in_pieces(block, product=1):
    """Cut what is larger than `block` elements, products of more multiplications than `product`, and all inference."""
    long = max(2, block)
    with (
        mock.patch.multiple(import_module("npbert.compute.rowwise"), BLOCK=block),  # in the package it is the function
        mock.patch.multiple("npbert.compute.products", SMALL=product, TINY=product, LENGTH=product),
        mock.patch.multiple("npbert.compute.cut", BLOCK=block, LONG=long, BAND=long, ROWS=1),
    ):
        yield


@contextmanager
def nothing_is_nan():
    """New arrays of floats hold NaN until they are written, not what an earlier call left in their memory."""
    empty = np.empty

    def empty_with_nan(*args, **options):
        array = empty(*args, **options)
        if array.dtype.kind in "fc":
            array.fill(np.nan)
        return array

    with mock.patch.object(np, "empty", empty_with_nan):
        yield


def assert_same_but_for_rounding(got, wanted, tolerance=1e-6):
    """Shape and dtype the same, and no element farther off than `tolerance` times the largest."""
    assert np.isfinite(wanted).all()
    largest = np.abs(wanted).max(initial=0)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=tolerance * largest, strict=True)


class Meeting:
    """Work that ends only when other threads are at work too: proof of `count` at a time."""

    def __init__(self, count=2):
        self.barrier = threading.Barrier(count)
        self.seen = Counter()

    def __call__(self, item=None):
        self.barrier.wait(100)
        self.seen[threading.current_thread()] += 1


def soon(function):
    """function(), which another thread calls; AssertionError if that takes longer, as a deadlock does."""
    future = Future()

    def call():
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(100)
    assert not thread.is_alive(), "not done after 100 s"
    return future.result()
