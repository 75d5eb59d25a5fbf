"""Exercise 10, part two: what goes wrong with several heads, and on the way back through softmax."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from npbert.compute import Array
from npbert.core import Tape
from npbert.learn.exercise import Mistake, Mistakes, both
from npbert.learn.exercises.attention_padded import D, H, PaddedAttention, T
from npbert.learn.exercises.attention_steps import (
    ROADS,
    WHY_ROADS,
    Attended,
    Steps,
    both_of_them,
    pairs,
    scales,
    softmaxes,
)
from npbert.learn.roads import Roads

WRONG = Mistakes(PaddedAttention, "backward")
Changes = Callable[[Attended, Attended], Any]


def in_heads(layer: PaddedAttention, dc: Array, tape: Tape, steps: Steps | None = None) -> Attended:
    """In heads."""
    q, k, v, p = tape.take(layer)
    return (steps or Steps()).of(layer.split(dc), q, k, v, p, layer.num_heads)


def _method(steps: Steps, change: Changes) -> Any:
    """backward with these steps: change(the right gradients in heads, those of the steps), merged."""

    def backward(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
        q, k, v, p = tape.take(self)
        given = self.split(dc), q, k, v, p, self.num_heads
        return tuple(map(self.merge, change(Steps().of(*given), steps.of(*given))))

    return backward


for each in (*scales(), *softmaxes()):
    if not each.name.startswith("scale_queries"):  # there are as many queries as keys
        method = _method(each.steps, each.change)
        method.__name__ = each.name
        WRONG(each.says, each.because)(method)


@WRONG(
    "The heads were merged by a reshape alone: the axes of heads and tokens were not swapped back.",
    "forward swapped them, (B, T, H, d) -> (B, H, T, d). A reshape of (B, H, T, d) to (B, T, D) fits, and puts the "
    "numbers at other tokens. self.merge swaps first.",
)
def heads_reshaped(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    return tuple(dx.reshape(dc.shape) for dx in in_heads(self, dc, tape))


def _one_of(name: str, says: str, because: str, change: Callable[[Array, Array], Array]) -> None:
    """A known mistake for each gradient: change(it in heads, dc) is returned in its place."""
    for place, d in enumerate(("dq", "dk", "dv")):

        def backward(self: PaddedAttention, dc: Array, tape: Tape, place: int = place) -> Any:
            found = in_heads(self, dc, tape)
            return tuple(change(dx, dc) if i == place else self.merge(dx) for i, dx in enumerate(found))

        backward.__name__ = f"{name}_{d}"
        WRONG(says.format(d), because)(backward)


_one_of(
    "heads_reshaped",
    "The heads of {} were merged by a reshape alone: the axes of heads and tokens were not swapped back.",
    "A reshape of (B, H, T, d) to (B, T, D) fits, and puts the numbers at other tokens. self.merge swaps first.",
    lambda dx, dc: dx.reshape(dc.shape),
)
_one_of(
    "features_before_heads",
    "In {} the features of all heads are mixed: the axes of features and heads are in the wrong order.",
    "A row holds one head after the other, (B, T, H, d): it is swapaxes(1, 2) before the reshape, as in self.merge.",
    lambda dx, dc: dx.transpose(0, 2, 3, 1).reshape(dc.shape),
)
_one_of(
    "heads_reversed",
    "In {} the heads are in the reverse order.",
    "A row holds one head after the other, the first first: self.merge puts them so.",
    lambda dx, dc: dx[:, ::-1].swapaxes(1, 2).reshape(dc.shape),
)


@WRONG(
    "dc was cut into heads in the wrong way: its features are dealt out to the heads in turn.",
    "A row holds one head after the other: dc.reshape(B, T, H, d), and not (B, T, d, H). self.split does it.",
)
def dc_dealt_out(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    q, k, v, p = tape.take(self)
    dealt = dc.reshape(*dc.shape[:2], -1, self.num_heads).transpose(0, 3, 1, 2)
    return tuple(map(self.merge, Steps().of(dealt, q, k, v, p, H)))


@WRONG(
    "dc was split into heads by a reshape alone: the axes of tokens and heads were not swapped.",
    "dc.reshape(B, H, T, d) fits, and gives each head the numbers of other tokens. self.split makes (B, T, H, d) "
    "first and swaps the two middle axes.",
)
def dc_reshaped(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    q, k, v, p = tape.take(self)
    return tuple(map(self.merge, Steps().of(dc.reshape(q.shape), q, k, v, p, H)))


@WRONG(
    "All is divided by the number of heads, as if a mean over them was taken: but each head has its own features.",
    "The heads stand side by side in the D features. Each gets its own part of dc, and gives back its own part of dq, "
    "dk and dv: nothing is averaged.",
)
def heads_averaged(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    return tuple(self.merge(dx / self.num_heads) for dx in in_heads(self, dc, tape))


def two_at_once() -> Iterator[Mistake]:
    """A wrong way back through softmax and a wrong scale."""
    known = {mistake.name: mistake for mistake in WRONG}
    for one, other, steps in pairs(softmaxes()):
        if other.name in known:
            yield both(
                known[one.name],
                known[other.name],
                type("two", (PaddedAttention,), {"backward": _method(steps, both_of_them), "__module__": "mistakes"}),
            )


HEADS_ROADS = Roads(
    {
        name: type(
            PaddedAttention.__name__,
            (PaddedAttention,),
            {"backward": _method(steps, lambda _, road: road), "__module__": "mistakes"},
        )
        for name, steps in ROADS.items()
    },
    WHY_ROADS,
    {"the number of features of a head": D, "the number of tokens": T, "the number of heads": H},
)
