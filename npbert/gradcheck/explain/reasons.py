"""KINDS: the kinds of edit, each with its cost and its reason. A new kind begins with a line here."""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """cost: edits of a lower cost are tried, and believed, first.   cause: why it is wrong, without the edit itself.
    mirror: the kind of the edit that takes it back."""

    cost: float
    cause: str
    mirror: str = ""


KINDS = {
    "drop factor": Kind(
        1.0,
        "There is a factor too many: nothing in forward multiplies or divides by it at this place. (A mean over the "
        "batch belongs to the loss, and is inside the incoming gradient already.)",
        "factor",
    ),
    "drop term": Kind(
        1.0, "There is a term too many: no road leads that way, or it is counted elsewhere already.", "term"
    ),
    "sign": Kind(1.0, "The sign is the wrong way round: ask whether the output grows or falls when this grows."),
    "minus": Kind(1.3, "The sign of the whole is the wrong way round: ask whether the output grows or falls with it."),
    "transpose": Kind(
        1.2,
        "A matrix has its axes the other way round: the index that is summed over has to be the inner one of a "
        "product.",
    ),
    "order": Kind(1.4, "Two things stand in the wrong order."),
    "axis": Kind(1.0, "It runs along the wrong axis: ask which numbers of the output this one moves."),
    "keepdims": Kind(
        1.0, "The axis that is summed away has to stay as 1, or has to go, so that the rest meets the right axis."
    ),
    "sum or mean": Kind(
        1.1,
        "Sum, mean and the like were mixed up. A gradient is the sum of what comes back from every place; a mean only "
        "undoes a mean of forward.",
    ),
    "operator": Kind(1.5, "The operator is another one: ask what forward does here, and what its slope is."),
    "regroup": Kind(1.6, "The brackets stand in the wrong place: what is multiplied is the whole, or only a part."),
    "name": Kind(1.5, "It is the wrong variable. Ask what forward read at this place."),
    "size": Kind(
        1.5, "It is the wrong size. Ask how many numbers the sum or mean runs over, and which axis they are on."
    ),
    "constant": Kind(1.6, "The constant is wrong."),
    "index": Kind(1.4, "The index or slice takes other numbers than are meant."),
    "comparison": Kind(1.3, "The condition or mask is the wrong way round, or has the wrong limit."),
    "unwrap": Kind(
        1.4, "A step is made here that forward does not ask for, or it is made twice.", "wrap"
    ),
    "part": Kind(1.95, "Only a part of this belongs here; what stands around it is too much.", "expression"),
    "argument": Kind(1.6, "An argument of the call is too many, or the arguments are in the wrong order."),
    "einsum": Kind(1.8, "The letters of einsum do not say what is meant: the index that is summed over is in no output."),
    "reshape": Kind(1.6, "reshape is no transpose: it keeps the numbers in memory order. Bring the axes in order first."),
    "mask": Kind(1.9, "A condition is missing: what is ignored, padded or dropped has no part in it."),
    "function": Kind(1.9, "Another function belongs here."),
    "wrap": Kind(2.6, "A step is left out here: what forward did to it on the way has its own backward.", "unwrap"),
    "factor": Kind(
        2.2, "A factor is missing: by the chain rule each step of forward multiplies its own slope in.", "drop factor"
    ),
    "term": Kind(
        2.5,
        "A term is missing: this moves the output along more than one road, and what comes back along each is added.",
        "drop term",
    ),
    "expression": Kind(2.8, "Another expression belongs here.", "expression"),
    "delete": Kind(1.4, "This line is too much: it undoes or repeats what another one did.", "missing line"),
    "missing line": Kind(9.0, "A step is left out.", "delete"),
    "move": Kind(1.9, "The line stands in the wrong place: too early or too late, or inside or outside a loop."),
    "accumulate": Kind(
        1.3, "It is set where it should be added to, or the other way round: what was there before is lost, or kept."
    ),
    "in place": Kind(1.3, "It writes into an array that belongs to somebody else, or has another name, too."),
    "rebound": Kind(1.5, "`=` makes a new array, and whoever holds the old one sees nothing of it."),
    "copy": Kind(1.7, "It works on an array that belongs to somebody else, or has two names: take a copy first."),
    "repeated index": Kind(
        1.35, "`a[i] += b` keeps only one of several b for an i that is there more than once."
    ),
    "remembers": Kind(1.6, "What an earlier call left is used again: a default argument is made once, not at each call."),
}

EVERYWHERE = 0.3
"""What an edit costs more when it is made at every place that reads the same."""


def mirrored(kind: str) -> str:
    """The kind of the edit that takes an edit of this kind back."""
    return KINDS[kind].mirror or kind
