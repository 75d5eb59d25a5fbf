"""Classify: labels with their probabilities, and regressions."""

import warnings

import numpy as np
import pytest

from npbert import BertForSequenceClassification, Classify
from npbert.layers import Softmax
from tests.inference.checkpoints import write_checkpoint

TEXTS = ["the cat sat on the mat.", ("a dog", "ran"), "", ("a dog ran", ""), "the unaffable dog"]


def classifier(folder, **changes):
    return Classify.from_pretrained(write_checkpoint(folder, BertForSequenceClassification, **changes))


def logits_by_hand(classify, text):
    return classify.model(classify.tokenizer.batch(classify.tokenizer.encode([text])))[0]


def test_labels(tmp_path):
    classify = classifier(tmp_path, num_labels=3, id2label=["bad", "fair", "good"])
    results = classify(TEXTS)
    for text, (label, score, scores) in zip(TEXTS, results, strict=True):
        probabilities = Softmax()(logits_by_hand(classify, text))
        assert list(scores) == ["bad", "fair", "good"]
        np.testing.assert_allclose(list(scores.values()), probabilities, rtol=1e-4)
        assert label == max(scores, key=scores.get)
        assert score == scores[label]
        assert all(type(value) is float for value in (score, *scores.values()))
    assert len({result.score for result in results}) == len(TEXTS)


def test_labels_without_names(tmp_path):
    assert list(classifier(tmp_path)("the cat").scores) == ["LABEL_0", "LABEL_1"]


def test_a_regression(tmp_path):
    classify = classifier(tmp_path, num_labels=1)
    results = classify(TEXTS)
    for text, result in zip(TEXTS, results, strict=True):
        assert type(result) is float
        assert result == pytest.approx(float(logits_by_hand(classify, text)[0]), rel=1e-4, abs=1e-5)
    assert classify("") == pytest.approx(results[2], rel=1e-4)


def test_a_tuple_is_a_pair_and_a_list_is_two_texts(tmp_path):
    classify = classifier(tmp_path, num_labels=1)
    pair = classify(("a dog", "ran"))
    assert type(pair) is float
    assert classify([("a dog", "ran")]) == [pair]
    two = classify(["a dog", "ran"])
    assert len(two) == 2
    assert pair not in two
    assert classify([]) == []


def test_a_long_pair_is_cut(tmp_path):
    classify = classifier(tmp_path)
    with pytest.warns(UserWarning, match="1 of 1 texts"):
        cut = classify(("cat " * 40, "dog"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert classify(("cat " * 28, "dog")) == cut
