"""The toy dialogues, in 6 lines or in 9, and their vocabulary of whole words.

They are those of many BERT tutorials, with their slips ("Thanks you") as they are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import fill

import numpy as np

from npbert.compute import Array
from npbert.data.tokenizer import Tokenizer
from npbert.display import Row, Sheet, Shown
from npbert.io.extras import import_extra

DIALOGUES: dict[int, tuple[str, ...]] = {
    6: (
        "Hello, how are you? I am Romeo.",
        "Hello, Romeo. My name is Juliet. Nice to meet you.",
        "Nice to meet you too. How are you today?",
        "Great. My baseball team won the competition.",
        "Oh Congratulations, Juliet",
        "Thanks you Romeo",
    ),
    9: (
        "Hello, how are you? I am Romeo.",
        "Hello, Romeo My name is Juliet. Nice to meet you.",
        "Nice meet you too. How are you today?",
        "Great. My baseball team won the competition.",
        "Oh Congratulations, Juliet",
        "Thank you Romeo",
        "Where are you going today?",
        "I am going shopping. What about you?",
        "I am going to visit my grandmother. she is not very well",
    ),
}

PUNCTUATION = ".,!?-"
SPECIAL_TOKENS = ("[PAD]", "[CLS]", "[SEP]", "[MASK]")
UNKNOWN = "[UNK]"


class Vocabulary(Shown):
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

    def _sheet(self) -> Sheet:
        return Sheet(f"Vocabulary of {len(self)} tokens", fill(" ".join(self.tokens), 100))

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


@dataclass(frozen=True, repr=False)
class Dialogue(Shown):
    """A dialogue as text, its vocabulary, and its lines as lists of word ids."""

    text: tuple[str, ...]
    vocabulary: Vocabulary
    lines: list[list[int]]

    def _sheet(self) -> Sheet:
        rows = [Row(str(number), (line,)) for number, line in enumerate(self.text)]
        return Sheet(f"Dialogue of {len(self.text)} lines in {len(self.vocabulary)} tokens", rows=rows)


def split_words(line: str) -> list[str]:
    """The words of a line, in lower case and without `. , ! ? -`."""
    return line.lower().translate(str.maketrans("", "", PUNCTUATION)).split()


def load_dialogue(num_lines: int) -> Dialogue:
    """The dialogue of `num_lines` lines. Raises: ValueError unless there is one."""
    if num_lines not in DIALOGUES:
        wanted = " or ".join(map(str, DIALOGUES))
        raise ValueError(f"there is no dialogue of {num_lines!r} lines, wanted {wanted}")
    text = DIALOGUES[num_lines]
    words = [split_words(line) for line in text]
    vocabulary = Vocabulary(word for line in words for word in line)
    return Dialogue(text, vocabulary, [vocabulary.encode(line) for line in words])


def word_tokenizer(vocabulary: Vocabulary) -> Tokenizer:
    """A Tokenizer with the ids of `vocabulary`, and after them [UNK] for every other word: one token more.

    It cleans a text as `split_words` does: lower case, without the punctuation. (Extra: hf.)
    """
    library = import_extra("tokenizers", extra="hf")
    ids = {token: number for number, token in enumerate([*vocabulary.tokens, UNKNOWN])}
    tokenizer = library.BertWordPieceTokenizer(ids, lowercase=True)
    no_punctuation = library.normalizers.Replace(library.Regex(f"[{PUNCTUATION}]"), "")
    tokenizer.normalizer = library.normalizers.Sequence([tokenizer.normalizer, no_punctuation])
    return Tokenizer(tokenizer)
