"""Learning a WordPiece vocabulary from text, with the library `tokenizers`; the same text gives the same vocabulary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from npbert.extras import import_extra
from npbert.files import FileError, read_text

MOST_CHARACTERS = 1000
"""How many different characters a learned vocabulary has at most; a word with another is [UNK]."""


def learn_vocabulary(
    files: Sequence[str | Path], *, special_tokens: Sequence[str], vocab_size: int, min_frequency: int, lowercase: bool
) -> dict[str, int]:
    """The ids of at most `vocab_size` tokens: the special ones, the characters of the text, and frequent pieces.

    min_frequency: how often a piece of several characters must occur to be kept. (Wu et al. 2016, section 4.1.)

    Raises: FileError when a file is empty or not UTF-8, ValueError for a vocab_size with no room for the special
    tokens and the characters of the text.
    """
    library = import_extra("tokenizers", extra="hf")
    learner = library.BertWordPieceTokenizer(lowercase=lowercase)
    characters, pieces = _alphabet(learner, files)
    first = [*special_tokens, *pieces]
    if vocab_size < len(first):
        raise ValueError(
            f"vocab_size is {vocab_size}, wanted at least {len(first)}: {len(special_tokens)} special tokens, and the "
            f"characters of the text at the beginning of words and within them"
        )
    learner.train_from_iterator(
        _lines(files),
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=first,  # left alone, the library numbers pieces in another order each time, and ties with it
        initial_alphabet=characters,
        limit_alphabet=len(characters),
        show_progress=False,
    )
    vocabulary: dict[str, int] = learner.get_vocab()
    return vocabulary


def _alphabet(learner: Any, files: Sequence[str | Path]) -> tuple[list[str], list[str]]:
    """The most frequent characters of the text, at most MOST_CHARACTERS, and the pieces of one of them: at the
    beginning of a word, and after it."""
    clean, split = learner.normalizer.normalize_str, learner.pre_tokenizer.pre_tokenize_str
    words = Counter(word for line in _lines(files) for word, _ in split(clean(line)))
    counts: Counter[str] = Counter()
    for word, count in words.items():
        for character in word:
            counts[character] += count
    characters = sorted(counts, key=lambda character: (-counts[character], character))[:MOST_CHARACTERS]
    within = {character for word in words for character in word[1:]} & set(characters)
    return characters, [*sorted(characters), *(f"##{character}" for character in sorted(within))]


def _lines(files: Sequence[str | Path]) -> Iterator[str]:
    for file in map(Path, files):
        text = read_text(file)
        if not text.strip():
            raise FileError(f"{file} is empty: there is nothing to learn from")
        yield from text.splitlines()
