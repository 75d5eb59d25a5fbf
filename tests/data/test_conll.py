"""CoNLL: a word and its tag a line, whatever else stands between them."""

import pytest

from npbert.data.conll import read_conll
from npbert.files import FileError


def read(folder, content, **options):
    path = folder / "a.conll"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_conll(path, **options)


@pytest.mark.parametrize(
    "content",
    [
        "Ann B-PER\n10\u00a0000\u2028 O\n\nYes O",
        "\ufeffAnn B-PER\r\n10\u00a0000\u2028 O\r\n\r\nYes O\r\n",
        "\n\n  Ann   B-PER \n10\u00a0000\u2028 \t O\t\n\n \n\t\n\nYes\tO\n\n\n",
        "-DOCSTART- -X- -X- O\n\nAnn NNP B-NP B-PER\n10\u00a0000\u2028 CD B-NP O\n\n-DOCSTART- -X- O\n\nYes UH O O\n",
        "-DOCSTART-\nAnn B-PER\n10\u00a0000\u2028 O\n-DOCSTART- O\nYes O\n",
    ],
)
def test_sentences(tmp_path, content):
    """Spaces and tabs separate; a number with a no-break space in it is one word."""
    found = [(words, tags) for words, tags, *_ in read(tmp_path, content)]
    assert found == [(["Ann", "10\u00a0000\u2028"], ["B-PER", "O"]), (["Yes"], ["O"])]


def test_columns_and_places(tmp_path):
    content, path = "-DOCSTART- O\n\n1 Ann NNP PER\n2 sings VB O\n\n1 Yes UH O\n", str(tmp_path / "a.conll")
    wanted = [(["Ann", "sings"], ["NNP", "VB"], path, 3), (["Yes"], ["UH"], path, 6)]
    assert read(tmp_path, content, word_column=1, tag_column=2) == wanted
    assert read(tmp_path, content, word_column=1, tag_column=-2) == wanted
    assert read(tmp_path, content, word_column=1, tag_column=-2)[1].place == f"{path}, line 6"
    words = [(["Ann"], [], path, 1), (["sings", "."], [], path, 3)]
    assert read(tmp_path, "Ann\n\nsings\n.\n", tag_column=None) == words


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("Ann B-PER\nsings\n", {}, "line 2: only one column, wanted a word and a tag"),
        ("Ann B-PER\n\nsings O\n", {"tag_column": 3}, "line 1: 2 columns, wanted more"),
        ("Ann x B-PER\n\nsings O\n", {"word_column": 2}, "line 3: 2 columns, wanted more"),
        ("-DOCSTART- O\n \n\r\n", {}, "is empty: it has no sentences"),
        (b"Ann B-PER\nZo\xeb O\n", {}, r"line 2: byte 12 \(0xeb\) is not UTF-8"),
    ],
)
def test_errors(tmp_path, content, options, message):
    with pytest.raises(FileError, match=rf"a\.conll.*{message}"):
        read(tmp_path, content, **options)


@pytest.mark.parametrize("word", ["\u00a0", "\u3000\u2003"])
def test_a_word_that_is_white_space_alone(tmp_path, word):
    with pytest.raises(FileError, match=r"a\.conll, line 2: the word is white space alone"):
        read(tmp_path, f"Ann O\n{word} O\n")
