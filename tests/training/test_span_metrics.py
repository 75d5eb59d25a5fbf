"""Entities, and SQuAD v1.1's exact match and F1: by hand, and against seqeval and the task's own script."""

import re
import string
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from npbert.inference import find_entities
from npbert.training.metrics import entity_scores, squad_scores

TAGS = ["O", *(f"{letter}-{type_}" for letter in "BIES" for type_ in ("PER", "LOC", "X-Y")), "B", "I", "E", "S"]
tags = st.sampled_from(["O", "B-PER", "I-PER", "E-PER", "I-LOC"]) | st.sampled_from(TAGS)  # so that entities agree


@pytest.mark.parametrize("reference", ["seqeval.metrics.sequence_labeling"], indirect=True)
@given(st.lists(st.lists(st.tuples(tags, tags), max_size=8), min_size=1, max_size=4))
@example([[("B-PER", "O")], []])
def test_equal_seqeval(reference, corpus):
    predicted, gold = ([[pair[side] for pair in sentence] for sentence in corpus] for side in (0, 1))
    *expected, _ = reference.precision_recall_fscore_support(gold, predicted, average="micro", zero_division=0)
    names = ("precision", "recall", "f1")
    wanted = dict(zip(names, expected, strict=True))
    assert entity_scores(predicted, gold) == pytest.approx(wanted, rel=1e-12, abs=1e-15)
    for sentence in gold:
        entities = [(kind.strip("_"), first, last + 1) for kind, first, last in reference.get_entities(sentence)]
        assert find_entities(sentence) == entities


def normal(text):
    """As in evaluate-v1.1."""
    bare = "".join(each for each in text.lower() if each not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def f1_of(prediction, gold):
    """As in evaluate-v1.1."""
    ours, theirs = normal(prediction), normal(gold)
    same = sum((Counter(ours) & Counter(theirs)).values())
    if same == 0:
        return 0
    precision, recall = same / len(ours), same / len(theirs)
    return 2 * precision * recall / (precision + recall)


PIECES = ["\t", " ", "\u00a0", *["the", "The", "A", "an", "a", "cats", "Ω", "é", "7", ".", "-", "'s", "–", "“", "_"]]
texts = st.lists(st.sampled_from(PIECES), max_size=8).map("".join) | st.text(max_size=12)
asked = st.tuples(texts, st.lists(texts, min_size=1, max_size=3))


@settings(max_examples=40)
@given(st.lists(asked, min_size=1, max_size=5))
@example([("the–end", ["–end"]), ("", ["cat"]), ("cat", [""]), ("the cat sat on", ["cat sat cat", "on the mat."])])
def test_equal_the_script_of_the_task(questions):
    exact = [any(normal(said) == normal(gold) for gold in golds) for said, golds in questions]
    f1 = [max(f1_of(said, gold) for gold in golds) for said, golds in questions]
    wanted = {"exact_match": 100 * sum(exact) / len(questions), "f1": 100 * sum(f1) / len(questions)}
    assert squad_scores(*zip(*questions, strict=True)) == pytest.approx(wanted, rel=1e-12)


WRONG = [
    (entity_scores, [["O"]], [["O"], ["O"]], ValueError, "zip"),
    (entity_scores, [["O", "O"]], [["O"]], ValueError, r"predicted\[0\] has 2 tags, wanted 1, as gold\[0\]"),
    *((entity_scores, [[wrong]], [["O"]], ValueError, rf"tags\[0\] is {wrong!r}") for wrong in ("X-P", "O-PER", "")),
    (entity_scores, ["O"], ["O"], TypeError, "tags are the string 'O', wanted a list of tags for each sentence"),
    (squad_scores, [], [], ValueError, "answers is empty, wanted at least one question"),
    (squad_scores, ["cat"], ["cat"], TypeError, r"answers\[0\] is the string 'cat', wanted a list of gold answers"),
]


@pytest.mark.parametrize(("score", "predicted", "gold", "error", "message"), WRONG)
def test_wrong_input(score, predicted, gold, error, message):
    with pytest.raises(error, match=message):
        score(predicted, gold)
