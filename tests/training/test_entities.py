"""Entities and their precision, recall and F1: by hand, and against seqeval."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from npbert.inference import find_entities
from npbert.training.span_metrics import EntityScores, entity_scores

TAGS = ["O", *(f"{letter}-{type_}" for letter in "BIES" for type_ in ("PER", "LOC", "X-Y")), "B", "I", "E", "S"]
tags = st.sampled_from(["O", "B-PER", "I-PER", "E-PER", "I-LOC"]) | st.sampled_from(TAGS)  # so that entities agree


@pytest.mark.parametrize(
    ("tags", "entities"),
    [
        ("O O", []),
        ("B-PER I-PER O B-LOC", [("PER", 0, 2), ("LOC", 3, 4)]),
        ("B-PER B-PER", [("PER", 0, 1), ("PER", 1, 2)]),
        ("O I-PER I-PER", [("PER", 1, 3)]),
        ("B-PER I-LOC", [("PER", 0, 1), ("LOC", 1, 2)]),
        ("B-PER O I-PER", [("PER", 0, 1), ("PER", 2, 3)]),
        ("B-PER I-PER E-PER S-PER S-PER", [("PER", 0, 3), ("PER", 3, 4), ("PER", 4, 5)]),
        ("I-PER E-PER I-PER E-PER E-PER", [("PER", 0, 2), ("PER", 2, 4), ("PER", 4, 5)]),
        ("S-PER I-PER", [("PER", 0, 1), ("PER", 1, 2)]),
        ("B-X-Y I-X-Y I-X", [("X-Y", 0, 2), ("X", 2, 3)]),
        ("O B I O I", [("", 1, 3), ("", 4, 5)]),
    ],
)
def test_the_entities_of_a_sentence(tags, entities):
    assert [tuple(entity) for entity in find_entities(np.array(tags.split()))] == entities


SOME_RIGHT = "B-PER I-PER O B-ORG, B-ORG O O B-ORG, B-LOC"  # the others err by type, by length, by place


@pytest.mark.parametrize(
    ("predicted", "gold", "scores"),
    [
        (SOME_RIGHT, "B-PER I-PER O B-LOC, B-ORG I-ORG O O, B-LOC", (2 / 5, 2 / 4, 2 * 2 / (5 + 4))),
        ("B-PER, O", "O, B-PER", (0, 0, 0)),
        *((predicted, gold, (0, 0, 0)) for predicted, gold in (("O", "B-PER"), ("B-PER", "O"), ("O", "O"), ("", ""))),
    ],
)
def test_scores_by_hand(predicted, gold, scores):
    got = entity_scores(*([sentence.split() for sentence in tags.split(",")] for tags in (predicted, gold)))
    assert got == pytest.approx(EntityScores(*scores))
    assert all(type(score) is float for score in got)


@pytest.mark.parametrize("reference", ["seqeval.metrics.sequence_labeling"], indirect=True)
@given(st.lists(st.lists(st.tuples(tags, tags), max_size=8), min_size=1, max_size=4))
@settings(max_examples=100)
@example([[("B-PER", "O")], []])
def test_equal_seqeval(reference, corpus):
    predicted, gold = ([[pair[side] for pair in sentence] for sentence in corpus] for side in (0, 1))
    *expected, _ = reference.precision_recall_fscore_support(gold, predicted, average="micro", zero_division=0)
    assert entity_scores(predicted, gold) == pytest.approx(tuple(expected), rel=1e-12, abs=1e-15)
    for sentence in gold:
        entities = [(kind.strip("_"), first, last + 1) for kind, first, last in reference.get_entities(sentence)]
        assert find_entities(sentence) == entities


@pytest.mark.parametrize(
    ("predicted", "gold", "error", "message"),
    [
        ([["O"]], [["O"], ["O"]], ValueError, "predicted has 1 sentences, but gold has 2"),
        ([], [], ValueError, "predicted and gold are empty, wanted at least one sentence"),
        ([["O"], ["O", "O"]], [["O"], ["O"]], ValueError, r"predicted\[1\] has 2 tags, but gold\[1\] 1"),
        ([["O", "X-PER"]], [["O", "O"]], ValueError, r"tags\[1\] is 'X-PER', wanted O, or B, I, E or S with a type"),
        *(([[wrong]], [["O"]], ValueError, rf"tags\[0\] is {wrong!r}") for wrong in ("O-PER", "", 3)),
        (["O", "O"], ["O", "O"], TypeError, "tags are the string 'O', wanted a list of tags for each sentence"),
    ],
)
def test_wrong_input(predicted, gold, error, message):
    with pytest.raises(error, match=message):
        entity_scores(predicted, gold)
