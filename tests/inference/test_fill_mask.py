"""FillMask: the most probable tokens at each [MASK]."""

import numpy as np
import pytest

from npbert import BertForMaskedLM, FillMask
from tests.inference.checkpoints import LONGEST, WORDS, write_checkpoint


@pytest.fixture(scope="module")
def fill_mask(tmp_path_factory):
    return FillMask.from_pretrained(write_checkpoint(tmp_path_factory.mktemp("mlm"), BertForMaskedLM))


def by_hand(fill_mask, text):
    """The probabilities (M, V) at the masks of one text, from the logits of every position."""
    batch = fill_mask.tokenizer.batch(fill_mask.tokenizer.encode([text]))
    logits = fill_mask.model(batch)[batch.input_ids == fill_mask.tokenizer.mask_id]
    return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)


TEXTS = ["the [MASK] sat on [MASK] mat.", "[MASK]", "a dog ran on the [MASK]? [MASK] [MASK]", "a [MASK]"]


def test_probabilities(fill_mask):
    """Of texts of different lengths and with different numbers of masks, in the order of the texts."""
    results = fill_mask(TEXTS, top_k=3)
    assert [len(masks) for masks in results] == [2, 1, 3, 1]
    for text, masks in zip(TEXTS, results, strict=True):
        for mask, row in zip(masks, by_hand(fill_mask, text), strict=True):
            best = np.argsort(-row)[:3]
            assert [token for token, _ in mask] == [WORDS[index] for index in best]
            np.testing.assert_allclose([score for _, score in mask], row[best], rtol=1e-5)
            assert {type(score) for _, score in mask} == {float}


def test_top_k(fill_mask):
    (every,) = fill_mask("the [MASK] sat", top_k=999)
    assert sorted(token for token, _ in every) == sorted(WORDS)
    assert sum(score for _, score in every) == pytest.approx(1, rel=1e-5)
    assert fill_mask("the [MASK] sat") == [every[:5]] == fill_mask(["the [MASK] sat"])[0]
    assert fill_mask("the [MASK] sat", top_k=1) == [every[:1]]
    assert fill_mask([]) == []
    with pytest.raises(ValueError, match="top_k is 0, wanted at least 1"):
        fill_mask("[MASK]", top_k=0)


def test_a_text_without_a_mask(fill_mask):
    with pytest.raises(ValueError, match=r"text 2 has no \[MASK\], or it was cut off: 'the cat'"):
        fill_mask(["[MASK]", "the cat", "[MASK]"])
    message = r"text 1 has no \[MASK\], or it was cut off: '[a-z ]{60}'$"  # not all of it
    with pytest.warns(UserWarning, match="1 of 1 text is"), pytest.raises(ValueError, match=message):
        fill_mask("cat " * LONGEST + "[MASK]")
    with pytest.warns(UserWarning, match="1 of 1 text is"):
        assert len(fill_mask("[MASK] " + "cat " * LONGEST + "[MASK]")) == 1
