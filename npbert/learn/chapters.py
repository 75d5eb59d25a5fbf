"""The chapters of docs/, by number, that the exercises point to."""

from __future__ import annotations

from npbert.learn.exercise import Chapter

CHAPTERS = {
    1: Chapter(1, "What the derivative of a whole batch is", "01-derivative-of-a-batch.md"),
    2: Chapter(2, "A Linear, a softmax and a cross-entropy in numbers", "02-one-step-in-numbers.md"),
    3: Chapter(3, "Sums and broadcasts", "03-sums-and-broadcasts.md"),
    4: Chapter(4, "Softmax and cross-entropy", "04-softmax-and-cross-entropy.md"),
    5: Chapter(5, "LayerNorm and its three roads", "05-layer-norm.md"),
    6: Chapter(6, "Attention", "06-attention.md"),
    7: Chapter(7, "The tied table, dropout and the embeddings", "07-embeddings-dropout-tied-table.md"),
    8: Chapter(8, "From gradients to steps", "08-from-gradients-to-steps.md"),
    9: Chapter(9, "How to prove a gradient", "09-prove-a-gradient.md"),
    10: Chapter(10, "What the fast version does", "10-fast-version.md"),
}


def chapter(number: int) -> Chapter:
    """The chapter of this number."""
    return CHAPTERS[number]
