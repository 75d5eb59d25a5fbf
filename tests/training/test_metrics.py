"""The metrics of one prediction an example, by their names: by hand, and against scikit-learn and SciPy. Entities, and
SQuAD v1.1's exact match and F1: against seqeval and the task's own script."""

import math
import re
import string
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from npbert.inference import find_entities
from npbert.training import METRICS, f1
from npbert.training.metrics import class_scores, entity_scores, squad_scores

OF_CLASSES, OF_NUMBERS = ("accuracy", "f1", "macro_f1", "matthews"), ("pearson", "spearman")
MANY = [np.tile(side, 20_000) for side in ([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 2])]
BY_HAND = [
    ("accuracy", (np.array([1, 0, 1, 1], np.uint64), [1, 1, 1, 1]), 3 / 4),
    ("matthews", MANY, 17 / 22),  # 64 bits would overflow
    *((name, ([1, 1], [0, 0]), 0) for name in OF_CLASSES),
    ("pearson", ([1, 2, 3], [0, 3, 3]), 3 / math.sqrt(2 * 6)),  # deviations −1, 0, 1 and −2, 1, 1
    ("spearman", ([0.1, 7, 7, 8], [1, 10, 100, 1000]), 4.5 / math.sqrt(4.5 * 5)),  # ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4
    *((name, ([1, 2, 4], [0.1, 0.1, 0.1]), math.nan) for name in OF_NUMBERS),  # a side is constant
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("name", "pair", "wanted"), BY_HAND)
def test_by_hand(name, pair, wanted):
    score = METRICS[name](*pair)
    assert score == pytest.approx(wanted, rel=1e-12, nan_ok=True) and type(score) is float


@pytest.mark.filterwarnings("ignore:A single label was found")
@pytest.mark.parametrize("reference", ["sklearn.metrics"], indirect=True)
@given(st.lists(st.tuples(st.integers(-2, 3), st.integers(-2, 3)), min_size=1, max_size=30), st.integers(-2, 4))
@example([(1, 1), (1, 1)], 1)
@example([(3, 0), (4, 1)], 2)
def test_metrics_of_classes_equal_scikit_learn(reference, pairs, positive):
    predictions, labels = zip(*pairs, strict=True)
    zero = {"average": "macro", "zero_division": 0}
    expected = {
        "accuracy": reference.accuracy_score(labels, predictions),
        "macro_f1": reference.f1_score(labels, predictions, **zero),
        "matthews": reference.matthews_corrcoef(labels, predictions),
    }
    assert {name: METRICS[name](predictions, labels) for name in expected} == pytest.approx(expected, rel=1e-12)
    of_positive = reference.f1_score(labels, predictions, labels=[positive], **zero)
    assert f1(predictions, labels, positive) == pytest.approx(of_positive, rel=1e-12)


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


CLASSES, NUMBERS = ([METRICS[name] for name in names] for names in (OF_CLASSES, OF_NUMBERS))
WRONG = [
    (METRICS.values(), [1, 0, 1], [1, 0], ValueError, r"the shapes are \(3,\) and \(2,\), wanted \(N,\)"),
    (METRICS.values(), [], [], ValueError, r"the shapes are \(0,\) and"),
    (METRICS.values(), [[1, 0]], [[1, 0]], ValueError, r"the shapes are \(1, 2\) and"),
    (CLASSES, [0.2, 0.8], [0, 1], TypeError, "predictions is an array of float64, wanted integers"),
    (CLASSES, [0, 1, 1], [0, -100, -100], ValueError, "labels has -100, wanted classes"),
    (NUMBERS, [1, 2, 3], [0.5, math.nan, 2], ValueError, "a number that is not finite"),
    ([entity_scores], [["O"]], [["O"], ["O"]], ValueError, "zip"),
    ([entity_scores], [["O", "O"]], [["O"]], ValueError, r"predicted\[0\] has 2 tags, wanted 1, as gold\[0\]"),
    *(([entity_scores], [[wrong]], [["O"]], ValueError, rf"tags\[0\] is {wrong!r}") for wrong in ("X-P", "O-PER", "")),
    ([entity_scores], ["O"], ["O"], TypeError, "tags are the string 'O', wanted a list of tags for each sentence"),
    ([squad_scores], [], [], ValueError, "answers is empty, wanted at least one question"),
    ([squad_scores], ["cat"], ["cat"], TypeError, r"answers\[0\] is the string 'cat', wanted a list of gold answers"),
]


@pytest.mark.parametrize(("scores", "predicted", "gold", "error", "message"), WRONG)
def test_wrong_input(scores, predicted, gold, error, message):
    for score in scores:
        with pytest.raises(error, match=message):
            score(predicted, gold)


def test_each_class_has_scores_of_its_own():
    scores = class_scores([0, 0, 1, 3], [0, 1, 1, 2])
    assert scores == {0: (0.5, 1, 2 / 3, 1), 1: (1, 0.5, 2 / 3, 2), 2: (0, 0, 0, 1), 3: (0, 0, 0, 0)}
