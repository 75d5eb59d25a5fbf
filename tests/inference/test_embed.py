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


def by_hand(embed, text, pooling="mean", layer=-1):
    """The vector of one text, from all hidden states of a batch without padding."""
    model = small_model(BertModel)
    batch = embed.tokenizer.batch(embed.tokenizer.encode([text]))
    if pooling == "pooler":
        return model(batch).pooler_output[0]
    hidden = model.hidden_states(batch)[layer % 3][0]
    return hidden[0] if pooling == "cls" else hidden.mean(axis=0)


@pytest.mark.parametrize("layer", [-3, -2, -1, 0, 1, 2])
@pytest.mark.parametrize("pooling", ["mean", "cls", "pooler"])
@pytest.mark.parametrize("normalize", [False, True])
def test_vectors(folder, pooling, layer, normalize):
    if pooling == "pooler" and layer % 3 != 2:
        with pytest.raises(ValueError, match=f"layer is {layer}, but the pooler reads only the last"):
            Embed.from_pretrained(folder, pooling=pooling, layer=layer)
        return
    embed = Embed.from_pretrained(folder, pooling=pooling, layer=layer, normalize=normalize)
    vectors = embed(TEXTS)
    assert (vectors.shape, vectors.dtype) == ((5, 12), np.float32)
    for text, vector in zip(TEXTS, vectors, strict=True):
        wanted = by_hand(embed, text, pooling, layer)
        wanted /= np.linalg.norm(wanted) if normalize else 1
        np.testing.assert_allclose(vector, wanted, rtol=1e-4, atol=1e-5)
    assert (embed([]).shape, embed([]).dtype) == ((0, 12), np.float32)


def test_one_text_gives_one_vector_by_default_the_mean_of_the_last_layer(folder):
    embed = Embed.from_pretrained(folder)
    np.testing.assert_allclose(embed("the cat"), by_hand(embed, "the cat"), rtol=1e-4, atol=1e-5)
    with pytest.warns(UserWarning, match="1 of 2 texts"):
        vectors = embed(["cat", "cat " * 50])
    np.testing.assert_allclose(vectors[1], embed("cat " * (LONGEST - 2)), rtol=1e-5)


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
