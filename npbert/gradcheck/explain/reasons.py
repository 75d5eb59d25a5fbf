"""KINDS: the kinds of edit, each with its cost and with what is true of it. A new kind begins with a line here."""

from typing import NamedTuple

_TABLE = """
extra factor | 1.05 | missing factor | A factor is too many here, or a division.
extra term | 1.0 | missing term | A term is too many here.
sign | 1.0 | | A sign is wrong here.
sign of the whole | 1.3 | | The sign of this is wrong.
axis | 1.0 | | Another axis belongs here.
range | 1.0 | | Another range belongs here.
keepdims | 1.0 | | keepdims is the wrong way round here: the axis that is summed over should stay as 1, or should go.
sum or mean | 1.1 | | A sum and a mean are exchanged here.
transpose | 1.2 | | The axes are in the wrong order here.
function | 1.2 | | Another function belongs here.
comparison | 1.3 | | Another condition belongs here, or none.
= or += | 1.3 | | `=` and `+=` are exchanged here.
in place | 1.3 | | This writes into an array in place; a new array is needed.
repeated index | 1.35 | | `a[i] += b` keeps only one b of a number that is in i more than once; np.add.at adds all.
order | 1.4 | | Two things are in the wrong order here.
index | 1.4 | | Another index or slice belongs here, or none.
extra step | 1.4 | missing step | A step is too many here.
extra line | 1.4 | missing line | This line is too much.
wrong name | 1.5 | | Another variable belongs here.
size | 1.5 | | Another size belongs here.
operator | 1.5 | | Another operator belongs here.
new array | 1.5 | | `=` makes a new array here; the old one should be written into.
brackets | 1.6 | | The brackets are in the wrong place here.
other share | 1.6 | | A share p and its rest 1 − p are exchanged here.
constant | 1.6 | | Another number belongs here.
argument | 1.6 | | Other arguments belong here, or in another order.
reshape | 1.6 | | reshape keeps the order in memory; here the axes should change places, too.
misplaced factor | 1.7 | | A factor is at the wrong place here: inside of a sum, or before it, it is another one.
copy | 1.7 | | A copy is needed here.
too much | 1.95 | expression | Only a part of this belongs here.
missing factor | 2.2 | extra factor | A factor is missing here, or a division.
missing term | 2.5 | extra term | A term is missing here.
missing step | 2.6 | extra step | A step is missing here.
expression | 2.8 | expression | Another expression belongs here.
missing line | 9 | extra line | A line is missing here.
"""
"""kind | cost | mirror | what is true"""

CHEAP = 2.0
"""Edits of a lower cost change what stands there; those of a higher one add what does not."""


class Kind(NamedTuple):
    """cost: edits of a lower cost are tried before others.   mirror: the kind of the edit that takes it back.
    cause: what is true of every edit of this kind, in a sentence that does not give it away."""

    cost: float
    mirror: str
    cause: str


def _kinds() -> dict[str, Kind]:
    rows = ([part.strip() for part in line.split(" | ")] for line in _TABLE.replace("| |", "|  |").strip().splitlines())
    return {name: Kind(float(cost), mirror or name, cause) for name, cost, mirror, cause in rows}


KINDS = _kinds()
