"""Corpus: documents on disk, in pieces that hold every line once; only their places are in memory."""

import tracemalloc

import pytest

from npbert.data.corpus import LONGEST_LINE, Corpus
from npbert.io.files import FileError


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def by_document(corpus):
    """The sentences of each document, from all of its pieces in their order."""
    documents = {}
    for number in range(len(corpus)):
        sentences = corpus.read(number)
        assert sentences, "no piece is empty"
        documents.setdefault(corpus.pieces[number].document, []).extend(sentences)
    assert list(documents) == list(range(corpus.num_documents)), "documents are numbered in order, without a gap"
    return list(documents.values())


BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("content", "documents"),
    [
        ("one\ntwo\n\nthree", [["one", "two"], ["three"]]),
        ("one\r\ntwo\r\n\r\nthree\r\n", [["one", "two"], ["three"]]),
        ("\n\n \n  one  \n\t\n\n\ttwo three\t\n\n\n", [["one"], ["two three"]]),
        (BOM + b"\none\n", [["one"]]),
        (BOM + "Zoë: 我们\n\nÆ\u2028still Æ\x0band still\n".encode(), [["Zoë: 我们"], ["Æ\u2028still Æ\x0band still"]]),
        ("a\nbcde\nf\n \nlong line\n" * 2, [["a", "bcde", "f"], ["long line", "a", "bcde", "f"], ["long line"]]),
    ],
)
@pytest.mark.parametrize("piece_bytes", [1, 3, 9, 1000])
def test_documents_are_the_same_in_pieces_of_any_size(tmp_path, content, documents, piece_bytes, monkeypatch):
    monkeypatch.setattr("npbert.data.corpus.PIECE_BYTES", piece_bytes)
    file = write(tmp_path, "a", content)
    assert by_document(Corpus([file])) == documents
    whole = [sentence for document in documents for sentence in document]
    assert by_document(Corpus([file] * 2, document_per_file=True)) == [whole] * 2


@pytest.mark.parametrize("text", ["one two ", "我们"])
def test_a_very_long_line_is_read_in_parts(tmp_path, text):
    """As one sentence it would be read whole each time that a text is drawn, and cut to a few tokens."""
    line = text * (200_000 // len(text.encode()))
    corpus = Corpus([write(tmp_path, "a", f"first\n{line}{' ' * 10**5}\nlast\n")])
    (sentences,) = by_document(corpus)
    assert max(len(sentence.encode()) for sentence in sentences) <= LONGEST_LINE
    joined = "".join(sentences[1:-1])
    assert joined.replace(" ", "") == line.replace(" ", "")
    assert [sentences[0], sentences[-1]] == ["first", "last"]
    assert all(sentence.endswith(("one", "two")) for sentence in sentences[1:-1]) or text != "one two "


def test_a_new_file_is_a_new_document(tmp_path):
    write(tmp_path, "b.txt", "b\n")
    write(tmp_path, "a.txt", "a, without a line end")
    write(tmp_path, "c.md", "no .txt\n")
    corpus = Corpus([write(tmp_path, "last", "named, so taken in spite of its ending\n"), tmp_path])
    assert [file.name for file in corpus.files] == ["last", "a.txt", "b.txt"]
    assert by_document(corpus) == [["named, so taken in spite of its ending"], ["a, without a line end"], ["b"]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a.txt is empty, wanted text"),
        (BOM + b"\n \r\n\t\n", "a.txt is empty"),
        (b"fine\nZo\xeb\n", r"a.txt, line 2: byte 3 of the line \(0xeb\) is not UTF-8"),
    ],
)
def test_text_that_is_none(tmp_path, content, message):
    write(tmp_path, "a.txt", content)
    write(tmp_path, "b.txt", "text\n")
    with pytest.raises(FileError, match=message):
        Corpus([tmp_path])


def test_no_file_and_one_that_changes(tmp_path):
    with pytest.raises(FileError, match=r"has no \.txt files"):
        Corpus([tmp_path])
    with pytest.raises(FileError, match="at least one file"):
        Corpus([])
    path = write(tmp_path, "a.txt", "one\n")
    corpus = Corpus([path])
    path.write_bytes(b"\xff\xff\xff\n")
    with pytest.raises(FileError, match=r"a\.txt, line 1"):
        corpus.read(0)


def test_text_is_not_kept_in_memory(tmp_path):
    path = write(tmp_path, "a.txt", "a sentence of a file that is large enough to be noticed by a counter\n" * 15_000)
    tracemalloc.start()
    try:
        corpus = Corpus([path])
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert corpus.num_bytes == path.stat().st_size > 1_000_000
    assert kept < 50_000
    assert peak < 300_000
