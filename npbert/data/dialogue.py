"""The toy dialogues, in 6 lines or in 9, and their vocabulary of whole words.

They are from many BERT tutorials, with their slips ("Thanks you").
"""

from typing import NamedTuple

from npbert.data.vocabulary import SPECIAL_TOKENS, Vocabulary
from npbert.display import titled
from npbert.io import Wanted

DIALOGUES = {
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


class Dialogue(NamedTuple):
    """A dialogue as text, its vocabulary, and its lines as lists of word ids."""

    text: tuple[str, ...]
    vocabulary: Vocabulary
    lines: list[list[int]]

    def __repr__(self) -> str:
        rows = [f"{number}: {line}" for number, line in enumerate(self.text)]
        return titled(f"Dialogue of {len(self.text)} lines in {len(self.vocabulary)} tokens", *rows)


def split_words(line: str) -> list[str]:
    """Return the words of a line, in lower case and without `. , ! ? -`."""
    return line.lower().translate(str.maketrans("", "", PUNCTUATION)).split()


def load_dialogue(num_lines: int) -> Dialogue:
    """Return the dialogue of `num_lines` lines. Raises: ValueError unless it is 6 or 9."""
    Wanted("6 or 9", DIALOGUES.__contains__).check("num_lines", num_lines)
    text = DIALOGUES[num_lines]
    words = [split_words(line) for line in text]
    vocabulary = Vocabulary([*SPECIAL_TOKENS, *sorted({word for line in words for word in line})])
    return Dialogue(text, vocabulary, [vocabulary.ids(line) for line in words])
