"""The chapters of docs/ that the exercises name."""

from typing import NamedTuple


class Chapter(NamedTuple):
    """A chapter of docs/: its number, its title and its file."""

    number: int
    title: str
    file: str

    def __str__(self) -> str:
        return f'chapter {self.number}, "{self.title}" (docs/{self.file})'


_CHAPTERS = """
00-what-bert-is.md                     What BERT is, and what it learns
01-derivative-of-a-batch.md            What the derivative of a whole batch is
02-one-step-in-numbers.md              A Linear, a softmax and a cross-entropy in numbers
03-sums-and-broadcasts.md              Sums and broadcasts
04-softmax-and-cross-entropy.md        Softmax and cross-entropy
05-layer-norm.md                       LayerNorm and its three paths
06-attention.md                        Attention
07-embeddings-dropout-tied-table.md    Embeddings, the tied table and dropout
08-from-gradients-to-steps.md          From gradients to steps
09-prove-a-gradient.md                 How to prove a gradient
10-the-whole-model.md                  The whole model
11-what-became-of-bert.md              What became of BERT
12-fast-version.md                     Engineering: what the fast version does
"""
CHAPTERS = {
    number: Chapter(number, title, file)
    for number, (file, title) in enumerate(line.split(maxsplit=1) for line in _CHAPTERS.strip().splitlines())
}
"""The chapters of the exercises, by number."""
