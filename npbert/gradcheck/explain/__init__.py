"""Explains a wrong gradient by the small edit of the author's code that makes it right.

The interface for other packages is here, besides `numbers.explain`: a `Code`; its `Mending` with `Sample`s, which have
the right numbers; the resulting `Finding`s, worded by `describe` and `describe_edit`; the `KINDS` of edits by cost,
where those below `CHEAP` change existing code, and `UNKNOWN` for a place without an edit; and the `VARIATIONS` of
numbers. All else may change.

Begin with `repair`, which tells the algorithm. Then `grammar` (the edits as data), `vocabulary` (the expressions to
insert), `edits` (the visitor that applies them), `trial` (runs and counts), `search` (what may be wrong, and its edits
by cost), `lines` (by a right code). For a layer: `samples` (the right gradients) and `layer` (finds and replaces the
functions that run).
"""

from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.finding import UNKNOWN, Finding, describe, describe_edit
from npbert.gradcheck.explain.grammar import CHEAP, KINDS
from npbert.gradcheck.explain.repair import Mending
from npbert.gradcheck.explain.trial import Sample, is_number
from npbert.gradcheck.explain.variations import VARIATIONS, in_manner

__all__ = [
    "CHEAP",
    "KINDS",
    "UNKNOWN",
    "VARIATIONS",
    "Code",
    "Finding",
    "Mending",
    "Sample",
    "is_number",
    "describe",
    "describe_edit",
    "in_manner",
]
