"""KINDS: the kinds of edit, each with its cost and its reason. A new kind begins with a line here."""

from __future__ import annotations

from typing import NamedTuple

_TABLE = """
drop factor | 1.0 | factor | There is a factor too many: nothing in forward multiplies or divides by it at this \
place. (A mean over the batch belongs to the loss, and is inside the incoming gradient already.)
drop term | 1.0 | term | There is a term too many: no road leads that way, or it is counted elsewhere already.
sign | 1.0 | | The sign is the wrong way round: ask whether the output grows or falls when this grows.
minus | 1.3 | | The sign of the whole is the wrong way round: ask whether the output grows or falls with it.
axis | 1.0 | | It runs along the wrong axis: ask which numbers of the output this one moves.
keepdims | 1.0 | | The axis that is summed away has to stay as 1, or has to go, so that the rest meets the right axis.
sum or mean | 1.1 | | Sum, mean and the like were mixed up. A gradient is the sum of what comes back from every place; \
a mean only undoes a mean of forward.
transpose | 1.2 | | A matrix has its axes the other way round: what is summed over is the inner index of a product.
comparison | 1.3 | | The condition or mask is the wrong way round, or has the wrong limit.
accumulate | 1.3 | | It is set where it should be added to, or the other way round: what was there is lost, or kept.
in place | 1.3 | | It writes into an array that belongs to somebody else, or has another name, too.
repeated index | 1.35 | | `a[i] += b` keeps only one of several b for an i that is there more than once.
order | 1.4 | | Two things stand in the wrong order.
index | 1.4 | | The index or slice takes other numbers than are meant.
unwrap | 1.4 | wrap | A step is made here that forward does not ask for, or it is made twice.
delete | 1.4 | missing line | This line is too much: it undoes or repeats what another one did.
name | 1.5 | | It is the wrong variable. Ask what forward read at this place.
size | 1.5 | | It is the wrong size. Ask how many numbers the sum or mean runs over, and which axis they are on.
operator | 1.5 | | The operator is another one: ask what forward does here, and what its slope is.
rebound | 1.5 | | `=` makes a new array, and whoever holds the old one sees nothing of it.
regroup | 1.6 | | The brackets stand in the wrong place: what is multiplied is the whole, or only a part of it.
constant | 1.6 | | The constant is wrong.
argument | 1.6 | | An argument of the call is too many, or the arguments are in the wrong order.
reshape | 1.6 | | reshape is no transpose: it keeps the numbers in memory order. Bring the axes in order first.
remembers | 1.6 | | What an earlier call left is used again: a default argument is made once, not at each call.
copy | 1.7 | | It works on an array that belongs to somebody else, or has two names: take a copy first.
einsum | 1.8 | | The letters of einsum say another sum than is meant.
mask | 1.9 | | A condition is missing: what is ignored, padded or dropped has no part in it.
function | 1.9 | | Another function belongs here.
move | 1.9 | | The line stands in the wrong place: too early or too late, or inside or outside a loop.
part | 1.95 | expression | Only a part of this belongs here; what stands around it is too much.
factor | 2.2 | drop factor | A factor is missing: by the chain rule each step of forward multiplies its own slope in.
term | 2.5 | drop term | A term is missing: this moves the output along more than one road, and what comes back along \
each is added.
wrap | 2.6 | unwrap | A step is left out here: what forward did to it on the way has its own backward.
expression | 2.8 | expression | Another expression belongs here.
missing line | 9 | delete | A step is left out.
"""
"""kind | cost | mirror | cause"""

CHEAP = 2.0
"""Edits of a lower cost change what stands there; those of a higher one add what does not."""


class Kind(NamedTuple):
    """cost: edits of a lower cost are believed before others.   mirror: the kind of the edit that takes it back.
    cause: why it is wrong, in a sentence that does not give the edit away."""

    cost: float
    mirror: str
    cause: str


def _kinds() -> dict[str, Kind]:
    rows = ([part.strip() for part in line.split(" | ")] for line in _TABLE.replace("| |", "|  |").strip().splitlines())
    return {name: Kind(float(cost), mirror or name, cause) for name, cost, mirror, cause in rows}


KINDS = _kinds()
