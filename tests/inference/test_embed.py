"""Embed: one vector a text, by every kind of pooling. similarity and semantic_search: against all products sorted."""

import re
import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from npbert import BertModel, Embed
from npbert.inference import POOLINGS, ClassCenters, Hit, semantic_search, similarity
from npbert.inference.embed import at_precision
from npbert.io.files import FileError
from tests.inference.checkpoints import small_model, write_vocabulary

TEXTS = ["the cat sat on the mat.", "", "a dog", ("the dog", "the unaffable cat"), "ran"]


@pytest.fixture(scope="module")
def folder(checkpoints):
    return checkpoints["embed"]


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
    for each in (TEXTS, lists, iter(TEXTS), vectors, vectors.tolist(), map(tuple, vectors)):
        np.testing.assert_allclose(embed.similarity(each, words), wanted, rtol=1e-6)
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


RNG = np.random.default_rng(0)
A, B = RNG.standard_normal((5, 7)).astype(np.float32), RNG.standard_normal((9, 7)).astype(np.float32)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int8])
def test_products_and_cosines(dtype):
    a, b = (np.round(4 * x).astype(dtype) for x in (A, B))
    exact_a, exact_b = a.astype(np.float64), b.astype(np.float64)
    dot = exact_a @ exact_b.T
    cosine = dot / np.linalg.norm(exact_a, axis=1)[:, None] / np.linalg.norm(exact_b, axis=1)
    for options, wanted in (({"similarity_fn_name": "dot"}, dot), ({}, cosine)):
        found = similarity(a, b, **options)
        assert found.dtype == (np.float64 if dtype == np.float64 else np.float32)
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
        best = [hit.score for (hit,) in semantic_search(a, b, top_k=1, **options)]
        np.testing.assert_allclose(best, wanted.max(axis=1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(similarity(a[0], b.tolist()), cosine[:1], rtol=1e-5, atol=1e-6)


def test_vectors_of_zeros_and_vectors_as_small_or_large_as_they_come():
    x = np.array([[0, 0], [3e-30, 4e-30], [1e18, 0], [1, 0]], np.float32)
    wanted = [[0, 0, 0, 0], [0, 1, 0.6, 0.6], [0, 0.6, 1, 1], [0, 0.6, 1, 1]]
    np.testing.assert_allclose(similarity(x, x), wanted, rtol=1e-6)


numbers = st.integers(-2, 2)


@given(st.data(), st.integers(0, 4), st.integers(0, 40), st.integers(1, 50))
def test_a_search_is_a_stable_sort_cut_short(data, num_queries, num_vectors, top_k):
    """Of whole numbers, many of which make equal products, in pieces of all sizes."""
    queries, corpus = (
        np.array(data.draw(st.lists(st.tuples(numbers, numbers), min_size=count, max_size=count)), float).reshape(-1, 2)
        for count in (num_queries, num_vectors)
    )
    scores = queries @ corpus.T
    best = np.argsort(-scores, axis=1, kind="stable")[:, :top_k]
    wanted = [list(zip(ids, scores[query, ids], strict=True)) for query, ids in enumerate(best)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("npbert.inference.embed.QUERIES_AT_ONCE", data.draw(st.integers(1, 5)))
        patch.setattr("npbert.inference.embed.LARGEST_PIECE", data.draw(st.integers(1, 20)))
        assert semantic_search(queries, corpus, top_k=top_k, similarity_fn_name="dot") == wanted


@pytest.mark.parametrize(
    ("queries", "corpus", "most"),
    [
        (RNG.standard_normal((600, 4)).astype(np.float32), RNG.standard_normal((20_000, 4)).astype(np.float32), 40e6),
        (np.ones((1, 64), np.float16), np.ones((200_000, 64), np.float16), 25e6),
    ],
)
def test_a_large_search_needs_little_memory(queries, corpus, most):
    """All scores would be 48 MB; a corpus of half the size, 26 MB, is never made larger as a whole."""
    tracemalloc.start()
    hits = semantic_search(queries, corpus, top_k=3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < most
    assert len(hits) == len(queries)


@pytest.mark.parametrize("search", [similarity, semantic_search])
@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        (A[None], B, {}, "{a} is an array (1, 5, 7) of float32, wanted numbers in the shape (N, D)"),
        (A, np.where(B[7, 2] == B, np.nan, B), {}, "a vector is not finite, or too long for a product"),
        (A, B * np.float32(1e19), {"similarity_fn_name": "dot"}, "a vector is not finite, or too long for"),
        (A, B, {"similarity_fn_name": "manhattan"}, "similarity_fn_name is 'manhattan', wanted one of cosine, dot"),
    ],
)
def test_what_cannot_be_compared(search, a, b, options, message):
    names = {"a": "a", "b": "b"} if search is similarity else {"a": "query_embeddings", "b": "corpus_embeddings"}
    with pytest.raises(ValueError, match="^" + re.escape(message.format(**names))):
        search(a, b, **options)


def test_no_vectors_and_no_hits():
    assert (semantic_search([], B), semantic_search(A[:2], [])) == ([], [[], []])
    assert (similarity([], B).shape, similarity(A, np.empty((0, 3))).shape) == ((0, 9), (5, 0))
    with pytest.raises(ValueError, match="top_k is 0, wanted at least 1"):
        semantic_search(A, B, top_k=0)


@pytest.mark.parametrize(("precision", "error"), [("float32", 0), ("float16", 1e-3), ("int8", 1e-2)])
def test_vectors_in_less_memory_are_found_in_the_same_order(precision, error):
    vectors = np.random.default_rng(1).standard_normal((40, 16)).astype(np.float32)
    vectors[7] = 0
    small = at_precision(vectors, precision)
    assert small.dtype == precision
    np.testing.assert_allclose(similarity(vectors, small), similarity(vectors, vectors), rtol=0, atol=error)
    found = semantic_search(vectors, small)
    assert [found[number][0].corpus_id for number in range(40) if number != 7] == [n for n in range(40) if n != 7]
    assert found[7][0] == Hit(0, 0.0)
    if precision == "int8":
        assert np.abs(small).max(axis=1).tolist() == [127] * 7 + [0] + [127] * 32
