"""Classify: labels with their probabilities, and regressions."""

import json
import warnings

import numpy as np
import pytest

from npbert import BertForSequenceClassification, Classify
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
        e = np.exp(logits_by_hand(classify, text))
        assert list(scores) == ["bad", "fair", "good"]
        np.testing.assert_allclose(list(scores.values()), e / e.sum(), rtol=1e-5)
        assert label == max(scores, key=scores.get)
        assert score == scores[label]
        assert all(type(value) is float for value in (score, *scores.values()))
    assert len({result.score for result in results}) == len(TEXTS)


def test_labels_without_names_and_a_long_pair_that_is_cut(tmp_path):
    classify = classifier(tmp_path)
    assert list(classify("the cat").scores) == ["LABEL_0", "LABEL_1"]
    with pytest.warns(UserWarning, match="1 of 1 text is"):
        cut = classify(("cat " * 40, "dog"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert classify(("cat " * 28, "dog")) == cut


def test_a_regression(tmp_path):
    """A tuple is a pair, and a list is two texts."""
    classify, other = (
        classifier(tmp_path, num_labels=1),
        write_checkpoint(tmp_path / "2", BertForSequenceClassification),
    )
    results = classify(TEXTS)
    assert {type(result) for result in [*results, classify("")]} == {float}
    assert results == pytest.approx([float(logits_by_hand(classify, text)[0]) for text in TEXTS], rel=1e-5, abs=1e-5)
    assert classify(("a dog", "ran")) == pytest.approx(results[1], rel=1e-5)
    two = classify(["a dog", "ran"])
    assert (len(two), results[1] in two) == (2, False)
    assert classify([]) == []
    said = [json.loads((folder / "config.json").read_text()).get("problem_type") for folder in (tmp_path, other)]
    assert said == ["regression", None], "or transformers makes a probability of the number"
