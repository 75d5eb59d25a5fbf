"""Learning a WordPiece vocabulary from text, with the library `tokenizers`; the same text gives the same vocabulary."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from npbert.data.corpus import Corpus
from npbert.data.tokenizer_config import SPECIAL
from npbert.io import InputError, Wanted, import_extra

MOST_CHARACTERS = 1000
"""The most different characters in a learned vocabulary; a word with another one is [UNK]."""

LONGEST_WORD = 100
"""The most characters of a word. WordPiece turns longer words into [UNK], so they teach nothing, and the learning time
grows with the square of their length."""

_AT_ONCE = 10_000
"""The most repetitions of a word in one text for the library."""

_MOST = 2**31 - 1
COUNT = Wanted(f"a number from 1 to {_MOST}", lambda value: 1 <= value <= _MOST)
"""The range of sizes and frequencies of the library."""


def learn_vocabulary(files: Sequence[str | Path], *, vocab_size: int, min_frequency: int, lowercase: bool) -> list[str]:
    """Return at most `vocab_size` tokens, in the order of their ids: the special ones, the characters of the text, and
    frequent pieces.

    min_frequency: the least count of a piece of several characters. (Wu et al. 2016, section 4.1.)

    Raises: FileError for a file that is empty or not UTF-8; ValueError for a vocab_size below the number of special
    tokens and characters, or a min_frequency below 1.
    """
    COUNT.check("vocab_size", vocab_size)
    COUNT.check("min_frequency", min_frequency)
    library = import_extra("tokenizers").BertWordPieceTokenizer(lowercase=lowercase)
    clean, split = library.normalizer.normalize_str, library.pre_tokenizer.pre_tokenize_str
    texts = chain.from_iterable(Corpus(files))
    words = Counter(word for text in texts for word, _ in split(clean(text)) if len(word) <= LONGEST_WORD)
    characters, pieces = _alphabet(words)
    first = [*SPECIAL.values(), *pieces]
    if vocab_size < len(first):
        tokens = f"{len(SPECIAL)} special tokens, and the characters of the text at the start of words and"
        raise InputError("vocab_size", vocab_size, f"at least {len(first)}: {tokens} within them")
    repeated = (
        f"{word} " * min(_AT_ONCE, count - done) for word, count in words.items() for done in range(0, count, _AT_ONCE)
    )
    library.train_from_iterator(
        repeated,
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=first,  # by default the library's order of pieces, and so of ties, changes each time
        initial_alphabet=characters,
        limit_alphabet=len(characters),
        show_progress=False,
    )
    ids: dict[str, int] = library.get_vocab()
    return sorted(ids, key=ids.__getitem__)


def _alphabet(words: Counter[str]) -> tuple[list[str], list[str]]:
    """Return the most frequent characters of the words, at most MOST_CHARACTERS, and their pieces: at the beginning of
    a word, and after it."""
    counts: Counter[str] = Counter()
    for word, count in words.items():
        for character in word:
            counts[character] += count
    characters = sorted(counts, key=lambda character: (-counts[character], character))[:MOST_CHARACTERS]
    within = {character for word in words for character in word[1:]} & set(characters)
    return characters, [*sorted(characters), *(f"##{character}" for character in sorted(within))]
