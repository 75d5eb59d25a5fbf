"""KINDS: the kinds of edit, each with its cost and with what is true of it. A new kind begins with a line here."""

from typing import NamedTuple

_TABLE = """
extra factor | 1.0 | One factor or division too many.
extra term | 1.0 | One term too many.
sign | 1.05 | A sign is wrong.
sign of the whole | 1.35 | The sign of this is wrong.
axis | 1.0 | The axis is wrong, or missing.
range | 1.0 | The range is wrong.
keepdims | 1.0 | keepdims is wrong: the summed axis should stay with size 1, or disappear.
sum or mean | 1.1 | Sum and mean are exchanged.
transpose | 1.2 | The axes are in the wrong order.
function | 1.2 | The function is wrong.
copy | 1.32 | A copy is needed.
= or += | 1.3 | `=` and `+=` are exchanged.
in place | 1.3 | This changes an array in place, but a new array is needed.
repeated index | 1.35 | `a[i] = b` and `a[i] += b` keep only one b if a number in i repeats; np.add.at adds all.
order | 1.4 | The order is wrong.
index | 1.4 | The index or slice is wrong, missing, or not needed.
extra step | 1.4 | One step too many.
extra line | 1.4 | This line should not be here.
comparison | 1.42 | The condition is wrong, or not needed.
wrong name | 1.5 | The variable is wrong.
size | 1.5 | The size is wrong.
operator | 1.5 | The operator is wrong.
new array | 1.5 | `=` binds a new array, but the old one should be changed in place.
brackets | 1.6 | The brackets are in the wrong place.
other share | 1.6 | A share and the rest, as p and 1 − p, are exchanged.
constant | 1.6 | The constant is wrong.
argument | 1.6 | The arguments are wrong, or in the wrong order.
shape | 1.6 | The shape is wrong.
reshape | 1.6 | reshape keeps the order in memory, but the axes must also be swapped.
misplaced factor | 1.7 | A factor belongs in another place, such as inside or outside of a sum.
temporary | 1.4 | This writes into a copy, which is lost: a[i] with an array i is a copy.
needless copy | 1.4 | What is written into this copy is lost.
real array | 1.5 | The array is real, so what is written into it loses its imaginary part.
overwritten | 1.65 | A value that is needed later is overwritten.
unused result | 1.65 | What this call returns is not used.
line order | 1.45 | This line is in the wrong place.
lengths | 1.9 | Lengths do not add up, but their squares do.
two uses | 1.9 | What is used twice has a gradient from each use.
too much | 1.95 | Only a part of this is needed.
missing factor | 2.2 | A factor or a division is missing.
missing term | 2.5 | A term is missing.
missing step | 2.6 | A step is missing.
expression | 2.8 | The value of this expression is wrong.
result | 2.8 | This result is wrong, and perhaps values from which it is computed.
"""
"""kind | cost | what is true"""

CHEAP = 2.0
"""Edits of a lower cost change existing code; edits of a higher cost add code."""


class Kind(NamedTuple):
    """cost: edits of a lower cost are tried before others.   cause: what is true of every edit of this kind, in a
    sentence that does not give it away."""

    cost: float
    cause: str


_ROWS = (line.split(" | ") for line in _TABLE.strip().splitlines())
KINDS = {name: Kind(float(cost), cause) for name, cost, cause in _ROWS}
