"""Lends threads back to BLAS for work that is too small to split, as long as it is faster.

The products of one sentence take less time than the start of another thread of npbert. BLAS's threads spin while they
wait, and save a third of the time, or a sixth for a BERT-base. But with another busy process they wait for each other,
and the work takes twenty times as long. So the clock decides. BLAS may round differently on several threads, so the
last bits of one sentence may differ between calls. Training lends no threads (`hold_blas`).
"""

import math
from collections.abc import Callable
from contextlib import nullcontext
from time import perf_counter
from typing import TypeVar
from weakref import WeakKeyDictionary

from npbert.compute.threads import lend_to_blas

Result = TypeVar("Result")

PATIENCE = 50
"""After a loss, BLAS's threads are not used for this many times as long: at most a fiftieth of the time is lost."""


class Lending:
    """The measured time of work without BLAS's threads, and their recent gain."""

    def __init__(self) -> None:
        self._without: WeakKeyDictionary[object, dict[int, float]] = WeakKeyDictionary()
        self._won = 0.0
        self._paused_until = -math.inf

    def __call__(self, work: Callable[[], Result], of: object, size: int) -> Result:
        """Run work(), on BLAS's threads unless their recent losses exceed the gain of the previous call.

        of, size: the owner and the amount of work; calls with both in common should take the same time. The first call
        of a kind runs with a cold cache and does not count. The second measures the time without BLAS's threads.
        """
        without, start = self._without.setdefault(of, {}), perf_counter()
        pays = without.get(size, math.inf) < math.inf and start >= self._paused_until
        with lend_to_blas() if pays else nullcontext(False) as is_lent:
            result = work()
        end = perf_counter()
        took = end - start
        if not is_lent:
            without[size] = min(without[size], took) if size in without else math.inf
            return result
        self._won = min(without[size], self._won + without[size] - took)
        if self._won < 0:
            self._paused_until, self._won = end - PATIENCE * self._won, 0.0
        return result
