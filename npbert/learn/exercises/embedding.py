"""Exercise 6: Embedding."""

from __future__ import annotations

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.core import Tape
from npbert.layers import Embedding
from npbert.learn.attempt import Failure
from npbert.learn.chapters import chapter
from npbert.learn.exercise import Exercise, Mistakes
from npbert.learn.layers import layer_part
from npbert.learn.source import Blank, class_source, exercise_file

IDS = np.array([5, 0, 5, 10, 2, 5, 0])  # the first and the last row among them
SETTING = Setting(Embedding, lambda cls, init: cls(11, 3, init), lambda rng: (rng.permutation(IDS),))
WRONG = Mistakes(Embedding, "backward")

TEXT = """
An embedding is a table with a vector for each word: y[n] is the row of the table whose number is ids[n]. Some words
appear several times in a batch, most not at all.

Ids are whole numbers and have no gradient, so backward returns nothing. Only the table learns. A row that was read
three times moved three rows of y: what comes back from them adds up.
"""
BLANK = Blank(
    "backward",
    """Add dW to the gradient of self.weight: dW[v] is the sum of dy[n] over all n with ids[n] = v.

    dy (N, D)   dW (V, D), as W, and 0 in the rows that nobody read

    Return nothing: ids have no gradient.
    """,
)
HINTS = (
    "Try it on paper with ids = [5, 1, 5]: row 5 of dW is dy[0] + dy[2], row 1 is dy[1], and all others are 0.",
    "dW[ids] += dy looks right, and is wrong: NumPy reads the rows, adds, and writes each row once, so of several "
    "equal ids the last one wins.",
    "np.add.at(dW, ids, dy) adds one after another, as a loop would: for n in range(len(ids)): dW[ids[n]] += dy[n].",
)


@WRONG(
    "Where an id is repeated, only the last of its gradients counts: the others are lost.",
    "`dW[ids] += dy` (or `dW[ids] = dy`) writes each row once. NumPy takes the rows out, adds, and puts them back, "
    "and of several results for one row the last stays. np.add.at(dW, ids, dy) adds them all.",
)
def last_of_repeated_ids_wins(self: Embedding, dy: Array, tape: Tape) -> None:
    self.weight.grad[tape.take(self)] += dy


@WRONG(
    "Where an id is repeated, only the first of its gradients counts: the others are lost.",
    "A word that was read three times moved three rows of y, and its gradient is the sum of all three.",
)
def first_of_repeated_ids_wins(self: Embedding, dy: Array, tape: Tape) -> None:
    self.weight.grad[tape.take(self)[::-1]] += dy[::-1]


@WRONG(
    "The gradients of a repeated id are averaged, but they have to be added.",
    "Each time that a row is read it moves the loss once more, so the effects add up. A mean belongs to the loss "
    "alone.",
)
def repeated_ids_averaged(self: Embedding, dy: Array, tape: Tape) -> None:
    ids = tape.take(self)
    count = (ids[:, None] == ids).sum(axis=1, keepdims=True)
    np.add.at(self.weight.grad, ids, dy / count)


@WRONG(
    "dy was added to the first rows of the table, and not to those that were read.",
    "dy[n] belongs to the word at position n, which is row ids[n] of the table, and not row n.",
)
def added_to_the_first_rows(self: Embedding, dy: Array, tape: Tape) -> None:
    tape.take(self)
    self.weight.grad[: len(dy)] += dy


@WRONG(
    "The gradient of the table is set, but it should be added to what is there.",
    "The table may be read at several places in a model, and in several parts of a batch. Each backward adds its "
    "share; zero_grad is called by whoever trains.",
)
def table_set(self: Embedding, dy: Array, tape: Tape) -> None:
    self.weight.zero_grad()
    np.add.at(self.weight.grad, tape.take(self), dy)


@WRONG(
    "Of each repeated id only one gradient counts, and what another backward had added is lost, too.",
    "`grad[ids] = dy` sets rows, where gradients should be added. np.add.at(dW, ids, dy) adds them all, and "
    "self.weight.add_grad(dW) adds the whole to what is there.",
)
def rows_set(self: Embedding, dy: Array, tape: Tape) -> None:
    self.weight.grad[tape.take(self)] = dy


@WRONG(
    "The gradient of the table is 0, as if nothing was added to it.",
    "The ids have no gradient, but the table has: it is what is learned here. Each row that was read collects the dy "
    "of where it was read.",
)
def never_learned(self: Embedding, dy: Array, tape: Tape) -> None:
    tape.take(self)


@WRONG(
    "The gradients come back in the order of sorted ids, and not in the order of reading.",
    "dy[n] belongs to ids[n]. np.unique and np.sort change the order of the ids: dy has to change with it, by argsort.",
)
def order_lost(self: Embedding, dy: Array, tape: Tape) -> None:
    np.add.at(self.weight.grad, np.sort(tape.take(self)), dy)


@WRONG(
    "dW has the table itself inside: it should begin with zeros, and it began with a copy of W.",
    "The gradient says how fast the loss moves with each number of W, and not where that number is. "
    "dW = np.zeros_like(self.weight.value), and then each dy[n] is added to row ids[n].",
)
def table_inside(self: Embedding, dy: Array, tape: Tape) -> None:
    dw = self.weight.value.copy()
    np.add.at(dw, tape.take(self), dy)
    self.weight.add_grad(dw)


@WRONG(
    "Of each repeated id only the last gradient counts, times how often the id is there.",
    "`dW[ids] = dy` writes each row once, and the last stays. What is wanted is the sum of them all: "
    "np.add.at(dW, ids, dy).",
)
def last_times_how_often(self: Embedding, dy: Array, tape: Tape) -> None:
    ids = tape.take(self)
    dw = np.zeros_like(self.weight.value)
    dw[ids] = dy
    self.weight.add_grad(dw * np.bincount(ids, minlength=len(dw))[:, None])


def advise(failure: Failure) -> str:
    """Where an id was taken for a place, or dW has a row for each id."""
    if "a gradient of shape" in failure.message:
        return (
            "dW has a row for each word of the table, as W, and dy has a row for each n. So begin with dW = "
            "np.zeros_like(self.weight.value), and add dy[n] to row ids[n]."
        )
    if failure.kind != "IndexError" or "out of bounds" not in failure.message or "dy[" not in failure.code:
        return ""
    return "An id is a row of the table; dy has a row for each place n in ids. So dy[n] belongs to row ids[n] of dW."


EXERCISE = Exercise(
    number=6,
    slug="embedding",
    title="Embedding",
    chapter=chapter(7),
    hints=HINTS,
    parts=(layer_part(SETTING, WRONG, names={"weight": "dW"}, advise=advise),),
    source=lambda: exercise_file(6, "Embedding", chapter(7), TEXT, [class_source(Embedding, BLANK)]),
    blanks=("Embedding.backward",),
)
