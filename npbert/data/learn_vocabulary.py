"""Learning a WordPiece vocabulary from text, with the library `tokenizers`; the same text gives the same vocabulary."""

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from npbert.io.errors import InputError, Wanted
from npbert.io.extras import import_extra
from npbert.io.files import FileError, read_text

MOST_CHARACTERS = 1000
"""The most different characters that a learned vocabulary has; a word with another is [UNK]."""

LONGEST_WORD = 100
"""The most characters that a word may have. WordPiece makes [UNK] of a longer one, so there is nothing to learn from
it, and the time to learn would grow with the square of its length."""

_CHINESE = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f"
_PARTS = re.compile(rf"(?s).{{1,10000}}(?=\s|$)|\S{{1,10000}}(?=[{_CHINESE}])|\S+")
"""Parts of a line, which may be as long as a book: cut at spaces, or else before a Chinese character, which is a word
by itself."""

_MOST = 2**31 - 1
COUNT = Wanted(f"a number from 1 to {_MOST}", lambda value: 1 <= value <= _MOST)
"""The sizes and frequencies that the library takes."""

THREAD = "npbert vocabulary"
"""The name of the thread on which the library learns. A program that ends while it does must end without its help."""


def learn_vocabulary(
    files: Sequence[str | Path], *, special_tokens: Sequence[str], vocab_size: int, min_frequency: int, lowercase: bool
) -> dict[str, int]:
    """The ids of at most `vocab_size` tokens: the special ones, the characters of the text, and frequent pieces.

    min_frequency: how often a piece of several characters must occur to be kept. (Wu et al. 2016, section 4.1.)

    Ctrl-C is heard at any time.

    Raises: FileError when a file is empty or not UTF-8, ValueError for a vocab_size with no room for the special
    tokens and the characters of the text, or a min_frequency below 1.
    """
    COUNT.check("vocab_size", vocab_size)
    COUNT.check("min_frequency", min_frequency)
    library = import_extra("tokenizers", extra="hf")
    # Two of them: the one that learns is locked meanwhile, and could not clean the text that it learns from.
    cleaner, learner = (library.BertWordPieceTokenizer(lowercase=lowercase) for _ in range(2))
    characters, pieces = _alphabet(cleaner, files)
    first = [*special_tokens, *pieces]
    if vocab_size < len(first):
        tokens = f"{len(special_tokens)} special tokens, and the characters of the text at the start of words and"
        raise InputError(what="vocab_size", got=vocab_size, wanted=f"at least {len(first)}: {tokens} within them")
    _interruptible(
        (" ".join(words) for words in _words(cleaner, files)),
        lambda texts: learner.train_from_iterator(
            texts,
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            special_tokens=first,  # left alone, the library numbers pieces in another order each time, and ties with it
            initial_alphabet=characters,
            limit_alphabet=len(characters),
            show_progress=False,
        ),
    )
    vocabulary: dict[str, int] = learner.get_vocab()
    return vocabulary


def _alphabet(cleaner: Any, files: Sequence[str | Path]) -> tuple[list[str], list[str]]:
    """The most frequent characters of the text, at most MOST_CHARACTERS, and the pieces of one of them: at the
    beginning of a word, and after it."""
    words = Counter(word for words in _words(cleaner, files) for word in words)
    counts: Counter[str] = Counter()
    for word, count in words.items():
        for character in word:
            counts[character] += count
    characters = sorted(counts, key=lambda character: (-counts[character], character))[:MOST_CHARACTERS]
    within = {character for word in words for character in word[1:]} & set(characters)
    return characters, [*sorted(characters), *(f"##{character}" for character in sorted(within))]


def _words(cleaner: Any, files: Sequence[str | Path]) -> Iterator[list[str]]:
    """The words of each line, or part of a line, cleaned; without those that are longer than LONGEST_WORD."""
    clean, split = cleaner.normalizer.normalize_str, cleaner.pre_tokenizer.pre_tokenize_str
    for file in map(Path, files):
        text = read_text(file)
        if not text.strip():
            raise FileError(f"{file} is empty, wanted text")
        for line in text.splitlines():
            for part in _PARTS.findall(line):
                yield [word for word, _ in split(clean(part)) if len(word) <= LONGEST_WORD]


def _interruptible(texts: Iterator[str], learn: Callable[[Iterator[str]], object]) -> None:
    """learn(texts) on another thread: the library does not hear Ctrl-C while it counts pairs, but this thread does."""
    errors: list[BaseException] = []
    stop = threading.Event()

    def until_stopped() -> Iterator[str]:
        for text in texts:
            if stop.is_set():
                raise KeyboardInterrupt
            yield text

    def call() -> None:
        try:
            learn(until_stopped())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=call, name=THREAD, daemon=True)
    try:
        thread.start()  # Ctrl-C may come in here, when the other thread is at work already
        while thread.is_alive():
            thread.join(0.1)
    finally:
        stop.set()
        if thread.is_alive():
            thread.join(0.5)  # it ends at once, or does not need Python any more
    for error in errors:
        raise error
