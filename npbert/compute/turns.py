"""Turns: two halves of a batch add to the same gradients, and the sum is the same bits whichever comes first."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock


class Turns:
    """Two threads that make the same additions, each its own numbers, in the same order.

    Of each addition the first half has its turn before the second. Nobody waits: what the second would add too early it
    leaves to the first, which does so at once after its own.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._ahead = 0  # additions of the first that the second has yet to make
        self._too_early: deque[Callable[[], None]] = deque()

    @contextmanager
    def of(self, half: int) -> Iterator[None]:
        """Within it, what this thread adds by `in_turn` is that of half 0 or 1."""
        token = _mine.set((self, half))
        try:
            yield
        finally:
            _mine.reset(token)

    def add(self, half: int, addition: Callable[[], None]) -> None:
        """Make the addition, or see that it is made in its turn."""
        with self._lock:
            if half == 0:
                addition()
                if self._too_early:
                    self._too_early.popleft()()
                else:
                    self._ahead += 1
            elif self._ahead:
                self._ahead -= 1
                addition()
            else:
                self._too_early.append(addition)


_mine: ContextVar[tuple[Turns, int] | None] = ContextVar("_mine", default=None)


def in_turn(addition: Callable[[], None]) -> None:
    """addition(), at once, or in its turn where two halves of a batch are computed side by side."""
    mine = _mine.get()
    if mine is None:
        addition()
    else:
        turns, half = mine
        turns.add(half, addition)
