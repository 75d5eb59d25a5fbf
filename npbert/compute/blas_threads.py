"""BLAS's own threads, lent to it for work that is too small to share out, for as long as they pay.

The products of one sentence are done before another thread of ours has begun. BLAS's threads wait awake, and take a
third off its time, or a sixth for a model as large as BERT-base. But beside another busy process they wait for each
other, and it takes twenty times as long. No rule knows in advance; a clock does. On several threads BLAS may round
otherwise, so the last bits of one sentence may differ from call to call; training lends nothing (`hold_blas`).
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
"""BLAS's threads are left alone for so many times as long as they lost: a fiftieth of the time at most is lost."""


class Lending:
    """What is known of the time that work takes without BLAS's threads, and what they won lately."""

    def __init__(self) -> None:
        self._without: WeakKeyDictionary[object, dict[int, float]] = WeakKeyDictionary()
        self._won = 0.0
        self._paused_until = -math.inf

    def __call__(self, work: Callable[[], Result], of: object, size: int) -> Result:
        """work(), on BLAS's threads unless they lost more, lately, than they won on the call before.

        of, size: whose work it is, and how much; what has both in common should take the same time. The first of a kind
        finds nothing in the cache and is not counted, the second shows the time without BLAS's threads.
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
