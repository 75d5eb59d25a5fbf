"""Embed: one vector a text, by every kind of pooling."""

import re

import numpy as np
import pytest

from npbert import BertModel, Embed
from npbert.files import FileError
from tests.inference.checkpoints import LONGEST, small_model, write_checkpoint, write_vocabulary

TEXTS = ["the cat sat on the mat.", "", "a dog", ("the dog", "the unaffable cat"), "ran"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_checkpoint(tmp_path_factory.mktemp("bert"), BertModel)


def by_hand(embed, text, pooling, layer):
    """The vector of one text, from all hidden states of a batch without padding."""
    model = small_model(BertModel)
    batch = embed.tokenizer.batch(embed.tokenizer.encode([text]))
    if pooling == "pooler":
        return model(batch).pooler_output[0]
    hidden = model.hidden_states(batch)[layer % 3][0]
    return hidden[0] if pooling == "cls" else hidden.mean(axis=0)


@pytest.mark.parametrize(
    ("pooling", "layer"),
    [("mean", -1), ("mean", 2), ("mean", 1), ("mean", 0), ("mean", -3), ("cls", -1), ("cls", 0), ("pooler", -1)],
)
def test_vectors(folder, pooling, layer):
    embed = Embed.from_pretrained(folder, pooling=pooling, layer=layer)
    vectors = embed(TEXTS)
    assert vectors.shape == (5, 12)
    assert vectors.dtype == np.float32
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_allclose(vector, by_hand(embed, text, pooling, layer), rtol=1e-4, atol=1e-5)


def test_the_default_is_the_mean_of_the_last_layer(folder):
    embed = Embed.from_pretrained(folder)
    np.testing.assert_allclose(embed("the cat"), by_hand(embed, "the cat", "mean", 2), rtol=1e-4, atol=1e-5)


def test_one_text_gives_one_vector(folder):
    embed = Embed.from_pretrained(folder)
    assert embed("the cat").shape == (12,)
    np.testing.assert_array_equal(embed("the cat"), embed(["the cat"])[0])
    assert embed([]).shape == (0, 12)
    assert embed([]).dtype == np.float32


def test_normalize(folder):
    plain = Embed.from_pretrained(folder)(TEXTS)
    vectors = Embed.from_pretrained(folder, normalize=True)(TEXTS)
    np.testing.assert_allclose((vectors**2).sum(axis=1), np.ones(5), rtol=1e-5)
    np.testing.assert_allclose(vectors * np.sqrt((plain**2).sum(axis=1))[:, None], plain, rtol=1e-5)
    assert Embed.from_pretrained(folder, normalize=True)([]).shape == (0, 12)


def test_only_the_pooler_needs_a_pooler(tmp_path):
    config = small_model(BertModel).config
    BertModel(config, rng=np.random.default_rng(0), add_pooling_layer=False).save_pretrained(tmp_path)
    write_vocabulary(tmp_path)
    for pooling in ("mean", "cls"):
        assert Embed.from_pretrained(tmp_path, pooling=pooling)("cat").shape == (12,)
    message = f"^{re.escape(str(tmp_path / 'model.safetensors'))} does not fit BertModel:\n  missing: pooler"
    with pytest.raises(FileError, match=message):
        Embed.from_pretrained(tmp_path, pooling="pooler")


def test_options_that_are_none(folder):
    with pytest.raises(ValueError, match="pooling is 'max', wanted one of mean, cls, pooler"):
        Embed.from_pretrained(folder, pooling="max")
    for layer in (3, -4):
        with pytest.raises(IndexError, match=f"layer is {layer}, wanted 0 to 2, or -3 to -1 from the end"):
            Embed.from_pretrained(folder, layer=layer)


def test_a_long_text_is_cut(folder):
    embed = Embed.from_pretrained(folder)
    with pytest.warns(UserWarning, match="1 of 2 texts"):
        vectors = embed(["cat", "cat " * 50])
    np.testing.assert_allclose(vectors[1], embed("cat " * (LONGEST - 2)), rtol=1e-5)


def test_the_pooler_reads_the_last_layer_only(tmp_path):
    folder = write_checkpoint(tmp_path, BertModel)
    with pytest.raises(ValueError, match="layer is 0, but the pooler reads only the last"):
        Embed.from_pretrained(folder, pooling="pooler", layer=0)
