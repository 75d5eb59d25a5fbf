"""Entities: a tagger is right about a name only when it has all of its words, no other, and its type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from npbert.training.metrics.counts import f1_from_counts, ratio

_LETTERS = {"B", "I", "E", "S"}


class Entity(NamedTuple):
    """The words start to end − 1 of a sentence, as in words[start:end], name something of that type."""

    type: str
    start: int
    end: int


class EntityScores(NamedTuple):
    """precision = hits / predicted   recall = hits / gold   f1, their harmonic mean; each is 0 where it is 0 / 0."""

    precision: float
    recall: float
    f1: float


def find_entities(tags: Sequence[str]) -> list[Entity]:
    """The entities of one sentence, from a tag a word: O, or a letter and a type, as in B-PER.

    B begins an entity, I is inside one, E ends one, S is one by itself, O is outside. A tag continues the entity before
    it when it is I or E, of that entity's type, and the word before is B or I; any other than O begins one. So IOB2,
    IOBES and IOE2 are all read, and tags that follow no scheme are read as well as can be: an I after an O, or after
    another type, begins an entity. (So does conlleval, the script of the CoNLL tasks, and after it seqeval.) A letter
    alone has the type "".

    Raises: ValueError for another tag; TypeError for one string in place of a list.
    """
    if isinstance(tags, str):
        raise TypeError(f"tags are the string {tags!r}, wanted a list of tags for each sentence")
    entities: list[Entity] = []
    open_type = None  # of the entity that the next word may continue
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


def entity_scores(predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> EntityScores:
    """Precision, recall and F1 over the entities of all sentences together (the micro average), from lists of tags.

    A predicted entity is a hit when the gold has one of the same type, start and end; half an entity counts nothing.
    (Tjong Kim Sang and De Meulder 2003, "Introduction to the CoNLL-2003 shared task", section 2.)

    Raises: ValueError for no sentence, for another number of sentences or of a sentence's tags, or for what is no tag;
    TypeError for a string in place of a sentence's list of tags.
    """
    if len(predicted) != len(gold):
        raise ValueError(f"predicted has {len(predicted)} sentences, but gold has {len(gold)}")
    if not len(gold):
        raise ValueError("predicted and gold are empty, wanted at least one sentence")
    hits = num_predicted = num_gold = 0
    for number, (predicted_tags, gold_tags) in enumerate(zip(predicted, gold, strict=True)):
        if len(predicted_tags) != len(gold_tags):
            raise ValueError(f"predicted[{number}] has {len(predicted_tags)} tags, but gold[{number}] {len(gold_tags)}")
        predicted_entities, gold_entities = find_entities(predicted_tags), find_entities(gold_tags)
        hits += len(set(predicted_entities) & set(gold_entities))
        num_predicted += len(predicted_entities)
        num_gold += len(gold_entities)
    return EntityScores(
        ratio(hits, num_predicted), ratio(hits, num_gold), f1_from_counts(hits, num_predicted, num_gold)
    )
