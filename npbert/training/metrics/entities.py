"""Entities: a tagger is right about a name only when it has all of its words, no other, and its type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from npbert.inference.entities import find_entities
from npbert.training.metrics.counts import f1_from_counts, ratio


class EntityScores(NamedTuple):
    """precision = hits / predicted   recall = hits / gold   f1, their harmonic mean; each is 0 where it is 0 / 0."""

    precision: float
    recall: float
    f1: float


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
