"""add_up: the sum over the parts of a batch, always in the same order, whichever process has computed which part."""

from collections.abc import Callable, Mapping
from typing import TypeVar

Sum = TypeVar("Sum")


def add_up(sums: Mapping[range, Sum], parts: range, add: Callable[[Sum, Sum], Sum]) -> dict[range, Sum]:
    """Add up as many of these sums as can be, and return what is left, in order: the sum of all `parts`, if all are
    there. The sum of parts 2 and 3 is sums[range(2, 4)], and part 5 by itself is sums[range(5, 6)].

    Many parts are the first half of them plus the second half, and each half likewise. Rounding makes (a + b) + c
    another number than a + (b + c), so the order of a sum shows in its last bits. Here the number of parts alone
    decides it. A chain, ((0 + 1) + 2) + 3, would take a gradient less of memory on one thread. But a process with parts
    2 and 3 would have to keep and send both; in a tree it sends their sum.
    """
    if parts in sums or len(parts) == 1:
        return {parts: sums[parts]} if parts in sums else {}
    middle = (len(parts) + 1) // 2
    left, right = (add_up(sums, half, add) for half in (parts[:middle], parts[middle:]))
    if parts[:middle] in left and parts[middle:] in right:
        return {parts: add(left[parts[:middle]], right[parts[middle:]])}
    return left | right
