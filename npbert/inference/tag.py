"""Tag: a tag for every word of a text, and the entities that the tags make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.data.tokenizer import Encoding
from npbert.inference.entities import find_entities
from npbert.inference.task import Task
from npbert.layers import Softmax
from npbert.models import BertForTokenClassification


class TaggedWord(NamedTuple):
    """A word, its most probable tag, the probability of that, and where the word stands: it is text[start:end]."""

    word: str
    tag: str
    score: float
    start: int
    end: int


class NamedEntity(NamedTuple):
    """text[start:end] names something of that type. The score is the mean of those of its words."""

    type: str
    text: str
    score: float
    start: int
    end: int


class TaggedText(NamedTuple):
    """The words of a text with their tags, the entities among them, and how many words were cut off and have no tag."""

    words: list[TaggedWord]
    entities: list[NamedEntity]
    cut: int


class Tag(Task):
    """tag(text) -> a TaggedText; of a list of texts a list. A text that is a list of words is not split any further.

    A text is split at spaces and punctuation, as the tokenizer does it, and a word has the tag of its first token, as
    in training. Places in a list of words are those in the text that has one space between two words. There are
    entities where the tags are as in B-PER, I-PER and O; those of parts of speech make none. What has no token, as a
    control character, has no tag either. (Devlin et al. 2018, section 5.3.)

    Warns: of texts that are longer than the model takes, and are cut.
    Raises: TypeError for what is neither a text nor a list of words.
    """

    model_class = BertForTokenClassification

    def __call__(self, texts: str | Iterable[str | Sequence[str]]) -> Any:
        if isinstance(texts, str):
            return self([texts])[0]
        texts = list(texts)
        encodings = self._encode(texts)
        names = self.model.config.label_names
        results = []
        for text, encoding, logits in zip(texts, encodings, self.logits(encodings), strict=True):
            best = logits.argmax(axis=1)
            scores = Softmax()(logits)[range(len(best)), best]
            words = [
                TaggedWord(word, names[number], float(score), start, end)
                for (word, start, end), number, score in zip(_words(text, encoding), best, scores, strict=True)
            ]
            whole = text if isinstance(text, str) else " ".join(text)
            results.append(TaggedText(words, _entities(whole, words), _count_cut(encoding)))
        return results

    def logits(self, encodings: Sequence[Encoding]) -> list[Array]:
        """For each text an array (W, C): what the model says of its W words, each by its first token."""

        def compute(batch: Batch, numbers: Sequence[int]) -> Iterator[Array]:
            for row, number in zip(self.model(batch), numbers, strict=True):
                yield row[[token for token, _ in first_tokens(encodings[number])]]

        return self.run(encodings, compute)

    def _encode(self, texts: Sequence[str | Sequence[str]]) -> list[Encoding]:
        if all(isinstance(text, str) for text in texts):
            return self.encode(texts)  # type: ignore[arg-type]
        for number, text in enumerate(texts, start=1):
            if isinstance(text, str) or not all(isinstance(word, str) for word in text):
                raise TypeError(f"text {number} is {text!r}, wanted a list of words, as the others are")
        encodings = self.tokenizer.encode_words(texts, max_length=self.max_length)
        self.warn_of_cuts(encodings)
        return encodings


def first_tokens(encoding: Encoding) -> list[tuple[int, int]]:
    """The place of the first token of each word, and the number of the word: never of [CLS] and [SEP]."""
    words = encoding.word_ids
    return [
        (token, word)
        for token, (word, before) in enumerate(zip(words, [None, *words], strict=False))
        if word is not None and word != before
    ]


def _words(text: str | Sequence[str], encoding: Encoding) -> list[tuple[str, int, int]]:
    """The words of a text that have a token, each with its place in the text."""
    if not isinstance(text, str):
        starts = [0]
        for word in text:
            starts.append(starts[-1] + len(word) + 1)
        return [(text[word], starts[word], starts[word] + len(text[word])) for _, word in first_tokens(encoding)]
    ends = {word: offsets[1] for word, offsets in zip(encoding.word_ids, encoding.offsets, strict=True)}
    places = [(encoding.offsets[token][0], ends[word]) for token, word in first_tokens(encoding)]
    return [(text[start:end], start, end) for start, end in places]


def _entities(text: str, words: Sequence[TaggedWord]) -> list[NamedEntity]:
    try:
        entities = find_entities([word.tag for word in words])
    except ValueError:  # the tags follow no such scheme
        return []
    found = []
    for type_, first, last in entities:
        parts = words[first:last]
        start, end = parts[0].start, parts[-1].end
        found.append(NamedEntity(type_, text[start:end], sum(word.score for word in parts) / len(parts), start, end))
    return found


def _count_cut(encoding: Encoding) -> int:
    """How many words have no token in what is left of the text, for it was too long."""
    rest = {word for part in encoding.overflowing for word in part.word_ids if word is not None}
    return len(rest - set(encoding.word_ids))
