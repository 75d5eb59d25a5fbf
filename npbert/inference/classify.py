"""Labels: of texts, by a fine-tuned model (Classify) or by a few examples of each label (ClassCenters); and of words,
with the named entities that they make (Tag)."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.data import Encoding
from npbert.inference.embed import Embed, Hit, scaled, similarity
from npbert.inference.task import ForTexts
from npbert.io import InputError
from npbert.layers import Softmax
from npbert.models import BertForSequenceClassification, BertForTokenClassification

_LETTERS = {"B", "I", "E", "S"}


class Label(NamedTuple):
    """The most probable label, its probability, and the probabilities of all labels by name."""

    label: str
    score: float
    scores: dict[str, float]


class Classify(ForTexts[Label | float]):
    """classify(text) -> a Label, or for a regression a float; for several texts, a list. A pair of texts is a tuple.

    Warns: of texts cut to `max_length`.
    """

    model_class = BertForSequenceClassification
    model: BertForSequenceClassification
    one = (str, tuple)

    def result(self, text: Any, encoding: Any, logits: Array) -> Label | float:
        if self.model.config.num_labels == 1:
            return float(logits[0])
        return best_label(Softmax()(logits), self.model.config.label_names)

    def rerank(self, query: str, texts: Iterable[str]) -> list[Hit]:
        """Return the index of each text with its score for the query, best first; the lower index first for equal
        scores.

        A search by vectors reads query and text separately: it is fast, and its vectors can be stored. A cross-encoder,
        a model of pairs with one label, reads both together: it is more accurate, and takes a forward pass for each
        pair. So the first finds some texts, and the second sorts them. (Nogueira & Cho 2019, "Passage re-ranking with
        BERT".)

        Raises: InputError for a model with several labels.
        """
        labels = self.model.config.num_labels
        if labels != 1:
            raise InputError(f"the model has {labels} labels, wanted one, the score of a pair of texts")
        scores: list[Any] = self.results([(query, text) for text in texts])
        return sorted(map(Hit, range(len(scores)), scores), key=lambda hit: -hit.score)


def best_label(scores: Array, names: Sequence[str]) -> Label:
    """Return the label with the highest of the scores (C,)."""
    by_name = dict(zip(names, scores.tolist(), strict=True))
    best = names[int(scores.argmax())]
    return Label(best, by_name[best], by_name)


class ClassCenters:
    """classify(texts) -> a Label for each: the label of the most similar center, with the cosine to each center.

    The center of a label is the mean of the vectors, of length 1, of its examples. (Snell et al. 2017, "Prototypical
    networks for few-shot learning", section 2.2.)

    texts, labels: the examples, a few of each label.
    """

    def __init__(self, embed: Embed, texts: Sequence[str], labels: Sequence[str]) -> None:
        self.embed, self.labels = embed, sorted(set(labels))
        vectors, of_each = scaled(embed(texts)), np.array(labels)
        self.centers = np.stack([vectors[of_each == label].mean(axis=0) for label in self.labels])

    def __call__(self, texts: Iterable[str]) -> list[Label]:
        return [best_label(scores, self.labels) for scores in similarity(self.embed(texts), self.centers)]


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


class Tag(ForTexts[TaggedText]):
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

    def result(self, text: str | Sequence[str], encoding: Any, logits: Array) -> TaggedText:
        names, words = self.model.config.label_names, []
        whole = text if isinstance(text, str) else " ".join(text)
        for scores, number in zip(Softmax()(logits), first_tokens(encoding), strict=True):
            tag, score, _ = best_label(scores, names)
            if isinstance(text, str):
                start, end = encoding.word_to_chars(number)
            else:
                start = sum(len(word) + 1 for word in text[:number])
                end = start + len(text[number])
            words.append(TaggedWord(whole[start:end], tag, score, start, end))
        entities = []
        with suppress(ValueError):  # tags without such a scheme
            for type_, first, last in find_entities([word.tag for word in words]):
                parts = words[first:last]
                start, end, score = parts[0].start, parts[-1].end, sum(word.score for word in parts) / len(parts)
                entities.append(NamedEntity(type_, whole[start:end], score, start, end))
        rest = {word for part in encoding.overflowing for word in part.word_ids}
        return TaggedText(words, entities, len(rest.difference(encoding.word_ids)))

    def _encode(self, texts: list[Any]) -> list[Encoding]:
        """Return the texts, or lists of words, as tokens."""
        are_words = not all(isinstance(text, str) for text in texts)
        return self.tokenizer.encode(texts, max_length=self.max_length, is_pretokenized=are_words)

    def logits(self, encodings: Sequence[Encoding]) -> list[Array]:
        """Return an array (W, C) for each text: the logits of its W words, by their first tokens."""
        of_tokens = zip(super().logits(encodings), encodings, strict=True)
        return [logits[[*first_tokens(encoding).values()]] for logits, encoding in of_tokens]


def first_tokens(encoding: Encoding) -> dict[int, int]:
    """Return the place of the first token of each word, by the word's index, without [CLS] and [SEP]."""
    places: dict[int, int] = {}
    for token, word in enumerate(encoding.word_ids):
        if word is not None:
            places.setdefault(word, token)
    return places


def find_entities(tags: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return the entities of one sentence, from a tag a word: O, or a letter and a type, such as B-PER. An entity is
    (type, start, end): the words words[start:end] name something of that type.

    B begins an entity, I is inside one, E ends one, S is a single word, O is outside. A tag continues an entity if it
    is I or E of the same type, after B or I; any other tag but O begins one. This reads IOB2, IOBES and IOE2. In tags
    without a scheme, an I after O or another type begins an entity, as in conlleval, the script of the CoNLL tasks, and
    seqeval. A letter alone has the type "".

    Raises: ValueError for another tag; TypeError for one string instead of a list.
    """
    if isinstance(tags, str):
        raise TypeError(f"tags are the string {tags!r}, wanted a list of tags for each sentence")
    entities: list[tuple[str, int, int]] = []
    open_type = None  # the type that the next word may continue
    for position, tag in enumerate(tags):
        letter, _, type_ = tag.partition("-")
        if tag != "O" and letter not in _LETTERS:
            raise ValueError(f"tags[{position}] is {tag!r}, wanted O, or B, I, E or S with a type, as in B-PER")
        if letter in {"I", "E"} and type_ == open_type:
            entities[-1] = type_, entities[-1][1], position + 1
        elif letter in _LETTERS:
            entities.append((type_, position, position + 1))
        open_type = type_ if letter in {"B", "I"} else None
    return entities
