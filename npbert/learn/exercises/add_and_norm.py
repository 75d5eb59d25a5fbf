"""Exercise 9: the residual connections of an encoder layer."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from npbert.blocks import EncoderLayer
from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.core import Sequences, Tape
from npbert.learn.attempt import Failure
from npbert.learn.chapters import chapter
from npbert.learn.exercise import Exercise, Mistakes
from npbert.learn.layers import layer_part
from npbert.learn.source import Blank, class_source, exercise_file

D, H, F, N = 6, 2, 7, 5
SETTING = Setting(
    EncoderLayer,
    lambda cls, init: cls(D, H, F, init, dropout=0.3, attention_dropout=0.2, layer_norm_eps=1e-2),
    lambda rng: (rng.standard_normal((N, D)), rng.standard_normal((N, D)), Sequences(np.array([3, 2]))),
)
WRONG = Mistakes(EncoderLayer, "backward")

TEXT = """
An encoder layer is two halves, and each half is LayerNorm(s) with s = u + Dropout(f), where attention, or the
feed-forward, made f from u. All its parts know their own backwards. What is left is to call them in the right order,
and to bring together what comes back: u has two roads to the loss, past the sub-layer and through it.

The order matters: the tape hands things back in the reverse order of forward. Attention has two inputs, x, the rows
that look, and z, the rows that are looked at. Its backward returns a gradient for each of them.
"""
BLANK = Blank(
    "backward",
    """Return (dx, dz), of the shapes of x and z.

    Call the backward of each part, in the reverse order of forward, with what came back so far and the tape:
    self.output_norm, self.dropout, self.feed_forward, self.attention_norm, self.dropout, self.attention.
    """,
)
HINTS = (
    "Undo the last line first: ds = self.output_norm.backward(dy, tape). s is a sum of h and of what dropout gave, "
    "and a sum hands its gradient to both of its sides, unchanged.",
    "Through the sub-layer: df = self.dropout.backward(ds, tape), then self.feed_forward.backward(df, tape). Past it: "
    "ds as it is. Where the two roads meet, at h, they are added: dh = ds + self.feed_forward.backward(df, tape).",
    "The first half is the same with dh in place of dy, self.attention_norm, and self.attention.backward(df, tape), "
    "which returns two: dqueries, dz. x went past attention and into it as queries: return ds + dqueries, dz.",
)

Roads = Callable[[EncoderLayer, Array, Tape], tuple[Array, Array]]


def both_roads(layer: EncoderLayer, ds: Array, tape: Tape) -> tuple[Array, Array]:
    """What goes past the sub-layer, and what goes through it."""
    return ds, layer.dropout.backward(ds, tape)


def _backward(
    layer: EncoderLayer, dy: Array, tape: Tape, feed_forward: Roads = both_roads, attention: Roads = both_roads
) -> tuple[Array, Array, Array]:
    """What comes back past attention, dqueries and dz, with other roads in one half or in both."""
    past, through = feed_forward(layer, layer.output_norm.backward(dy, tape), tape)
    dh = past + layer.feed_forward.backward(through, tape)
    past, through = attention(layer, layer.attention_norm.backward(dh, tape), tape)
    return past, *layer.attention.backward(through, tape)


def _through_alone(layer: EncoderLayer, ds: Array, tape: Tape) -> tuple[Array, Array]:
    return 0 * ds, layer.dropout.backward(ds, tape)


def _past_dropped_too(layer: EncoderLayer, ds: Array, tape: Tape) -> tuple[Array, Array]:
    df = layer.dropout.backward(ds, tape)
    return df, df


def _through_not_dropped(layer: EncoderLayer, ds: Array, tape: Tape) -> tuple[Array, Array]:
    layer.dropout.backward(ds, tape)
    return ds, ds


@WRONG(
    "The residual connections are lost in both halves: only what comes through the sub-layers is handed on.",
    "u is added to what the sub-layer makes of it, so it also moves the loss past the sub-layer, and a + hands ds on "
    "unchanged. dh = ds + self.feed_forward.backward(df, tape), and the same with attention.",
)
def residuals_lost(self: EncoderLayer, dy: Array, tape: Tape) -> tuple[Array, Array]:
    past, dqueries, dz = _backward(self, dy, tape, _through_alone, _through_alone)
    return past + dqueries, dz


@WRONG(
    "The residual connection around attention is lost: dx has only what comes through attention.",
    "x is added to what attention makes of it, so it also moves the loss past attention: dx = ds + dqueries.",
)
def residual_around_attention_lost(self: EncoderLayer, dy: Array, tape: Tape) -> tuple[Array, Array]:
    _, dqueries, dz = _backward(self, dy, tape)
    return dqueries, dz


@WRONG(
    "The residual connection around the feed-forward is lost: dh has only what comes through it.",
    "h is added to what the feed-forward makes of it, so it also moves the loss past it: "
    "dh = ds + self.feed_forward.backward(df, tape).",
)
def residual_around_feed_forward_lost(self: EncoderLayer, dy: Array, tape: Tape) -> tuple[Array, Array]:
    past, dqueries, dz = _backward(self, dy, tape, feed_forward=_through_alone)
    return past + dqueries, dz


@WRONG(
    "dx has the residual alone: what comes back through attention, as the queries, is lost.",
    "x went two ways: past attention, and into it as the rows that look. dx = ds + dqueries.",
)
def queries_lost(self: EncoderLayer, dy: Array, tape: Tape) -> tuple[Array, Array]:
    past, _, dz = _backward(self, dy, tape)
    return past, dz


@WRONG(
    "The road past the sub-layer gets the gradient after dropout: in both halves it should get ds itself.",
    "Dropout stands on the road through the sub-layer alone: s = u + Dropout(f). u is never dropped, and nor is its "
    "gradient: ds + self.feed_forward.backward(df, tape), not df + ….",
)
def residual_is_dropped_too(self: EncoderLayer, dy: Array, tape: Tape) -> tuple[Array, Array]:
    past, dqueries, dz = _backward(self, dy, tape, _past_dropped_too, _past_dropped_too)
    return past + dqueries, dz


@WRONG(
    "The road through the sub-layer is not dropped: it gets ds, and should get df = self.dropout.backward(ds, tape).",
    "What dropout set to 0 on the way forward had no say in the loss, so nothing may come back there.",
)
def sublayer_is_not_dropped(self: EncoderLayer, dy: Array, tape: Tape) -> tuple[Array, Array]:
    past, dqueries, dz = _backward(self, dy, tape, _through_not_dropped, _through_not_dropped)
    return past + dqueries, dz


@WRONG(
    "What comes back around the first half is dh, before attention_norm: it should be ds, after it.",
    "x is added inside the bracket: LayerNorm(x + …). So the road past attention goes back through attention_norm, "
    "too: ds = self.attention_norm.backward(dh, tape), and dx = ds + dqueries.",
)
def residual_past_the_norm(self: EncoderLayer, dy: Array, tape: Tape) -> tuple[Array, Array]:
    ds = self.output_norm.backward(dy, tape)
    dh = ds + self.feed_forward.backward(self.dropout.backward(ds, tape), tape)
    df = self.dropout.backward(self.attention_norm.backward(dh, tape), tape)
    dqueries, dz = self.attention.backward(df, tape)
    return dh + dqueries, dz


@WRONG(
    "The residuals carry dy past the norms: the second half hands on dy itself, and should hand on ds.",
    "h is added inside the bracket: LayerNorm(h + …). So the road past the feed-forward goes back through output_norm, "
    "too: ds = self.output_norm.backward(dy, tape), and dh = ds + ….",
)
def dy_past_the_norm(self: EncoderLayer, dy: Array, tape: Tape) -> tuple[Array, Array]:
    ds = self.output_norm.backward(dy, tape)
    dh = dy + self.feed_forward.backward(self.dropout.backward(ds, tape), tape)
    ds = self.attention_norm.backward(dh, tape)
    dqueries, dz = self.attention.backward(self.dropout.backward(ds, tape), tape)
    return ds + dqueries, dz


@WRONG(
    "dx and dz are added up here: dz is inside dx, too.",
    "x and z are two inputs, and each gets its own gradient. Where they are the same rows, as in BERT, the encoder "
    "adds the two, later. Return ds + dqueries, dz.",
)
def both_inputs_in_one(self: EncoderLayer, dy: Array, tape: Tape) -> tuple[Array, Array]:
    past, dqueries, dz = _backward(self, dy, tape)
    return past + dqueries + dz, dz


@WRONG(
    "The residual went to z instead of x: dx is dqueries alone, and dz has ds added.",
    "What is added after attention is x, the rows that look: x + Dropout(attention(x, z)). So ds belongs to dx.",
)
def residual_to_z(self: EncoderLayer, dy: Array, tape: Tape) -> tuple[Array, Array]:
    past, dqueries, dz = _backward(self, dy, tape)
    return dqueries, past + dz


@WRONG(
    "dx and dz are in the wrong order.",
    "backward returns the gradients in the order of the inputs of forward: first x, the rows that look, then z.",
)
def swapped(self: EncoderLayer, dy: Array, tape: Tape) -> tuple[Array, Array]:
    past, dqueries, dz = _backward(self, dy, tape)
    return dz, past + dqueries


@WRONG(
    "The residual is in dz, too: dz has ds added, which belongs to dx alone.",
    "What is added after attention is x, the rows that look: x + Dropout(attention(x, z)). z goes into attention and "
    "nowhere else, so dz is what attention returns for it.",
)
def residual_to_both(self: EncoderLayer, dy: Array, tape: Tape) -> tuple[Array, Array]:
    past, dqueries, dz = _backward(self, dy, tape)
    return past + dqueries, past + dz


@WRONG(
    "dx is dqueries + dz: the residual is lost, and dz, which is the gradient of the other input, has come in.",
    "x went past attention and into it as the rows that look: dx = ds + dqueries. dz is returned beside it.",
)
def inputs_added_up(self: EncoderLayer, dy: Array, tape: Tape) -> tuple[Array, Array]:
    _, dqueries, dz = _backward(self, dy, tape)
    return dqueries + dz, dz


@WRONG(
    "In both halves the residual carries the gradient past the norm, as if the norm stood on the other road alone.",
    "That would be right for u + f(LayerNorm(u)), which is called pre-norm. Here it is LayerNorm(u + f(u)): both roads "
    "go through the norm, so each residual gets ds, what the norm's backward returns.",
)
def pre_norm(self: EncoderLayer, dy: Array, tape: Tape) -> tuple[Array, Array]:
    ds = self.output_norm.backward(dy, tape)
    dh = dy + self.feed_forward.backward(self.dropout.backward(ds, tape), tape)
    ds = self.attention_norm.backward(dh, tape)
    dqueries, dz = self.attention.backward(self.dropout.backward(ds, tape), tape)
    return dh + dqueries, dz


def advise(failure: Failure) -> str:
    """What comes next, where the tape has something else on top."""
    top = re.search(r"on top of the tape is what (?:another )?(\w+)", failure.message)
    if failure.kind != "TapeError" or top is None:
        return ""
    return (
        f"What lies on top was put there last, so its backward is the next to be called: that of a {top[1]}. The whole "
        "order is output_norm, dropout, feed_forward, attention_norm, dropout, attention."
    )


EXERCISE = Exercise(
    number=9,
    slug="add_and_norm",
    title="residuals, add & norm",
    chapter=chapter(3),
    hints=HINTS,
    parts=(layer_part(SETTING, WRONG, advise=advise),),
    source=lambda: exercise_file(9, "residuals, add & norm", chapter(3), TEXT, [class_source(EncoderLayer, BLANK)]),
    blanks=("EncoderLayer.backward",),
)
