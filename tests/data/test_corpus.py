"""Corpus: documents on disk, in pieces that hold every line once; only their places are in memory."""

import tempfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert.data.corpus import Corpus, Piece
from npbert.files import FileError
from tests.shared_data import shared_data


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def by_document(corpus):
    """The sentences of each document, from all of its pieces in their order."""
    documents = {}
    for number in range(len(corpus)):
        documents.setdefault(corpus[number].document, []).extend(corpus.read(number))
    assert list(documents) == list(range(corpus.num_documents)), "documents are numbered in order, without a gap"
    return list(documents.values())


BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("content", "documents"),
    [
        ("one\ntwo\n\nthree", [["one", "two"], ["three"]]),
        ("one\n\n \n\t\n\ntwo\n\n\n", [["one"], ["two"]]),
        ("\n\n \none\n", [["one"]]),
        ("one\r\ntwo\r\n\r\nthree\r\n", [["one", "two"], ["three"]]),
        ("  one  \n\ttwo three\t\n", [["one", "two three"]]),
        (BOM + b"\none\n", [["one"]]),
        (BOM + "Zoë: 我们\n\nÆ\u2028still Æ\x0band still\n".encode(), [["Zoë: 我们"], ["Æ\u2028still Æ\x0band still"]]),
    ],
)
@pytest.mark.parametrize("piece_bytes", [1, 9, 1000])
def test_documents(tmp_path, content, documents, piece_bytes):
    assert by_document(Corpus([write(tmp_path, "a.txt", content)], piece_bytes=piece_bytes)) == documents


def test_a_new_file_is_a_new_document(tmp_path):
    write(tmp_path, "b.txt", "b\n")
    write(tmp_path, "a.txt", "a, without a line end")
    write(tmp_path, "c.md", "no .txt\n")
    last = write(tmp_path, "last", "named, so taken in spite of its ending\n")
    corpus = Corpus([last, tmp_path])
    assert [file.name for file in corpus.files] == ["last", "a.txt", "b.txt"]
    assert by_document(corpus) == [["named, so taken in spite of its ending"], ["a, without a line end"], ["b"]]


def test_what_is_known_of_a_corpus(tmp_path):
    files = [write(tmp_path, "a.txt", "abc\ndef\n\ngh\n"), write(tmp_path, "b.txt", "x\n")]
    corpus = Corpus(files, piece_bytes=4)
    assert list(corpus) == [Piece(0, 0, 4, 0), Piece(0, 4, 4, 0), Piece(0, 8, 4, 1), Piece(1, 0, 2, 2)]
    assert (corpus.num_bytes, corpus.num_documents) == (14, 3)


lines = st.sampled_from(["", " ", "x", "ab c", "é" * 5, "long " * 12])


@given(
    st.lists(st.lists(lines, max_size=25), min_size=1, max_size=3), st.integers(1, 120), st.booleans(), st.booleans()
)
def test_pieces_hold_every_line_once(texts, piece_bytes, document_per_file, crlf):
    end = "\r\n" if crlf else "\n"
    texts = [["first", *text] for text in texts]
    documents = []
    for text in texts:
        is_new = True
        for number, line in enumerate(text):
            marked = line.strip() and f"{line.strip()}-{number}"
            text[number] = marked or line
            if marked:
                documents += [[]] if is_new else []
                documents[-1].append(marked)
            is_new = (not document_per_file and not marked) or (is_new and not marked)
    with tempfile.TemporaryDirectory() as folder:
        paths = [write(Path(folder), str(number), end.join(text)) for number, text in enumerate(texts)]
        corpus = Corpus(paths, document_per_file=document_per_file, piece_bytes=piece_bytes)
        assert by_document(corpus) == documents
        longest = max(len(line.encode()) for text in texts for line in text) + len(end)
        for sentences in map(corpus.read, range(len(corpus))):
            assert sentences, "no piece is empty"
            text_bytes = sum(len(sentence.encode()) for sentence in sentences)
            assert text_bytes < piece_bytes + longest, "a piece ends with the line that fills it"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a.txt is empty: there is no text to learn from"),
        (BOM + b"\n \r\n\t\n", "a.txt is empty"),
        (b"fine\nZo\xeb\n", "a.txt, line 2: byte 3 of the line is not UTF-8"),
        ("utf-16\n".encode("utf-16"), "a.txt, line 1: byte 1 of the line is not UTF-8"),
    ],
)
def test_text_that_is_none(tmp_path, content, message):
    write(tmp_path, "a.txt", content)
    write(tmp_path, "b.txt", "text\n")
    with pytest.raises(FileError, match=message):
        Corpus([tmp_path])


def test_no_file_and_one_that_vanishes_or_changes(tmp_path):
    with pytest.raises(FileError, match=r"is a folder without \.txt files"):
        Corpus([tmp_path])
    with pytest.raises(FileError, match="at least one file"):
        Corpus([])
    path = write(tmp_path, "a.txt", "one\n")
    corpus = Corpus([path])
    path.write_bytes(b"\xff\xff\xff\n")
    with pytest.raises(FileError, match=r"a\.txt, line 1"):
        corpus.read(0)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"a\.txt"):
        corpus.read(0)


def test_text_is_not_kept_in_memory(tmp_path):
    path, count = tmp_path / "large.txt", 30_000
    path.write_text("a sentence of a file that is large enough to be noticed by whoever counts\n" * count)
    tracemalloc.start()
    try:
        corpus = Corpus([path])
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert corpus.num_bytes == path.stat().st_size > 2_000_000
    assert kept < 50_000
    assert peak < 300_000
    assert sum(len(corpus.read(number)) for number in range(len(corpus))) == count


def test_real_text():
    path = shared_data() / "gutenberg"
    corpus = Corpus([path], document_per_file=True)
    assert corpus.num_documents == 17
    read = [sentence for number in range(len(corpus)) for sentence in corpus.read(number)]
    lines = [line.strip() for file in sorted(path.glob("*.txt")) for line in file.read_text("utf-8").split("\n")]
    assert read == [line for line in lines if line]
