"""The explanation of a wrong gradient: the small edit of the author's own code that makes it right.

What other rooms use is here, and `numbers.explain`: a `Code`, `Mending` it under the eyes of an `Oracle` that gives an
`Outlook` (or FAILED) for each sample, and the `Finding`s that come of it, told by `describe`, `describe_edit` and
`describe_place`; `KINDS` of edits by what they cost, those below `CHEAP` change what stands there; and the `VARIATIONS`
that numbers may have. All else is free to change.

Read it in this order: `grammar` (what may stand in the place of what, as data), `vocabulary` (what there is to write),
`edits` (the one visitor that applies it), `trial` (runs and counts), `search` (by cost), `mend` (step by step); for a
layer, `authors` (whose functions run, and how one is replaced), `samples` (what is right) and `layer`.
"""

from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.finding import Finding, describe, describe_edit, describe_place
from npbert.gradcheck.explain.reasons import CHEAP, KINDS
from npbert.gradcheck.explain.repair import TRIES, EditStep, Mending
from npbert.gradcheck.explain.trial import FAILED, Oracle, Outlook
from npbert.gradcheck.explain.variations import VARIATIONS, in_manner

__all__ = [
    "CHEAP",
    "FAILED",
    "KINDS",
    "VARIATIONS",
    "TRIES",
    "Code",
    "Finding",
    "Mending",
    "Oracle",
    "Outlook",
    "EditStep",
    "describe",
    "describe_edit",
    "describe_place",
    "in_manner",
]
