"""Exercise 13: a batch in parts, and gradients that are clipped."""

from __future__ import annotations

from npbert.learn.chapters import chapter
from npbert.learn.exercise import Exercise
from npbert.learn.exercises.accumulating import accumulate, accumulated, nothing_returned, prove_accumulating
from npbert.learn.exercises.accumulating_mistakes import MEANS
from npbert.learn.exercises.accumulating_shares import explain_shares
from npbert.learn.exercises.clipping import clipped, explain_clipping
from npbert.learn.exercises.clipping_norms import CLIPS
from npbert.learn.exercises.clipping_proved import prove_clipping
from npbert.learn.numbers import NumbersPart
from npbert.learn.source import exercise_file, function_source
from npbert.optim import clip_by_global_norm

TEXT = """
A batch that does not fit into memory comes in pieces. Each piece goes forward and backward by itself, and the gradients
add up. At the end they have to be those of the whole batch, whose loss is the mean over all of its targets; the loss of
a piece is the mean over its own. Not every piece has as many targets, and labels that are −100 (IGNORED) are none.

Then the gradients may be too large for a good step. All of them together are seen as one long vector, and if it is
longer than max_norm, it is made shorter: the direction stays.
"""
ACCUMULATE_TEXT = """Add the gradient of the mean loss over all targets of all pieces to the layer's; return that mean.

pieces: for each an x (n, I), and labels (n,), at least one of which is a target. For one piece:

    tape = Tape()
    its_mean = loss.forward(layer.forward(x, tape), labels, tape)
    layer.backward(loss.backward(1.0, tape), tape)

where 1.0 is dloss: how much the loss of this piece counts in the whole. One piece at a time: together they do
not fit into memory.
"""
CLIP_TEXT = """Scale all gradients by one factor, so that their joint norm is at most max_norm; return the norm before.

The joint norm is the length of all gradients in one row: √(Σ grad²), summed over all numbers of all parameters.
Change each parameter.grad in place, as in parameter.grad[...] *= factor. Where the norm is not above max_norm,
nothing is changed. parameters is a list here; a parameter that is given twice counts once: it is one.
"""
HINTS = (
    "A mean of means is not the mean of all, unless all pieces have as many targets. A piece with n of N targets "
    "counts n/N. And the norm of several gradients is that of all of their numbers in one row.",
    "Count the targets first: n = (labels != IGNORED).sum() for each piece, N for all. Then dloss = n / N for that "
    "piece, and the mean that you return is the sum of n / N · its_mean.",
    "For clipping: parameters = list(dict.fromkeys(parameters)); norm = √(Σ (p.grad**2).sum()); if norm > max_norm: "
    "p.grad[...] *= max_norm / norm, for each p; return norm.",
)


EXERCISE = Exercise(
    number=13,
    slug="accumulate_and_clip",
    title="accumulating and clipping gradients",
    chapter=chapter(8),
    hints=HINTS,
    parts=(
        NumbersPart(
            "accumulate",
            accumulate,
            accumulated,
            MEANS,
            prove=prove_accumulating,
            explain=explain_shares,
            explains_zero=True,
            recognise=nothing_returned,
        ),
        NumbersPart(
            "clip_by_global_norm",
            clip_by_global_norm,
            clipped,
            CLIPS,
            tolerance=1e-5,
            prove=prove_clipping,
            explain=explain_clipping,
        ),
    ),
    source=lambda: exercise_file(
        13,
        "accumulating and clipping gradients",
        chapter(8),
        TEXT,
        [
            "Piece = tuple[Array, Array]",
            function_source(accumulate, ACCUMULATE_TEXT),
            function_source(clip_by_global_norm, CLIP_TEXT),
        ],
        uses=["IGNORED", "Tape", "math"],
    ),
    blanks=("accumulate", "clip_by_global_norm"),
)
