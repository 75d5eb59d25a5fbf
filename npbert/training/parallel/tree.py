"""add_up: the sum over the parts of a batch, always in the same order, whoever has computed which part, and when."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

Sum = TypeVar("Sum")

Node = tuple[int, int]
"""(k, i): the sum of the parts from i · 2ᵏ up to, but not including, (i + 1) · 2ᵏ. So (0, i) is part i by itself."""


def add_up(sums: Mapping[Node, Sum], count: int, add: Callable[[Sum, Sum], Sum]) -> dict[Node, Sum]:
    """The sums that are left of these when all have been added up that can be, out of `count` parts: one, (k, 0), where
    all parts are in it.

    As in a knockout tournament: part 0 and part 1, part 2 and part 3, …, then these sums in pairs, and so on; one
    without a partner goes on to the next round as it is. Rounding makes (a + b) + c another number than a + (b + c), so
    the order of a sum shows in its last bits. Here the number of parts alone decides it. (a + b is b + a.)

    A chain, ((0 + 1) + 2) + 3, would take a gradient less of memory on one thread. But a process with parts 2 and 3
    would have to send both; in a tree it sends their sum.
    """
    left: dict[Node, Sum] = {}
    for (level, index), value in sums.items():
        while (nodes := -(-count >> level)) > 1:  # of this level; count / 2ᵏ, rounded up
            if index ^ 1 < nodes:
                if (level, index ^ 1) not in left:
                    break
                value = add(left.pop((level, index ^ 1)), value)
            level, index = level + 1, index // 2
        left[level, index] = value
    return left


def nodes_of(parts: Iterable[int], count: int) -> list[Node]:
    """The sums that are left of these parts."""
    return sorted(add_up({(0, part): None for part in parts}, count, lambda one, other: None))
