"""Classify, labels with their probabilities, and regressions; and FillMask, the most probable tokens at each [MASK]."""

import numpy as np
import pytest

from npbert import BertForMaskedLM, BertForSequenceClassification, Classify, FillMask
from tests.inference.checkpoints import LONGEST, WORDS, write_checkpoint

TEXTS = ["the cat sat on the mat.", ("a dog", "ran"), "", ("a dog ran", ""), "the unaffable dog"]
MASKED = ["the [MASK] sat on [MASK] mat.", "[MASK]", "a dog ran on the [MASK]? [MASK] [MASK]", "a [MASK]"]


def classifier(folder, **changes):
    return Classify.from_pretrained(write_checkpoint(folder, BertForSequenceClassification, **changes))


@pytest.fixture(scope="module")
def fill_mask(tmp_path_factory):
    return FillMask.from_pretrained(write_checkpoint(tmp_path_factory.mktemp("mlm"), BertForMaskedLM))


def by_hand(task, text):
    """The logits of a text in a batch of its own, and the ids in it."""
    batch = task.tokenizer.batch(task.tokenizer.encode([text]))
    return task.model(batch)[0], batch.input_ids[0]


def test_labels(tmp_path):
    classify = classifier(tmp_path, num_labels=3, id2label=["bad", "fair", "good"])
    results = classify(TEXTS)
    for text, (label, score, scores) in zip(TEXTS, results, strict=True):
        e = np.exp(by_hand(classify, text)[0])
        assert list(scores) == ["bad", "fair", "good"]
        np.testing.assert_allclose(list(scores.values()), e / e.sum(), rtol=1e-5)
        assert label == max(scores, key=scores.get) and score == scores[label]
        assert all(type(value) is float for value in scores.values())


def test_a_regression(tmp_path):
    """A tuple is a pair, and a list is two texts."""
    classify = classifier(tmp_path, num_labels=1)
    results = classify(TEXTS)
    assert {type(result) for result in [*results, classify("")]} == {float}
    assert results == pytest.approx([float(by_hand(classify, text)[0][0]) for text in TEXTS], rel=1e-5, abs=1e-5)
    assert classify(("a dog", "ran")) == pytest.approx(results[1], rel=1e-5)
    assert len(classify(["a dog", "ran"])) == 2 and classify([]) == []


def test_tokens_at_masks(fill_mask):
    """Of texts of different lengths and with different numbers of masks, in the order of the texts."""
    results = fill_mask(MASKED, top_k=3)
    assert [len(masks) for masks in results] == [2, 1, 3, 1]
    for text, masks in zip(MASKED, results, strict=True):
        logits, ids = by_hand(fill_mask, text)
        for mask, e in zip(masks, np.exp(logits[ids == fill_mask.tokenizer.mask_id]), strict=True):
            best = np.argsort(-e)[:3]
            assert [token for token, _ in mask] == [WORDS[index] for index in best]
            np.testing.assert_allclose([score for _, score in mask], e[best] / e.sum(), rtol=1e-5)


def test_top_k(fill_mask):
    (every,) = fill_mask("the [MASK] sat", top_k=999)
    assert sum(score for _, score in every) == pytest.approx(1, rel=1e-5)
    assert fill_mask("the [MASK] sat") == [every[:5]] == fill_mask(["the [MASK] sat"])[0]
    assert fill_mask([]) == []
    with pytest.raises(ValueError, match="top_k is 0, wanted at least 1"):
        fill_mask("[MASK]", top_k=0)


def test_a_text_without_a_mask(fill_mask):
    with pytest.raises(ValueError, match=r"text 2 is 'the cat', wanted a \[MASK\] that is not cut off"):
        fill_mask(["[MASK]", "the cat", "[MASK]"])
    message = r"text 1 is '[a-z ]{60}', wanted a \[MASK\] that is not cut off$"  # not all of it
    with pytest.warns(UserWarning, match="1 of 1 text cut"), pytest.raises(ValueError, match=message):
        fill_mask("cat " * LONGEST + "[MASK]")


def test_a_task_is_saved_with_its_length_and_read_again(tmp_path):
    classify = Classify.from_pretrained(write_checkpoint(tmp_path, BertForSequenceClassification), max_length=7)
    classify.save_pretrained(tmp_path / "new")
    again = Classify.from_pretrained(tmp_path / "new")
    assert (again.max_length, classify.tokenizer.max_length) == (7, None)
    assert again(["the cat", "a dog ran"]) == classify(["the cat", "a dog ran"])


def test_texts_in_the_order_of_a_model_of_pairs(tmp_path):
    score, texts = classifier(tmp_path / "one", num_labels=1), ["a dog", "the cat sat", "a dog", "ran"]
    wanted = score([("a cat", text) for text in texts])
    found = score.rerank("a cat", texts)
    assert [hit.score for hit in found] == sorted(wanted, reverse=True)
    assert all(hit.score == wanted[hit.corpus_id] for hit in found)
    places = [hit.corpus_id for hit in found]
    assert places.index(0) + 1 == places.index(2), "of equals the first is first"
    with pytest.raises(ValueError, match="the model has 3 labels, wanted one, the score of a pair of texts"):
        classifier(tmp_path / "three", num_labels=3).rerank("a cat", texts)
