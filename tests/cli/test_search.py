"""`npbert search`, and `npbert embed` with a table."""

import shlex
from fnmatch import fnmatchcase
from functools import partial

import numpy as np
import pytest

from npbert import BertForSequenceClassification, Embed
from tests.inference.checkpoints import write_checkpoint, write_sentence_transformer

LINES = ["the cat sat on the mat", "a dog ran", "", "the unaffable café", "a dog ran on the road", "the cat sat"]
QUERIES = ["the cat sat", "-- a café?"]
pytestmark = pytest.mark.filterwarnings("ignore:. of . texts? cut")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model that pools [CLS], normalizes, and reads 6 tokens."""
    return write_sentence_transformer(tmp_path_factory.mktemp("model"), "cls", max_length=6)


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return path


def test_where_queries_and_lines_come_from_and_hits_go_to(npbert, folder, corpus, tmp_path):
    output, vectors, stdin = tmp_path / "hits.jsonl", tmp_path / "vectors.npy", "\n".join(QUERIES).encode()
    search = partial(npbert, "search", folder)
    result = search(corpus, *QUERIES)
    first, second = result.rows
    assert [row["query"] for row in result.rows] == QUERIES
    assert first["hits"][0] == {"line": 6, "text": "the cat sat", "score": pytest.approx(1)}
    for hits in (first["hits"], second["hits"]):
        assert sorted(hit["line"] for hit in hits) == [1, 2, 4, 5, 6], "an empty line is never found"
        assert all(hit["text"] == LINES[hit["line"] - 1] for hit in hits)
        assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    assert search(corpus, *QUERIES, "--top-k", 2).rows[1]["hits"] == second["hits"][:2]
    assert search(corpus, "-", stdin=stdin).out == result.out
    assert search("-", *QUERIES, stdin=corpus.read_bytes()).out == result.out
    assert search(corpus, *QUERIES, "--output", output).out == b""
    assert output.read_bytes() == result.out
    npbert("embed", folder, corpus, "--output", vectors)
    np.save(vectors, np.load(vectors)[::-1])
    turned = search(corpus, *QUERIES, "--vectors", vectors, "--top-k", 1).rows[0]["hits"]
    assert turned[0]["line"] == len(LINES) - 5, "the vectors are those of the file"
    np.save(vectors, np.load(vectors)[1:])
    error = search(corpus, *QUERIES, "--vectors", vectors).error
    assert error.endswith(f"vectors (5, 12), wanted (6, 12), one for each line of {corpus}")


def test_on_a_terminal_it_is_for_people_unless_json_is_asked_for(npbert, folder, corpus, monkeypatch):
    monkeypatch.setenv("COLUMNS", "32")
    corpus.write_text("the cat sat\n\nred \x1b[31m\nlong " + "a" * 600, encoding="utf-8")
    search = partial(npbert, "search", folder, corpus, on_a_terminal=True)
    shown = search("the cat sat", "x\x1b").out.decode()
    lines = shown.splitlines()
    assert lines[:2] == ["the cat sat", "   1.000  line 1     the cat sat"]
    assert (len(lines), lines[4], "\x1b" in shown) == (8, r"x\x1b", False)
    (long,) = {line[8:] for line in lines if "line 4" in line}
    assert (len(long), long[-1]) == (24, "…")
    (row,) = search("the cat sat", "--json").rows
    assert row["hits"][0]["line"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("{corpus} cat --vectors {corpus}", "{corpus} is not an array of npbert embed --output *"),
        ("{corpus} cat '\u00a0'", "a query is empty: there is nothing to search for"),
        ("{corpus}.txt cat", "{corpus}.txt: No such file or directory"),
        ("{corpus} -", "standard input is empty, wanted text"),
        ("{corpus} cat --output {corpus}", "--output is '{corpus}', wanted another file than *"),
    ],
)
def test_mistakes(npbert, folder, corpus, arguments, message):
    error = npbert("search", folder, *shlex.split(arguments.format(corpus=corpus))).error
    assert fnmatchcase(error, message.format(corpus=corpus)), error


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


def test_vectors_of_less_memory_and_the_order_of_another_model(npbert, folder, corpus, tmp_path):
    vectors = tmp_path / "vectors.npy"
    npbert("embed", folder, corpus, "--output", vectors, "--precision", "int8")
    assert np.load(vectors).dtype == "int8"
    (row,) = npbert("search", folder, corpus, "the cat sat", "--vectors", vectors, "--top-k", 1).rows
    assert row["hits"][0]["line"] == 6
    Embed.from_pretrained(folder, similarity_fn_name="dot").save_pretrained(tmp_path / "dot")
    error = npbert("search", tmp_path / "dot", corpus, "the cat sat", "--vectors", vectors).error
    assert error == f"{vectors} has vectors without lengths, wanted float16: the folder compares by dot"
    judge = write_checkpoint(tmp_path / "judge", BertForSequenceClassification, num_labels=1)
    (row,) = npbert("search", folder, corpus, "a dog", "--rerank", judge).rows
    judged = npbert("classify", judge, stdin="\n".join(f"a dog\t{line}" for line in LINES if line).encode()).rows
    best = sorted(judged, key=lambda each: -each["score"])
    assert [hit["text"] for hit in row["hits"]] == [each["text"][1] for each in best]
