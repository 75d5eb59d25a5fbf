"""PretrainingData: from a corpus to masked batches, in a new random order every epoch. pack: from sentences to
sequences, single or in pairs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from npbert.data.batch import START, Batch, Position, in_batches
from npbert.data.corpus import Corpus
from npbert.data.example import IS_NEXT, NOT_NEXT, Example, collate, join_pair, mask_example
from npbert.data.tokenizer import Tokenizer

PIECES_AT_ONCE = 64
"""The number of pieces of the corpus in memory: their sequences are shuffled together."""

OBJECTIVES = ("nsp", "sop", "none", "rtd")
"""The use of a pair: next-sentence prediction, sentence-order prediction, or nothing (single sequences), also where
replaced tokens are to be found."""

Sentence = Sequence[int]
_SHORT_PROBABILITY = 0.1
_DRAWS = 20


Packed = tuple[list[int], list[int] | None, int]
"""The token ids of one or two texts, and a label: the second follows the first (0) or not (1); 0 for one text. With
sentence-order prediction, 1 means that the two are exchanged."""


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
        order = np.random.default_rng(epoch_seed).permutation(len(self.corpus))
        groups = np.split(order, range(PIECES_AT_ONCE, len(order), PIECES_AT_ONCE))
        for group in range(place.group, len(groups)):
            rng = np.random.default_rng([epoch_seed, group])
            pieces = {number: self._tokens(number) for number in groups[group].tolist()}
            examples: list[Example] = []
            for number, sentences in pieces.items():
                drawn = self._drawn(number, pieces, rng)
                texts = pack(sentences, max_length=self.max_length, objective=self.objective, drawn=drawn, rng=rng)
                examples += [join_pair(first, second, self.tokenizer, label) for first, second, label in texts]
            is_word = self.tokenizer.is_word  # a text may be all [UNK]
            examples = [example for example in examples if is_word[example.input_ids].any()]
            masked = [
                mask_example(
                    examples[index],
                    self.tokenizer,
                    rng,
                    probability=self.mask_probability,
                    max_predictions=self.max_length,
                    whole_words=self.whole_words,
                )
                for index in rng.permutation(len(examples))
            ]
            for position, part in in_batches(masked, self.batch_size, place):
                yield position, collate(part, pad_id=self.tokenizer.pad_id, decode=self.tokenizer.decode)
            place = Position(group + 1)

    def _tokens(self, number: int) -> list[Sentence]:
        return [ids for ids in self.tokenizer.pieces(self.corpus.read(number)) if ids]

    def _drawn(
        self, number: int, pieces: dict[int, list[Sentence]], rng: np.random.Generator
    ) -> Iterator[Sequence[Sentence]]:
        """Yield drawn sentences without end: those from a random place in a random piece of another document than that
        of piece `number`. It is in the group, or else in the corpus; or any of the group if it is the only
        document."""
        of = self.corpus.pieces
        own = of[number].document
        others = [other for other in pieces if of[other].document != own]
        others = others or [other for other, piece in enumerate(of) if piece.document != own] or list(pieces)
        while True:
            other = others[int(rng.integers(len(others)))]
            sentences = pieces[other] if other in pieces else self._tokens(other)
            yield sentences[int(rng.integers(len(sentences))) :] if sentences else []


def pack(
    sentences: Sequence[Sentence],
    *,
    max_length: int,
    objective: str,
    drawn: Iterator[Sequence[Sentence]],
    rng: np.random.Generator,
) -> Iterator[Packed]:
    """Return the sentences of one piece of a document as sequences of at most `max_length` tokens, with special tokens.

    Sentences are taken until they fill a sequence; for 1 sequence in 10, until a random shorter length, so the model
    also sees short ones. A pair is split at a random sentence. For next-sentence prediction, half of the pairs get a
    second text from `drawn`, sentences from a random place of another document, and their own sentences are used
    again. If only one sentence is left, its second text is always drawn, so a little more than half are random. A drawn
    text that begins like the true one is drawn again, so no label is false; without another text, the pair keeps its
    true one. The longer text is cut at a random end. (Devlin et al. 2018, appendix A.2, and its code;
    order: Lan et al. 2020, section 3.1.)
    """
    in_pairs = objective in ("nsp", "sop")
    room = max_length - (3 if in_pairs else 2)
    position = 0
    while position < len(sentences):
        target = int(rng.integers(2, room + 1)) if rng.random() < _SHORT_PROBABILITY else room
        end = _fill(sentences, position, target)
        if in_pairs:
            end = max(end, min(position + 2, len(sentences)))  # a pair has at least two sentences
        chunk, position = sentences[position:end], end
        if not in_pairs:
            yield _cut(_joined(chunk), room, rng), None, IS_NEXT
            continue
        split = int(rng.integers(1, len(chunk))) if len(chunk) > 1 else 1
        first, second = _joined(chunk[:split]), _joined(chunk[split:])
        label = IS_NEXT
        if objective == "nsp" and (not second or rng.random() < 0.5):
            true_next = second or _joined(sentences[end : end + 1])
            for others in islice(drawn, _DRAWS):
                text = _joined(others[: _fill(others, 0, max(1, target - len(first)))])
                if text and (not true_next or text[: len(true_next)] != true_next[: len(text)]):
                    position -= len(chunk) - split
                    second, label = text, NOT_NEXT
                    break
        elif objective == "sop" and rng.random() < 0.5:
            first, second, label = second, first, NOT_NEXT
        if first and second:
            short = min(len(first), len(second))  # the longer loses one token at a time
            first = _cut(first, max(room - short, (room + 1) // 2), rng)
            yield first, _cut(second, room - len(first), rng), label


def _fill(sentences: Sequence[Sentence], start: int, target: int) -> int:
    """Return the end of a run of sentences from `start` with at least `target` tokens, or of all sentences."""
    total, end = 0, start
    while end < len(sentences) and total < target:
        total += len(sentences[end])
        end += 1
    return end


def _joined(sentences: Sequence[Sentence]) -> list[int]:
    return [token for sentence in sentences for token in sentence]


def _cut(tokens: list[int], room: int, rng: np.random.Generator) -> list[int]:
    surplus = max(0, len(tokens) - room)
    front = int(rng.binomial(surplus, 0.5))
    return tokens[front : front + room]
