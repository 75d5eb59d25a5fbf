"""KINDS: the kinds of edit, each with its cost and its reason. A new kind begins with a line here."""

from typing import NamedTuple

_TABLE = """
extra factor | 1.05 | missing factor | There is a factor too many: nothing in forward multiplies or divides by it at \
this place. (If it is a mean over the rows: that belongs to the loss, and is inside the incoming gradient already.)
extra term | 1.0 | missing term | There is a term too many: no road leads that way, or it is counted elsewhere already.
sign | 1.0 | | The sign is the wrong way round: ask whether the output grows or falls when this grows.
sign of the whole | 1.3 | | The sign of the whole is the wrong way round: ask whether the output grows or falls with it.
axis | 1.0 | | It runs along the wrong axis: ask which numbers of the output this one moves.
range | 1.0 | | The loop begins or ends at another number than it should: ask which is the first, and which the last.
keepdims | 1.0 | | The axis that is summed away has to stay as 1, or has to go, so that the rest meets the right axis.
sum or mean | 1.1 | | Sum, mean and the like were mixed up. A gradient is the sum of what comes back from every place; \
a mean only undoes a mean of forward.
transpose | 1.2 | | A matrix has its axes the other way round: what is summed over is the inner index of a product.
comparison | 1.3 | | The condition or mask is the wrong way round, or has the wrong limit.
= or += | 1.3 | | `=` throws away what was there, and `+=` keeps it: here it should be the other one.
in place | 1.3 | | It writes into an array that belongs to somebody else, or has another name, too.
repeated index | 1.35 | | Where a number stands in i more than once, `a[i] += b` keeps only one of its b; np.add.at \
adds them all.
order | 1.4 | | Two things stand in the wrong order.
index | 1.4 | | The index or slice takes other numbers than are meant.
extra step | 1.4 | missing step | A step is made here that forward does not ask for, or it is made twice.
extra line | 1.4 | missing line | This line is too much: it undoes or repeats what another one did.
wrong name | 1.5 | | It is the wrong variable. Ask what forward read at this place.
size | 1.5 | | It is the wrong size. Ask how many numbers the sum or mean runs over, and which axis they are on.
operator | 1.5 | | The operator is another one: ask what forward does here, and what its slope is.
new array | 1.5 | | `=` makes a new array, and other names for the old one see nothing of it.
brackets | 1.6 | | The brackets stand in the wrong place: what is multiplied is the whole, or only a part of it.
other share | 1.6 | | It is the other share: p where 1 − p belongs, or the other way round.
constant | 1.6 | | The constant is wrong.
argument | 1.6 | | An argument of the call is too many, or the arguments are in the wrong order.
reshape | 1.6 | | reshape is not a transpose: it keeps the numbers in memory order. Bring the axes in order first.
copy | 1.7 | | It works on an array that belongs to somebody else, or has two names: take a copy first.
function | 1.9 | | Another function belongs here.
too much | 1.95 | expression | Only a part of this belongs here; what stands around it is too much.
missing factor | 2.2 | extra factor | A factor is missing. By the chain rule, a gradient has a factor for each step of \
forward: its slope.
missing term | 2.5 | extra term | A term is missing. A gradient adds up what comes back along each road by which its \
number moves the output.
missing step | 2.6 | extra step | A step is left out: what forward did on the way (a function, a factor, a sum) has \
a backward of its own.
expression | 2.8 | expression | Another expression belongs here.
missing line | 9 | extra line | A step is left out.
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
