"""From pairs of lines to examples, and from examples to a batch."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from npbert.core import IGNORED
from npbert.data.batch import Batch, Decode, pad, pad_rows
from npbert.data.dialogue import Dialogue
from npbert.data.masking import mask_words
from npbert.data.vocabulary import Vocabulary

IS_NEXT, NOT_NEXT = 0, 1


class Pair(NamedTuple):
    """The indices of two lines, and IS_NEXT (0) if the second follows the first, otherwise NOT_NEXT (1)."""

    first: int
    second: int
    next_sentence_label: int


def all_pairs(num_lines: int) -> list[Pair]:
    """Return all num_lines² ordered pairs of lines, including a line with itself."""
    return [
        Pair(first, second, IS_NEXT if second == first + 1 else NOT_NEXT)
        for first in range(num_lines)
        for second in range(num_lines)
    ]


def draw_pairs(num_lines: int, count: int, rng: np.random.Generator) -> list[Pair]:
    """Return `count` pairs, drawn from all ordered pairs with replacement: half of them IS_NEXT, in random order.

    (Devlin et al. 2018, section 3.1, task 2.)

    Raises: ValueError if `count` is odd or not positive, or for fewer than 2 lines.
    """
    if count <= 0 or count % 2:
        raise ValueError(f"count is {count}, wanted a positive even number: half of the pairs are is-next")
    if num_lines < 2:
        raise ValueError(f"num_lines is {num_lines}, wanted at least 2")
    pairs = all_pairs(num_lines)
    drawn = []
    for label in (IS_NEXT, NOT_NEXT):
        candidates = [pair for pair in pairs if pair.next_sentence_label == label]
        drawn += [candidates[i] for i in rng.integers(len(candidates), size=count // 2)]
    return [drawn[i] for i in rng.permutation(count)]


@dataclass(frozen=True)
class Example:
    """One sequence before padding: lists of T ids, types and labels, and the label of its sentence pair.

    Raises: ValueError if the three lists differ in length.
    """

    input_ids: Sequence[int]
    token_type_ids: Sequence[int]
    labels: Sequence[int]
    next_sentence_label: int

    def __post_init__(self) -> None:
        lengths = len(self.input_ids), len(self.token_type_ids), len(self.labels)
        if len(set(lengths)) > 1:
            raise ValueError(f"input_ids, token_type_ids and labels have {lengths} tokens, wanted one length")


def join_pair(
    first: Sequence[int], second: Sequence[int] | None, vocabulary: Vocabulary, next_sentence_label: int = IS_NEXT
) -> Example:
    """Return `[CLS] first [SEP] second [SEP]`, with type 1 from the second on, without masks.

    Without a second text, `[CLS] first [SEP]`.
    """
    input_ids = [vocabulary.cls_id, *first, vocabulary.sep_id]
    types = [0] * len(input_ids)
    if second is not None:
        input_ids += [*second, vocabulary.sep_id]
        types += [1] * (len(second) + 1)
    return Example(input_ids, types, [IGNORED] * len(input_ids), next_sentence_label)


def join_lines(dialogue: Dialogue, pair: Pair) -> Example:
    """Return the pair of lines as join_pair does."""
    first, second = dialogue.lines[pair.first], dialogue.lines[pair.second]
    return join_pair(first, second, dialogue.vocabulary, pair.next_sentence_label)


def make_example(dialogue: Dialogue, pair: Pair, rng: np.random.Generator) -> Example:
    """Return the pair as join_lines does, with new masks."""
    return mask_example(join_lines(dialogue, pair), dialogue.vocabulary, rng)


def mask_example(example: Example, vocabulary: Vocabulary, rng: np.random.Generator, **how: Any) -> Example:
    """Return the example with new masks. how: options of mask_words."""
    masked_ids, labels = mask_words(example.input_ids, vocabulary, rng, **how)
    return replace(example, input_ids=masked_ids, labels=labels)


def mask_each_word(example: Example, vocabulary: Vocabulary) -> list[Example]:
    """Return for each word of the example, except special tokens, a copy with only that word masked."""
    masked = []
    for position in np.flatnonzero(vocabulary.is_word[example.input_ids]):
        ids, labels = list(example.input_ids), [IGNORED] * len(example.input_ids)
        ids[position], labels[position] = vocabulary.mask_id, ids[position]
        masked.append(replace(example, input_ids=ids, labels=labels))
    return masked


def collate(examples: Sequence[Example], *, pad_id: int, decode: Decode | None = None) -> Batch:
    """Return a Batch of the examples, padded at the end to the longest.

    Padding has token `pad_id`, type 0, mask 0 and no target. decode: the vocabulary's, for the tokens in a printed
    batch.

    Raises: ValueError for no examples; TypeError for ids that are not integers.
    """
    ids = [example.input_ids for example in examples]
    batch = pad(ids, [example.token_type_ids for example in examples], pad_id=pad_id)
    batch.labels = pad_rows([example.labels for example in examples], IGNORED)
    batch.next_sentence_label = np.array([example.next_sentence_label for example in examples])
    batch.names = {"input_ids": decode, "labels": decode} if decode else {}
    return batch
