"""ELECTRA: what is drawn, what is replaced, what two models share, and how they are written and read."""

import logging

import numpy as np
import pytest

import npbert
from npbert import IGNORED, Batch, BertConfig, ElectraForPreTraining, ReplacedTokenDetection, Tape
from npbert.io.errors import InputError
from npbert.models.electra import WEIGHT, draw_words, replaced
from tests.models.small import random_model

CONFIG = BertConfig(
    30, 24, 2, 8, 16, max_position_embeddings=9, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
)
MASKED = {"attention_mask": [[1] * 6, [1, 1, 1, 1, 0, 0]]}
MASKED |= {"labels": [[IGNORED, 7, IGNORED, 9, 6, IGNORED], [IGNORED, 8, IGNORED, *[IGNORED] * 3]]}


def detection():
    return ReplacedTokenDetection(CONFIG, rng=np.random.default_rng(0), dtype=np.float64)


def batch():
    return Batch([[1, 4, 5, 4, 4, 2], [1, 4, 5, 2, 0, 0]], **MASKED)


def test_words_are_drawn_as_often_as_they_are_probable():
    logits = np.array([[0.0, 1.0, -2.0, 3.0], [2.0, 2.0, -800.0, 2.0]])
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    words = draw_words(np.repeat(logits, 20_000, axis=0), np.random.default_rng(0)).reshape(2, -1)
    shares = [[(row == word).mean() for word in range(4)] for row in words]
    assert np.abs(shares - p).max() < 5 * 0.5 / np.sqrt(20_000)
    np.testing.assert_array_equal(draw_words(logits, None), draw_words(logits, None))


def test_the_loss_is_the_sum_of_both_on_the_text_with_the_words_of_the_generator():
    model = detection()
    packed = model.pack(batch())
    words = draw_words(model.generator(packed), np.random.default_rng(5))
    losses, text = model.loss(batch(), Tape(np.random.default_rng(5))), replaced(packed, words)
    assert losses.means[0] == pytest.approx(model.generator.loss(batch()).loss)
    assert losses.means[1] == pytest.approx(model.discriminator.loss(text).loss)
    assert losses.loss == pytest.approx(losses.means[0] + WEIGHT * losses.means[1])
    assert model.target_counts(batch()) == (4, 10)
    is_masked = np.array(MASKED["labels"]) != IGNORED
    np.testing.assert_array_equal(text.input_ids[is_masked], words)


def test_the_generator_is_a_quarter_as_wide_and_shares_the_tables():
    model = detection()
    small, tables = model.generator.config, model.discriminator.bert.embeddings
    assert (small.num_attention_heads, small.hidden_size, small.intermediate_size) == (2, 6, 4)
    assert model.generator.predictions.table is tables.word_embeddings.weight
    names = [name for name, _ in model.named_parameters() if "embeddings" in name]
    assert len(names) == 5 + 2, "three tables and a norm, once, and a projection"


def test_both_are_written_and_read_and_a_generator_that_is_missing_is_new(tmp_path, caplog):
    pytest.importorskip("safetensors", reason="needs the extra hf")
    caplog.set_level(logging.INFO, logger="npbert")
    model = detection()
    model.save_pretrained(tmp_path / "model")  # as in a run
    assert type(npbert.AutoModelForPreTraining.from_pretrained(tmp_path)) is ElectraForPreTraining
    again = ReplacedTokenDetection.from_pretrained(tmp_path, dtype=np.float64)
    for (name, old), (_, new) in zip(model.named_parameters(), again.named_parameters(), strict=True):
        np.testing.assert_array_equal(old.value, new.value, name)
    (tmp_path / "model" / "generator").rename(tmp_path / "gone")
    assert not caplog.messages
    again = ReplacedTokenDetection.from_pretrained(tmp_path, dtype=np.float64)
    assert "the generator is new" in caplog.text
    assert again.generator.predictions.table is again.discriminator.bert.embeddings.word_embeddings.weight
    assert {parameter.value.dtype for parameter in again.parameters()} == {np.dtype(np.float64)}
    random_model(npbert.BertForMaskedLM).save_pretrained(tmp_path, overwrite=True)
    with pytest.raises(InputError, match="wanted the folder of an ELECTRA"):
        ReplacedTokenDetection.from_pretrained(tmp_path)
