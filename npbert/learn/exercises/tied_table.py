"""Exercise 11: one table at two places."""

from __future__ import annotations

from npbert.learn.chapters import chapter
from npbert.learn.exercise import Exercise
from npbert.learn.exercises.tied_table_mistakes import SETTING, TiedTable
from npbert.learn.exercises.tied_table_roads import ROADS
from npbert.learn.exercises.tied_table_rows import WRONG, two_at_once
from npbert.learn.layers import layer_part
from npbert.learn.source import Blank, class_source, exercise_file

TEXT = """
BERT has one table of word vectors, and uses it twice: at the beginning it looks up the vector of each word, and at the
end it compares what came out with the vectors of all words, to guess the word that was hidden.

A number of the table therefore moves the loss by two roads. The chain rule does not mind: work out what each use brings
back, as if the other were not there, and add both to the same gradient.
"""
BLANK = Blank(
    "backward",
    """Add dE to the gradient of self.table and dc to that of self.bias. Return nothing: ids have no gradient.

    dlogits (N, V)   dE (V, D)   dc (V,)   h (N, D): the rows of the table that were read

    self.table.value is E, and self.table.grad its gradient. add_grad adds a whole array of E's shape to it;
    np.add.at(self.table.grad, ids, rows) adds rows to those that ids names, each as often as it is named.
    """,
    given=2,
)
HINTS = (
    "The end is a Linear whose weight is Eᵀ (times a). What does it bring back to its weight, to its bias, and to its "
    "input h?",
    "As the decoder: dE = a dlogitsᵀ h, of the shape (V, D), and dc = Σₙ dlogitsₙ. For the embedding you need dh = a "
    "dlogits E, (N, D).",
    "Then dh goes back to the rows that were read: np.add.at(dE, ids, dh), as in exercise 6. Both parts are added: "
    "self.table.add_grad(a * dlogits.T @ h), and np.add.at(self.table.grad, ids, dh).",
)

EXERCISE = Exercise(
    number=11,
    slug="tied_table",
    title="the tied table",
    chapter=chapter(7),
    hints=HINTS,
    parts=(layer_part(SETTING, WRONG, names={"table": "dE", "bias": "dc"}, roads=ROADS, pairs=two_at_once),),
    source=lambda: exercise_file(11, "the tied table", chapter(7), TEXT, [class_source(TiedTable, BLANK)]),
    blanks=("TiedTable.backward",),
)
