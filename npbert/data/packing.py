"""From the sentences of documents to sequences for pre-training, packed as full as possible, single or in pairs."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from npbert.data.example import IS_NEXT, NOT_NEXT

OBJECTIVES = ("nsp", "sop", "none", "rtd")
"""The use of a pair: next-sentence prediction, sentence-order prediction, or nothing (single sequences), also where
replaced tokens are to be found."""

Sentence = Sequence[int]
_SHORT_PROBABILITY = 0.1
_DRAWS = 20


Packed = tuple[list[int], list[int] | None, int]
"""The token ids of one or two texts, and a label: the second follows the first (0) or not (1); 0 for one text. With
sentence-order prediction, 1 means that the two are exchanged."""


def pack(
    sentences: Sequence[Sentence],
    *,
    max_length: int,
    objective: str,
    draw_other: Callable[[], Sequence[Sentence]],
    rng: np.random.Generator,
) -> Iterator[Packed]:
    """Return the sentences of one piece of a document as sequences of at most `max_length` tokens, with special tokens.

    Sentences are taken until they fill a sequence; for 1 sequence in 10, until a random shorter length, so the model
    also sees short ones. A pair is split at a random sentence. For next-sentence prediction, half of the pairs get a
    second text from `draw_other()`, sentences from a random place of another document, and their own sentences are used
    again. A drawn text that begins like the true one is drawn again, so no label is false; without another text, the
    pair keeps its true one. The longer text is cut at a random end. (Devlin et al. 2018, appendix A.2, and its code;
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
            drawn = _draw_other_text(draw_other, true_next, target - len(first))
            if drawn:
                position -= len(chunk) - split
                second, label = drawn, NOT_NEXT
        elif objective == "sop" and rng.random() < 0.5:
            first, second, label = second, first, NOT_NEXT
        if first and second:
            yield *_cut_pair(first, second, room, rng), label


def _fill(sentences: Sequence[Sentence], start: int, target: int) -> int:
    """Return the end of a run of sentences from `start` with at least `target` tokens, or of all sentences."""
    total, end = 0, start
    while end < len(sentences) and total < target:
        total += len(sentences[end])
        end += 1
    return end


def _joined(sentences: Sequence[Sentence]) -> list[int]:
    return [token for sentence in sentences for token in sentence]


def _draw_other_text(
    draw_other: Callable[[], Sequence[Sentence]], true_next: list[int], length: int
) -> list[int] | None:
    """Return a text of at least `length` tokens, if possible, that does not begin like `true_next`."""
    for _ in range(_DRAWS):
        sentences = draw_other()
        drawn = _joined(sentences[: _fill(sentences, 0, max(1, length))])
        shared = min(len(drawn), len(true_next))
        if drawn and not (shared and drawn[:shared] == true_next[:shared]):
            return drawn
    return None


def _cut(tokens: list[int], room: int, rng: np.random.Generator) -> list[int]:
    surplus = max(0, len(tokens) - room)
    front = int(rng.binomial(surplus, 0.5))
    return tokens[front : front + room]


def _cut_pair(first: list[int], second: list[int], room: int, rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """Return both texts, cut to the room: the longer loses one token at a time, at a random end."""
    short = min(len(first), len(second))
    longest = max(room - short, (room + 1) // 2)
    first = _cut(first, longest, rng)
    return first, _cut(second, room - len(first), rng)
