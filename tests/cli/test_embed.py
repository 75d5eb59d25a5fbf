"""embed in a folder of sentence-transformers, and search."""

import shlex
from fnmatch import fnmatchcase
from functools import partial

import numpy as np
import pytest

from npbert import BertForSequenceClassification, Classify, Embed
from npbert.inference.rerank import rerank

LINES = ["the cat sat on the mat", "a dog ran", "", "the unaffable café", "a dog ran on the road", "the cat sat"]
QUERIES = ["the cat sat", "-- a café?"]
pytestmark = pytest.mark.filterwarnings("ignore:. of . texts? (are|is) longer")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model that pools [CLS], normalizes, and reads 6 tokens."""
    from tests.inference.checkpoints import write_sentence_transformer  # skips where an extra is not installed

    return write_sentence_transformer(tmp_path_factory.mktemp("model"), "cls", max_length=6)


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return path


USUAL = {"pooling": "cls", "normalize": True, "max_length": 6}


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ("", USUAL),
        ("--no-normalize", {**USUAL, "normalize": False}),
        ("--pooling max --max-length 9", {**USUAL, "pooling": "max", "max_length": 9}),
        ("--layer 1 --batch-size 1", {**USUAL, "layer": 1}),
    ],
)
def test_the_folder_says_how_unless_an_option_does(npbert, folder, checkpoints, corpus, arguments, options):
    result = npbert("embed", folder, corpus, *arguments.split())
    wanted = Embed.from_pretrained(checkpoints["embed"], **options)(LINES)
    np.testing.assert_allclose([row["vector"] for row in result.rows], wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "count"), [([], 5), (["--top-k", "2", "--no-normalize"], 2), (["--top-k", "99"], 5)]
)
def test_search(npbert, folder, corpus, options, count):
    rows = npbert("search", folder, corpus, *options, *QUERIES).rows
    numbers = [number for number, line in enumerate(LINES) if line.strip()]  # an empty line is never found
    found = Embed.from_pretrained(folder).semantic_search(QUERIES, [LINES[n] for n in numbers], top_k=count)
    wanted = []
    for query, hits in zip(QUERIES, found, strict=True):
        places = [(numbers[hit.corpus_id], hit.score) for hit in hits]
        shown = [{"line": n + 1, "text": LINES[n], "score": pytest.approx(score, rel=1e-5)} for n, score in places]
        wanted.append({"query": query, "hits": shown})
    assert rows == wanted
    assert (rows[0]["hits"][0]["line"], len(rows[0]["hits"])) == (6, count)


def test_where_queries_and_lines_come_from_and_hits_go_to(npbert, folder, corpus, tmp_path):
    output, vectors, stdin = tmp_path / "hits.jsonl", tmp_path / "vectors.npy", "\n".join(QUERIES).encode()
    search = partial(npbert, "search", folder)
    result = search(corpus, *QUERIES)
    assert search(corpus, "-", stdin=stdin).out == result.out
    assert search("-", *QUERIES, stdin=corpus.read_bytes()).out == result.out
    (row, _), (short, _) = result.rows, search(corpus, *QUERIES, "--json", on_a_terminal=True).rows
    assert [hit["score"] for hit in short["hits"]] == [float(f"{hit['score']:.4g}") for hit in row["hits"]]
    assert search(corpus, *QUERIES, "--output", output).out == b""
    assert output.read_bytes() == result.out
    npbert("embed", folder, corpus, "--output", vectors)
    np.save(vectors, np.load(vectors)[::-1])
    turned = search(corpus, *QUERIES, "--vectors", vectors, "--top-k", 1).rows[0]["hits"]
    assert turned[0]["line"] == len(LINES) - 5, "the vectors are those of the file"
    np.save(vectors, np.load(vectors)[1:])
    error = search(corpus, *QUERIES, "--vectors", vectors).error
    assert error.endswith(f"vectors (5, 12), wanted (6, 12), one for each line of {corpus}")


def test_search_on_a_terminal_is_for_people(npbert, folder, corpus, monkeypatch):
    monkeypatch.setenv("COLUMNS", "32")
    corpus.write_text("the cat sat\n\nred \x1b[31m\nlong " + "a" * 600, encoding="utf-8")
    shown = npbert("search", folder, corpus, "the cat sat", "x\x1b", "--normalize", on_a_terminal=True).out.decode()
    lines = shown.splitlines()
    assert lines[:2] == ["the cat sat", "   1.000  line 1     the cat sat"]
    assert (len(lines), lines[4], "\x1b" in shown) == (8, r"x\x1b", False)
    assert sorted(line[10:16] for line in lines[1:4]) == ["line 1", "line 3", "line 4"]
    (long,) = {line[8:] for line in lines if "line 4" in line}
    assert (len(long), long[-1]) == (24, "…")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("embed {folder} {corpus} --max-length 99", "--max-length is 99, wanted at most 32 for this model"),
        ("search {folder} {corpus} cat --vectors {corpus}", "{corpus} is not an array of npbert embed --output *"),
        ("search {folder} {corpus} cat ''", "a query is empty: there is nothing to search for"),
        ("search {folder} {corpus} '\u00a0'", "a query is empty: there is nothing to search for"),
        ("search {folder} {corpus}.txt cat", "{corpus}.txt: No such file or directory"),
        ("embed {folder} {folder}", "{folder}: Is a directory"),
        ("search {folder} {corpus} -", "standard input is empty, wanted text"),
        ("search {folder} - -", "standard input is empty, wanted text"),
        ("search no-folder {corpus} cat --output no/a.jsonl", "no/a.jsonl: No such file or directory"),
        ("search {folder} {corpus} cat --output {corpus}", "--output is '{corpus}', wanted another file than *"),
        ("search no-folder {corpus} cat", "no-folder is not a checkpoint: it does not exist *"),
    ],
)
def test_mistakes(npbert, folder, corpus, arguments, message):
    error = npbert(*shlex.split(arguments.format(folder=folder, corpus=corpus))).error
    assert fnmatchcase(error, message.format(corpus=corpus, folder=folder)), error


def test_of_a_table_the_column_that_is_said_is_embedded_and_searched(npbert, folder, tmp_path):
    table = tmp_path / "corpus.csv"
    table.write_text('label,text\n1,"the cat, sat"\n2,\n3,a dog\n')
    for command, *words in (("embed",), ("search", "cat")):
        error = npbert(command, folder, table, *words).error
        assert error.endswith("is a table, wanted a text on each line; --text says which column to take")
    rows = npbert("embed", folder, table, "--text", "text").rows
    assert [row["text"] for row in rows] == ["the cat, sat", "", "a dog"]
    (row,) = npbert("search", folder, table, "a dog", "--text", "text").rows
    assert [(hit["line"], hit["text"]) for hit in row["hits"]] == [(4, "a dog"), (2, "the cat, sat")]


def test_search_in_vectors_of_less_memory_and_in_the_order_of_another_model(npbert, folder, corpus, tmp_path):
    from tests.inference.checkpoints import write_checkpoint

    judge = write_checkpoint(tmp_path / "judge", BertForSequenceClassification, num_labels=1)
    vectors = tmp_path / "vectors.npy"
    plain = npbert("search", folder, corpus, "the cat sat").rows[0]["hits"]
    for precision in ("float16", "int8"):
        npbert("embed", folder, corpus, "--output", vectors, "--precision", precision)
        assert np.load(vectors).dtype == precision
        found = npbert("search", folder, corpus, "the cat sat", "--vectors", vectors).rows[0]["hits"]
        assert [hit["line"] for hit in found[:1]] == [hit["line"] for hit in plain[:1]]
    hits = npbert("search", folder, corpus, "a dog", "--rerank", judge, "--top-k", 2).rows[0]["hits"]
    lines = [line for line in LINES if line]
    best = rerank(Classify.from_pretrained(judge), "a dog", lines)[:2]
    assert [(hit["text"], hit["score"]) for hit in hits] == [
        (lines[hit.corpus_id], pytest.approx(hit.score, rel=1e-5)) for hit in best
    ]
