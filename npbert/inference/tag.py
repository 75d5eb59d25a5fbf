"""Tag: a tag for every word of a text, and the named entities of the tags."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, overload

from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.data.tokenizer_files import Encoding
from npbert.inference.task import Task
from npbert.layers import Softmax
from npbert.models import BertForTokenClassification

_LETTERS = {"B", "I", "E", "S"}


class TaggedWord(NamedTuple):
    """A word, its most probable tag, the tag's probability, and the place of the word: text[start:end]."""

    word: str
    tag: str
    score: float
    start: int
    end: int


class NamedEntity(NamedTuple):
    """text[start:end] names something of that type. The score is the mean over its words."""

    type: str
    text: str
    score: float
    start: int
    end: int


class TaggedText(NamedTuple):
    """The words of a text with their tags, its entities, and the number of words that were cut off."""

    words: list[TaggedWord]
    entities: list[NamedEntity]
    cut: int


class Tag(Task):
    """tag(text) -> a TaggedText; for a list of texts, a list. A text may be a list of words.

    The tokenizer splits a text at spaces and punctuation. A word has the tag of its first token, as in training. Places
    in a list of words are those in the text with one space between two words. Tags such as B-PER, I-PER and O make
    entities; parts of speech do not. A word without a token, such as a control character, has no tag. (Devlin et al.
    2018, section 5.3.)

    Warns: of texts cut to the model's length.
    Raises: TypeError unless it is a text or a list of words.
    """

    model_class = BertForTokenClassification
    model: BertForTokenClassification

    @overload
    def __call__(self, texts: str) -> TaggedText: ...  # type: ignore[overload-overlap]  # a str is an Iterable[str], too

    @overload
    def __call__(self, texts: Iterable[str | Sequence[str]]) -> list[TaggedText]: ...

    def __call__(self, texts: str | Iterable[str | Sequence[str]]) -> TaggedText | list[TaggedText]:
        if isinstance(texts, str):
            return self([texts])[0]
        texts = list(texts)
        encodings = self.tokenize(texts)
        pairs = zip(texts, encodings, self.logits(encodings), strict=True)
        return [self._tagged(text, encoding, logits) for text, encoding, logits in pairs]

    def _tagged(self, text: str | Sequence[str], encoding: Encoding, logits: Array) -> TaggedText:
        probabilities, names = Softmax()(logits), self.model.config.label_names
        words = []
        for (word, start, end), row, p in zip(_words(text, encoding), logits, probabilities, strict=True):
            best = int(row.argmax())
            words.append(TaggedWord(word, names[best], float(p[best]), start, end))
        whole = text if isinstance(text, str) else " ".join(text)
        return TaggedText(words, _entities(whole, words), _count_cut(encoding))

    def tokenize(self, texts: Iterable[Any], path: str = "") -> list[Encoding]:
        """Return the texts, or lists of words, as tokens, cut to `max_length`. Warns of texts that were cut."""
        texts = list(texts)
        if all(isinstance(text, str) for text in texts):
            return super().tokenize(texts, path)
        for number, text in enumerate(texts, start=1):
            if isinstance(text, str) or not all(isinstance(word, str) for word in text):
                raise TypeError(f"text {number} is {text!r}, wanted a list of words, as the others are")
        encodings = self.tokenizer.encode_words(texts, max_length=self.max_length)
        self._warn_of_cuts(encodings, path)
        return encodings

    def logits(self, encodings: Sequence[Encoding]) -> list[Array]:
        """Return an array (W, C) for each text: the logits of its W words, by their first tokens."""

        def compute(batch: Batch, numbers: Sequence[int]) -> Iterator[Array]:
            for row, number in zip(self.model(batch), numbers, strict=True):
                yield row[[token for token, _ in first_tokens(encodings[number])]]

        return self.run(encodings, compute)


def first_tokens(encoding: Encoding) -> list[tuple[int, int]]:
    """Return the place of the first token of each word, and the word's index, without [CLS] and [SEP]."""
    words = encoding.word_ids
    return [
        (token, word)
        for token, (word, before) in enumerate(zip(words, [None, *words], strict=False))
        if word is not None and word != before
    ]


def _words(text: str | Sequence[str], encoding: Encoding) -> list[tuple[str, int, int]]:
    """Return the words of a text that have a token, each with its place in the text."""
    numbers = [word for _, word in first_tokens(encoding)]
    if isinstance(text, str):
        places = [encoding.word_to_chars(number) for number in numbers]
        return [(text[start:end], start, end) for start, end in places]
    starts = list(accumulate([len(word) + 1 for word in text], initial=0))
    return [(text[number], starts[number], starts[number + 1] - 1) for number in numbers]


def _entities(text: str, words: Sequence[TaggedWord]) -> list[NamedEntity]:
    try:
        entities = find_entities([word.tag for word in words])
    except ValueError:  # the tags have no such scheme
        return []
    found = []
    for type_, first, last in entities:
        parts = words[first:last]
        start, end = parts[0].start, parts[-1].end
        found.append(NamedEntity(type_, text[start:end], sum(word.score for word in parts) / len(parts), start, end))
    return found


def _count_cut(encoding: Encoding) -> int:
    """Return the number of words cut off from a text."""
    rest = {word for part in encoding.overflowing for word in part.word_ids if word is not None}
    return len(rest - set(encoding.word_ids))


class Entity(NamedTuple):
    """The words words[start:end] of a sentence name something of that type."""

    type: str
    start: int
    end: int


def find_entities(tags: Sequence[str]) -> list[Entity]:
    """Return the entities of one sentence, from a tag a word: O, or a letter and a type, such as B-PER.

    B begins an entity, I is inside one, E ends one, S is a single word, O is outside. A tag continues an entity if it
    is I or E of the same type, after B or I; any other tag but O begins one. This reads IOB2, IOBES and IOE2. In tags
    without a scheme, an I after O or another type begins an entity, as in conlleval, the script of the CoNLL tasks, and
    seqeval. A letter alone has the type "".

    Raises: ValueError for another tag; TypeError for one string instead of a list.
    """
    if isinstance(tags, str):
        raise TypeError(f"tags are the string {tags!r}, wanted a list of tags for each sentence")
    entities: list[Entity] = []
    open_type = None  # the type that the next word may continue
    for position, tag in enumerate(tags):
        letter, _, type_ = str(tag).partition("-")
        if tag != "O" and letter not in _LETTERS:
            raise ValueError(f"tags[{position}] is {tag!r}, wanted O, or B, I, E or S with a type, as in B-PER")
        if letter in {"I", "E"} and type_ == open_type:
            entities[-1] = entities[-1]._replace(end=position + 1)
        elif letter in _LETTERS:
            entities.append(Entity(type_, position, position + 1))
        open_type = type_ if letter in {"B", "I"} else None
    return entities
