"""TreeSum: the sum over the parts of a batch, always added up in the same order, whoever has computed which part."""

from collections.abc import Iterable, Sequence

import numpy as np

from npbert.compute import Array

Node = tuple[int, int]
"""(k, i): the sum of the parts from i · 2ᵏ up to, but not including, (i + 1) · 2ᵏ. So (0, i) is part i by itself."""


class TreeSum:
    """The sum of `count` parts, each of them some arrays, added up as in a knockout tournament: part 0 and part 1, part
    2 and part 3, …, then these sums in pairs, and so on; who has no partner goes on to the next round as it is.

    Rounding makes (a + b) + c another number than a + (b + c), so the order of a sum shows in its last bits. Here the
    number of parts alone decides it. (a + b and b + a are the same.)

    waiting: the sums that wait for their partner. While parts come one after another, there are at most as many as
    `count` has binary digits, as this is how a binary counter counts.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.waiting: dict[Node, Sequence[Array]] = {}

    def add(self, node: Node, arrays: Sequence[Array]) -> None:
        """Add the arrays of a node, which may be written into from now on."""
        level, index = node
        while (nodes := -(-self.count >> level)) > 1:  # of this level; count / 2ᵏ, rounded up
            if index ^ 1 < nodes:
                partner = self.waiting.pop((level, index ^ 1), None)
                if partner is None:
                    break
                for one, other in zip(partner, arrays, strict=True):
                    np.add(one, other, out=one)
                arrays = partner
            level, index = level + 1, index // 2
        self.waiting[level, index] = arrays

    @property
    def whole(self) -> Sequence[Array]:
        """The sum, when all parts are there."""
        (arrays,) = self.waiting.values()
        return arrays


def nodes_of(parts: Iterable[int], count: int) -> list[Node]:
    """The nodes in which these parts wait for others, once they are added up as far as they can be by themselves."""
    tree = TreeSum(count)
    for part in parts:
        tree.add((0, part), [])
    return list(tree.waiting)
