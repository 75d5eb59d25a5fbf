"""Training data, in a new random order every epoch: labelled examples in memory, or masked batches from a corpus."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.data.corpus import Corpus
from npbert.data.example import Example, collate, join_pair, mask_example
from npbert.data.packing import Sentence, pack
from npbert.data.tokenizer import Tokenizer
from npbert.io import at_least, counted

PIECES_AT_ONCE = 64
"""The number of pieces of the corpus in memory: their sequences are shuffled together."""


class Position(NamedTuple):
    """The number of a group of the data, which is in memory at once, and of a batch in the group; both from 0."""

    group: int = 0
    batch: int = 0


START = Position()


def _cut(count: int, size: int, group: int, place: Position) -> Iterator[tuple[Position, slice]]:
    """Yield the places and the slices of the batches of a group of `count` examples, from `place` on."""
    first = place.batch if group == place.group else 0
    for number in range(first, -(-count // size)):
        yield Position(group, number), slice(number * size, (number + 1) * size)


@dataclass(frozen=True, repr=False)
class TaskData:
    """Batches of `batch_size` examples, by `collate`; the last of an epoch may be smaller.

    Raises: ValueError unless batch_size is at least 1.
    """

    examples: Sequence[Any]
    collate: Callable[[Sequence[Any]], Batch]
    batch_size: int = 32

    def __post_init__(self) -> None:
        at_least(1).check("batch_size", self.batch_size)

    def __repr__(self) -> str:
        return f"TaskData of {counted(len(self.examples), 'example')}, in batches of {self.batch_size}"

    def __len__(self) -> int:
        """Return the number of batches in an epoch."""
        return -(-len(self.examples) // self.batch_size)

    def batches(self, epoch_seed: int, place: Position = START) -> Iterator[tuple[Position, Batch]]:
        """Yield the batches of the epoch with this seed from `place` on, each with its place."""
        order = np.random.default_rng(epoch_seed).permutation(len(self.examples))
        for position, part in _cut(len(order), self.batch_size, 0, place):
            yield position, self.collate([self.examples[index] for index in order[part]])


@dataclass(frozen=True)
class PretrainingData:
    """Batches for BertForPreTraining (`nsp` or `sop`), BertForMaskedLM (`none`) or ReplacedTokenDetection (`rtd`), from
    the pieces of a corpus.

    An epoch takes the pieces in a random order, one group at a time: it reads them, packs their sentences into
    sequences of at most `max_length` tokens, shuffles these, masks them anew and splits them into batches of
    `batch_size` (the last of a group may be smaller). The seed of the epoch and the number of the group determine all
    of it, so any batch can be made again without earlier groups. Sequences without a known word are left out.

    mask_probability, whole_words: as in mask_words, without another limit than the share.
    """

    corpus: Corpus
    tokenizer: Tokenizer
    batch_size: int = 32
    max_length: int = 128
    objective: str = "nsp"
    mask_probability: float = 0.15
    whole_words: bool = False

    def batches(self, epoch_seed: int, place: Position = START) -> Iterator[tuple[Position, Batch]]:
        """Yield the batches of the epoch from `place` on, each with its place."""
        limits: Any = {"probability": self.mask_probability, "max_predictions": self.max_length}
        order = np.random.default_rng(epoch_seed).permutation(len(self.corpus))
        groups = [order[start : start + PIECES_AT_ONCE] for start in range(0, len(order), PIECES_AT_ONCE)]
        for group in range(place.group, len(groups)):
            rng = np.random.default_rng([epoch_seed, group])
            examples = self._examples(groups[group], rng)
            for position, part in _cut(len(examples), self.batch_size, group, place):
                batch_rng = np.random.default_rng([epoch_seed, *position])
                masked = [
                    mask_example(example, self.tokenizer, batch_rng, whole_words=self.whole_words, **limits)
                    for example in examples[part]
                ]
                yield position, collate(masked, pad_id=self.tokenizer.pad_id, decode=self.tokenizer.decode)

    def _examples(self, numbers: Array, rng: np.random.Generator) -> list[Example]:
        """Return the sequences of a group of pieces, without masks, in random order."""
        pieces = {number: self._tokens(number) for number in numbers.tolist()}
        examples: list[Example] = []
        for number, sentences in pieces.items():
            draw_other = self._drawing(number, pieces, rng)
            texts = pack(
                sentences, max_length=self.max_length, objective=self.objective, draw_other=draw_other, rng=rng
            )
            examples += [join_pair(first, second, self.tokenizer, label) for first, second, label in texts]
        is_word = self.tokenizer.is_word  # a text may be all [UNK]
        examples = [example for example in examples if is_word[example.input_ids].any()]
        return [examples[index] for index in rng.permutation(len(examples))]

    def _tokens(self, number: int) -> list[Sentence]:
        return [ids for ids in self.tokenizer.pieces(self.corpus.read(number)) if ids]

    def _drawing(
        self, number: int, pieces: dict[int, list[Sentence]], rng: np.random.Generator
    ) -> Callable[[], Sequence[Sentence]]:
        """Return a function that draws sentences: those from a random place in a random piece of another document than
        that of piece `number`. It is in the group, or else in the corpus; or any of the group if it is the only
        document."""
        of = self.corpus.pieces
        own = of[number].document
        others = [other for other in pieces if of[other].document != own]
        others = others or [other for other, piece in enumerate(of) if piece.document != own] or list(pieces)

        def draw() -> Sequence[Sentence]:
            other = others[int(rng.integers(len(others)))]
            sentences = pieces[other] if other in pieces else self._tokens(other)
            return sentences[int(rng.integers(len(sentences))) :] if sentences else []

        return draw
