"""Embed: one vector a text, by every kind of pooling."""

import re
from itertools import product

import numpy as np
import pytest

from npbert import BertModel, Embed
from npbert.inference import POOLINGS, ClassCenters, semantic_search, similarity
from npbert.io.files import FileError
from tests.inference.checkpoints import small_model, write_checkpoint, write_vocabulary

TEXTS = ["the cat sat on the mat.", "", "a dog", ("the dog", "the unaffable cat"), "ran"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_checkpoint(tmp_path_factory.mktemp("bert"), BertModel)


@pytest.fixture(scope="module")
def pooled(folder):
    return Embed.from_pretrained(folder, pooling="pooler")


def by_hand(embed, text, pooling="mean", layer=-1):
    """The vector of one text, from all hidden states of a batch without padding."""
    model = embed.model
    batch = embed.tokenizer.batch(embed.tokenizer.encode([text]))
    if pooling == "pooler":
        return model(batch).pooler_output[0]
    hidden = model.hidden_states(batch)[layer % 3][0]
    return {
        "cls": hidden[0],
        "mean": hidden.mean(axis=0),
        "max": hidden.max(axis=0),
        "mean_sqrt_len_tokens": hidden.sum(axis=0) / len(hidden) ** 0.5,
    }[pooling]


@pytest.mark.parametrize(
    ("pooling", "layer", "normalize"),
    [*product(POOLINGS[:-1], [-3, -1, 1], [False, True]), ("pooler", -1, False), ("pooler", 2, True)],
)
def test_vectors(pooled, pooling, layer, normalize):
    embed = Embed(pooled.model, pooled.tokenizer, pooling=pooling, layer=layer, normalize=normalize)
    vectors = embed(TEXTS)
    assert (vectors.shape, vectors.dtype) == ((5, 12), np.float32)
    for text, vector in zip(TEXTS, vectors, strict=True):
        wanted = by_hand(embed, text, pooling, layer)
        wanted = wanted / np.linalg.norm(wanted) if normalize else wanted
        np.testing.assert_allclose(vector, wanted, rtol=1e-4, atol=1e-5)
    assert (embed([]).shape, embed([]).dtype) == ((0, 12), np.float32)


def test_one_text_gives_a_vector_and_encode_is_the_name_of_sentence_transformers(folder, capsys):
    embed = Embed.from_pretrained(folder)
    assert embed("the cat").shape == (12,)
    np.testing.assert_array_equal(embed.encode(TEXTS, batch_size=2, show_progress_bar=True), embed(TEXTS, batch_size=2))
    assert "5/5" in capsys.readouterr().err


def test_only_the_pooler_needs_a_pooler(tmp_path):
    config = small_model(BertModel).config
    BertModel(config, rng=np.random.default_rng(0), add_pooling_layer=False).save_pretrained(tmp_path)
    write_vocabulary(tmp_path)
    for pooling in {*POOLINGS} - {"pooler"}:
        assert Embed.from_pretrained(tmp_path, pooling=pooling)("cat").shape == (12,)
    message = f"^{re.escape(str(tmp_path / 'model.safetensors'))} does not fit BertModel:\n  missing: pooler"
    with pytest.raises(FileError, match=message):
        Embed.from_pretrained(tmp_path, pooling="pooler")


def test_options_that_are_none(folder):
    with pytest.raises(ValueError, match="pooling is 'median', wanted one of mean, cls, max, mean_sqrt_len_tokens, p"):
        Embed.from_pretrained(folder, pooling="median")
    with pytest.raises(ValueError, match="layer is -2, wanted -1: the pooler reads only the last"):
        Embed.from_pretrained(folder, pooling="pooler", layer=-2)


@pytest.mark.parametrize("fn", ["cosine", "dot"])
def test_texts_are_compared_as_their_vectors_are(folder, fn):
    embed = Embed.from_pretrained(folder, similarity_fn_name=fn)
    vectors, words = embed(TEXTS), ["the cat", "ran"]
    wanted = similarity(vectors, embed(words), similarity_fn_name=fn)
    lists = [list(text) if isinstance(text, tuple) else text for text in TEXTS]  # a list of two is a pair, too
    for given in (TEXTS, lists, iter(TEXTS), vectors, vectors.tolist(), map(tuple, vectors)):
        np.testing.assert_allclose(embed.similarity(given, words), wanted, rtol=1e-6)
    hits = semantic_search(embed(words), vectors, top_k=3, similarity_fn_name=fn)
    for queries, corpus in ((words, TEXTS), (np.array(words), vectors)):
        assert embed.semantic_search(queries, corpus, top_k=3) == hits
    assert embed.semantic_search("ran", TEXTS) == embed.semantic_search(vectors[4], vectors)
    assert (embed.similarity([], TEXTS).shape, embed.semantic_search("ran", [])) == ((0, 5), [[]])


def test_a_classifier_by_examples_takes_the_label_of_the_nearest_center():
    """However long the vectors are."""
    vectors = {"a": [1, 0, 0], "b": [0, 9, 0], "c": [0, 0, 2], "d": [2, 3, 0]}
    classify = ClassCenters(lambda texts: np.array([vectors[text] for text in texts], float), "abc", ["x", "x", "y"])
    (found,) = classify(["d"])
    assert found == ("x", pytest.approx(5 / 26**0.5), {"x": pytest.approx(5 / 26**0.5), "y": 0})
