"""Exercise 9, residuals, add & norm: the wrong answers that people give.

An answer has three places where something may be wrong: the half of the feed-forward, that of attention, and what is
returned. What is wrong with one is known by itself, and together with what is wrong with another.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from npbert.blocks import EncoderLayer
from npbert.compute import Array
from npbert.core import Tape
from npbert.learn.exercise import Mistake, Mistakes, both

WRONG = Mistakes(EncoderLayer, "backward")


class Half(NamedTuple):
    """What there is in the middle of a half: what its norm's backward was given, what that returned, and what
    dropout's did with it; and dy and ds of the other half, which came before."""

    given: Array
    ds: Array
    df: Array
    dy: Array
    first_ds: Array


Roads = Callable[[Half], tuple[Array, Array]]
"""What goes past the sub-layer, and what goes through it."""
Last = Callable[[Array, Array, Array], tuple[Array, Array]]
"""(dx, dz) from what went past attention, and the two that attention's backward returned."""


class Ways(NamedTuple):
    """An answer, by its three places; each is right where nothing else is said."""

    feed_forward: Roads = lambda half: (half.ds, half.df)
    attention: Roads = lambda half: (half.ds, half.df)
    last: Last = lambda past, dqueries, dz: (past + dqueries, dz)

    def backward(self) -> Callable[..., tuple[Array, Array]]:
        """The backward that goes these ways."""

        def backward(layer: EncoderLayer, dy: Array, tape: Tape) -> tuple[Array, Array]:
            first_ds = layer.output_norm.backward(dy, tape)
            df = layer.dropout.backward(first_ds, tape)
            past, through = self.feed_forward(Half(dy, first_ds, df, dy, first_ds))
            dh = past + layer.feed_forward.backward(through, tape)
            ds = layer.attention_norm.backward(dh, tape)
            df = layer.dropout.backward(ds, tape)
            past, through = self.attention(Half(dh, ds, df, dy, first_ds))
            return self.last(past, *layer.attention.backward(through, tape))

        return backward


_RIGHT = Ways()
_WAYS: dict[str, Ways] = {}


def _wrong(name: str, says: str, because: str, ways: Ways) -> None:
    backward = ways.backward()
    backward.__name__ = name
    _WAYS[name] = ways
    WRONG(says, because)(backward)


def pairs() -> Iterator[Mistake]:
    """Each two mistakes that are in one place each, and not in the same."""
    by_name = {mistake.name: mistake for mistake in WRONG}
    single = {
        name: ways for name, ways in _WAYS.items() if len(_changed(ways)) == 1 and not {twice, _added_up} & {*ways}
    }
    for (name, one), (other_name, other) in itertools.combinations(single.items(), 2):
        changed, too = _changed(one), _changed(other)
        if changed.keys() != too.keys() and not {*changed.values()} & {*too.values()}:
            backward = _RIGHT._replace(**changed, **too).backward()
            yield both(by_name[name], by_name[other_name], type("Both", (EncoderLayer,), {"backward": backward}))


def _changed(ways: Ways) -> dict[str, Any]:
    """The places in which it is not right."""
    both_of = zip(ways._asdict().items(), _RIGHT, strict=True)
    return {place: way for (place, way), right in both_of if way is not right}


def lost(half: Half) -> tuple[Array, Array]:
    return 0 * half.ds, half.df


def dropped(half: Half) -> tuple[Array, Array]:
    return half.df, half.df


def not_dropped(half: Half) -> tuple[Array, Array]:
    return half.ds, half.ds


def past_the_norm(half: Half) -> tuple[Array, Array]:
    return half.given, half.df


def twice(half: Half) -> tuple[Array, Array]:
    return 2 * half.ds, half.df


def _added_up(past: Array, dqueries: Array, dz: Array) -> tuple[Array, Array]:
    return dqueries + dz, dz


_PAST = "Dropout stands on the road through the sub-layer alone: s = u + Dropout(f). "
_NEVER = f"{_PAST}u is never dropped, and nor is its gradient: "
_NO_SAY = "What dropout set to 0 on the way forward had no say in the loss, so nothing may come back there."
_INSIDE = "is added inside the bracket of LayerNorm, so the road past the sub-layer goes back through the norm, too: "

_wrong(
    "residuals_lost",
    "The residual connections are lost in both halves: only what comes through the sub-layers is handed on.",
    "u is added to what the sub-layer makes of it, so it also moves the loss past the sub-layer, and a + hands ds on "
    "unchanged. dh = ds + self.feed_forward.backward(df, tape), and the same with attention.",
    Ways(lost, lost),
)
_wrong(
    "residual_around_attention_lost",
    "The residual connection around attention is lost: dx has only what comes through attention.",
    "x is added to what attention makes of it, so it also moves the loss past attention: add ds, what "
    "self.attention_norm.backward returned.",
    Ways(attention=lost),
)
_wrong(
    "residual_around_feed_forward_lost",
    "The residual connection around the feed-forward is lost: dh has only what comes through it.",
    "h is added to what the feed-forward makes of it, so it also moves the loss past it: "
    "dh = ds + self.feed_forward.backward(df, tape).",
    Ways(feed_forward=lost),
)
_wrong(
    "residual_is_dropped_too",
    "The road past the sub-layer gets the gradient after dropout: in both halves it should get ds itself.",
    f"{_NEVER}ds + self.feed_forward.backward(df, tape), not df + ….",
    Ways(dropped, dropped),
)
_wrong(
    "residual_of_attention_dropped",
    "The road past attention gets df, the gradient after dropout; it should get ds itself.",
    f"{_NEVER}so what is added to attention's gradient is ds, what self.attention_norm.backward returned.",
    Ways(attention=dropped),
)
_wrong(
    "residual_of_feed_forward_dropped",
    "The road past the feed-forward gets df, the gradient after dropout; it should get ds itself.",
    f"{_NEVER}dh = ds + self.feed_forward.backward(df, tape).",
    Ways(feed_forward=dropped),
)
_wrong(
    "sublayer_is_not_dropped",
    "The road through the sub-layer is not dropped: it gets ds, and should get df = self.dropout.backward(ds, tape).",
    _NO_SAY,
    Ways(not_dropped, not_dropped),
)
_wrong(
    "attention_is_not_dropped",
    "The road through attention is not dropped: it gets ds, and should get df = self.dropout.backward(ds, tape).",
    _NO_SAY,
    Ways(attention=not_dropped),
)
_wrong(
    "feed_forward_is_not_dropped",
    "The road through the feed-forward is not dropped: it gets ds, and should get self.dropout.backward(ds, tape).",
    _NO_SAY,
    Ways(feed_forward=not_dropped),
)
_wrong(
    "residual_past_the_norm",
    "What comes back around the first half is dh, before attention_norm: it should be ds, after it.",
    f"x {_INSIDE}ds = self.attention_norm.backward(dh, tape), and dx = ds + what comes back through attention.",
    Ways(attention=past_the_norm),
)
_wrong(
    "dy_past_the_norm",
    "The residuals carry dy past the norms: the second half hands on dy itself, and should hand on ds.",
    f"h {_INSIDE}ds = self.output_norm.backward(dy, tape), and dh = ds + ….",
    Ways(feed_forward=past_the_norm),
)
_wrong(
    "pre_norm",
    "In both halves the residual carries the gradient past the norm: it is dy, or dh, and should be ds.",
    f"u {_INSIDE}ds is what the norm's backward returns. (Where the norm stands on the other road alone, in "
    "u + f(LayerNorm(u)), the residual goes past it. That is called pre-norm.)",
    Ways(past_the_norm, past_the_norm),
)
_wrong(
    "dy_past_all",
    "You add dy to what comes back through attention; it should be ds, what attention_norm.backward returned.",
    f"x {_INSIDE}ds = self.attention_norm.backward(dh, tape). dy belongs to y, at the other end.",
    Ways(attention=lambda half: (half.dy, half.df)),
)
_wrong(
    "first_ds_for_the_second",
    "What goes past attention is the ds of output_norm; it should be that of attention_norm.",
    "Each half has a norm, and an s of its own. The one around attention is ds = self.attention_norm.backward(dh, "
    "tape).",
    Ways(attention=lambda half: (half.first_ds, half.df)),
)
_wrong(
    "residual_twice_around_feed_forward",
    "The residual around the feed-forward is added twice.",
    "dh = ds + self.feed_forward.backward(df, tape): each road brings its gradient once.",
    Ways(feed_forward=twice),
)
_wrong(
    "residual_twice_around_attention",
    "The residual around attention is added twice.",
    "dx is ds and what comes back through attention: each road brings its gradient once.",
    Ways(attention=twice),
)
_TWO = "attention.backward returns two gradients: first that of x, the rows that look, and then dz. "
_wrong(
    "queries_lost",
    "dx has the residual alone: what comes back through attention, as the rows that look, is lost.",
    f"{_TWO}x went two ways, past attention and into it: dx is ds and the first of these two.",
    Ways(last=lambda past, dqueries, dz: (past, dz)),
)
_wrong(
    "outputs_of_attention_swapped",
    "The two gradients that attention.backward returns are swapped: the first is that of x, and the second dz.",
    f"{_TWO}ds is added to the first.",
    Ways(last=lambda past, dqueries, dz: (past + dz, dqueries)),
)
_wrong(
    "both_inputs_in_one",
    "dx and dz are added up here: dz is inside dx, too.",
    "x and z are two inputs, and each gets its own gradient. Where they are the same rows, as in BERT, the encoder "
    "adds the two, later.",
    Ways(last=lambda past, dqueries, dz: (past + dqueries + dz, dz)),
)
_wrong(
    "z_for_queries",
    "dx has the gradient of z in the place of its own: to ds, dz is added.",
    f"{_TWO}ds is added to the first.",
    Ways(last=lambda past, dqueries, dz: (past + dz, dz)),
)
_wrong(
    "residual_to_z",
    "The residual went to z instead of x: dx has only what comes through attention, and dz has ds added.",
    "What is added after attention is x, the rows that look: x + Dropout(attention(x, z)). So ds belongs to dx.",
    Ways(last=lambda past, dqueries, dz: (dqueries, past + dz)),
)
_wrong(
    "swapped",
    "dx and dz are in the wrong order.",
    "backward returns the gradients in the order of the inputs of forward: first x, the rows that look, then z.",
    Ways(last=lambda past, dqueries, dz: (dz, past + dqueries)),
)
_wrong(
    "residual_to_both",
    "The residual is in dz, too: dz has ds added, which belongs to dx alone.",
    "What is added after attention is x, the rows that look: x + Dropout(attention(x, z)). z goes into attention and "
    "nowhere else, so dz is what attention returns for it.",
    Ways(last=lambda past, dqueries, dz: (past + dqueries, past + dz)),
)
_wrong(
    "inputs_added_up",
    "dx is the sum of the two that attention returns: the residual is lost, and dz has come in.",
    f"{_TWO}dx is ds and the first of these two; dz is returned beside it.",
    Ways(last=_added_up),
)
