"""Vocabulary: a word is an id, an id is a word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from npbert.compute import Array

SPECIAL_TOKENS = ("[PAD]", "[CLS]", "[SEP]", "[MASK]")


class Vocabulary:
    """The special tokens as ids 0 to 3, then all words in sorted order: the same ids on every machine.

    `len(vocabulary)` is V. `word_ids` are the ids of the ordinary words, the only ones that may be masked or stand in
    for a masked word; `is_word` (V,) says the same by id. `continues` (V,) says which tokens are a part of the word
    before: none, as every token is a whole word.

    Raises: ValueError when a word is a special token.
    """

    def __init__(self, words: Iterable[str]) -> None:
        words = set(words)
        if words & set(SPECIAL_TOKENS):
            raise ValueError(f"special tokens cannot be words: {', '.join(sorted(words & set(SPECIAL_TOKENS)))}")
        self.tokens = [*SPECIAL_TOKENS, *sorted(words)]
        self._ids = {token: index for index, token in enumerate(self.tokens)}
        self.pad_id, self.cls_id, self.sep_id, self.mask_id = range(len(SPECIAL_TOKENS))
        self.word_ids: Array = np.arange(len(SPECIAL_TOKENS), len(self.tokens))
        self.is_word: Array = np.arange(len(self.tokens)) >= len(SPECIAL_TOKENS)
        self.continues: Array = np.zeros(len(self.tokens), bool)

    def __len__(self) -> int:
        return len(self.tokens)

    def encode(self, words: Iterable[str]) -> list[int]:
        """The ids of the words. Raises: ValueError that names the words which are not in the vocabulary."""
        words = list(words)
        unknown = [word for word in words if word not in self._ids]
        if unknown:
            raise ValueError(f"not in the vocabulary of {len(self)} tokens: {', '.join(map(repr, unknown))}")
        return [self._ids[word] for word in words]

    def decode(self, ids: Sequence[int] | Array) -> list[str]:
        """The words of the ids."""
        return [self.tokens[index] for index in ids]
