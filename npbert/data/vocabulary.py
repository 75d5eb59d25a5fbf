"""Vocabulary: the tokens, their ids, and the special tokens."""

from collections.abc import Mapping, Sequence
from textwrap import fill

import numpy as np

from npbert.compute import Array
from npbert.display import titled
from npbert.io import did_you_mean

_SPECIAL = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
SPECIAL_TOKENS = tuple(_SPECIAL.values())


class Vocabulary:
    """Tokens, whose ids are their places, with the special tokens among them.

    special: the special tokens, by Hugging Face's names: cls_token is the token of `cls_id`.

    `len(vocabulary)` is V. `pad_id`, `cls_id`, `sep_id` and `mask_id` are the ids of the special tokens. `word_ids` are
    the ids of all others, the only ones that may be masked or replace a masked word; `is_word` (V,) is True for them.
    `continues` (V,) is True for tokens that continue the word before, as ##ing.

    Raises: ValueError if a special token is missing.
    """

    pad_id: int
    cls_id: int
    sep_id: int
    mask_id: int

    def __init__(self, tokens: Sequence[str], special: Mapping[str, str] = _SPECIAL) -> None:
        self.tokens, self.special = list(tokens), special
        self._ids = {token: index for index, token in enumerate(tokens)}
        for name, token in special.items():
            if token not in self._ids:
                raise ValueError(f"the vocabulary has no {token}, wanted every special token")
            setattr(self, name.replace("_token", "_id"), self._ids[token])
        self.is_word: Array = np.array([token not in special.values() for token in tokens])
        self.word_ids: Array = np.flatnonzero(self.is_word)
        self.continues: Array = np.array([token.startswith("##") for token in tokens])

    def __repr__(self) -> str:
        return titled(f"Vocabulary of {len(self)} tokens", fill(" ".join(self.tokens), 100))

    def __len__(self) -> int:
        return len(self.tokens)

    def ids(self, words: Sequence[str]) -> list[int]:
        """Return the ids of the words. Raises: ValueError with the words that are not in the vocabulary."""
        unknown = [word for word in words if word not in self._ids]
        if unknown:
            hint = did_you_mean(unknown[0], self.tokens)
            raise ValueError(f"not in the vocabulary: {', '.join(map(repr, unknown))}{hint}")
        return [self._ids[word] for word in words]

    def decode(self, ids: Sequence[int] | Array) -> list[str]:
        """Return the token of each id."""
        return [self.tokens[index] for index in ids]
