"""Entities and their precision, recall and F1: by hand, and against seqeval."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from npbert.training.metrics import Entity, EntityScores, entity_scores, find_entities

TAGS = ["O", *(f"{letter}-{type_}" for letter in "BIES" for type_ in ("PER", "LOC", "X-Y")), "B", "I", "E", "S"]


@pytest.fixture(scope="module")
def seqeval():
    return pytest.importorskip(
        "seqeval.metrics.sequence_labeling", reason="seqeval is not installed: pip install seqeval"
    )


@st.composite
def corpora(draw):
    """Predicted and gold tags of some sentences. Few tags are in use, so that entities agree, and some are long."""
    tags = st.sampled_from(draw(st.lists(st.sampled_from(TAGS), min_size=1, max_size=5)))
    predicted, gold = [], []
    for length in draw(st.lists(st.integers(0, 8), min_size=1, max_size=4)):
        sentence = draw(st.lists(tags, min_size=length, max_size=length))
        changed = draw(st.lists(st.none() | tags, min_size=length, max_size=length))
        gold.append(sentence)
        predicted.append([new or old for new, old in zip(changed, sentence, strict=True)])
    return predicted, gold


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
        ("O B I", [("", 1, 3)]),
        ("O I", [("", 1, 2)]),
    ],
)
def test_find_entities(tags, entities):
    found = find_entities(tags.split())
    assert found == entities
    assert all(isinstance(entity, Entity) for entity in found)


def test_an_entity_is_a_slice_of_the_words():
    words = ["Wolfgang", "Amadeus", "Mozart", "was", "born", "in", "Salzburg"]
    entities = find_entities(["B-PER", "I-PER", "I-PER", "O", "O", "O", "B-LOC"])
    assert [words[start:end] for _, start, end in entities] == [["Wolfgang", "Amadeus", "Mozart"], ["Salzburg"]]


def test_scores_by_hand():
    """5 entities are predicted, of 4; hits are the first and the last. The others err by type, by length, by place."""
    gold = [["B-PER", "I-PER", "O", "B-LOC"], ["B-ORG", "I-ORG", "O", "O"], ["B-LOC"]]
    predicted = [["B-PER", "I-PER", "O", "B-ORG"], ["B-ORG", "O", "O", "B-ORG"], ["B-LOC"]]
    precision, recall = 2 / 5, 2 / 4
    f1 = 2 * precision * recall / (precision + recall)
    assert entity_scores(predicted, gold) == pytest.approx(EntityScores(precision, recall, f1))


def test_the_same_place_in_another_sentence_is_no_hit():
    assert entity_scores([["B-PER"], ["O"]], [["O"], ["B-PER"]]) == (0, 0, 0)


@pytest.mark.parametrize(
    ("predicted", "gold"), [([["O"]], [["B-PER"]]), ([["B-PER"]], [["O"]]), ([["O"]], [["O"]]), ([[]], [[]])]
)
def test_no_entity_gives_zero(predicted, gold):
    scores = entity_scores(predicted, gold)
    assert scores == (0, 0, 0)
    assert all(type(score) is float for score in scores)


@settings(max_examples=200)
@given(st.lists(st.sampled_from(TAGS), max_size=12))
def test_entities_equal_seqeval(seqeval, tags):
    expected = [("" if type_ == "_" else type_, first, last + 1) for type_, first, last in seqeval.get_entities(tags)]
    assert find_entities(tags) == expected


@settings(max_examples=100)
@given(corpora())
@example(([["O", "O"]], [["O", "O"]]))
@example(([["B-PER"], []], [["O"], []]))
def test_scores_equal_seqeval(seqeval, corpus):
    predicted, gold = corpus
    *expected, _ = seqeval.precision_recall_fscore_support(gold, predicted, average="micro", zero_division=0)
    assert entity_scores(predicted, gold) == pytest.approx(tuple(expected), rel=1e-12, abs=1e-15)


def test_arrays_of_tags_are_read_too():
    tags = np.array(["B-PER", "I-PER", "O"])
    assert entity_scores([tags], [tags]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("predicted", "gold", "error", "message"),
    [
        ([["O"]], [["O"], ["O"]], ValueError, "predicted has 1 sentences, but gold has 2"),
        ([], [], ValueError, "predicted and gold are empty, wanted at least one sentence"),
        ([["O"], ["O", "O"]], [["O"], ["O"]], ValueError, r"predicted\[1\] has 2 tags, but gold\[1\] 1"),
        ([["O", "X-PER"]], [["O", "O"]], ValueError, r"tags\[1\] is 'X-PER', wanted O, or B, I, E or S with a type"),
        ([["O"]], [["O-PER"]], ValueError, r"tags\[0\] is 'O-PER'"),
        ([[""]], [["O"]], ValueError, r"tags\[0\] is ''"),
        ([[3]], [["O"]], ValueError, r"tags\[0\] is 3"),
        (["O", "O"], ["O", "O"], TypeError, "tags are the string 'O', wanted a list of tags for each sentence"),
    ],
)
def test_wrong_input(predicted, gold, error, message):
    with pytest.raises(error, match=message):
        entity_scores(predicted, gold)
