"""Text in and results out."""

import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from npbert.cli.text import read_all, read_lines, write_array, write_json_lines


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"a\nb\n", ["a", "b"]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\nb", ["a", "b"]),
        (b"\n\na\n\nb\n", ["", "", "a", "", "b"]),
        (b"a\n\n", ["a", ""]),
        (b"a\r\n\r\n", ["a", ""]),
        (b" a \t b \n", [" a \t b "]),
        ("a\u2028b\x0bc\x85d\re\n".encode(), ["a\u2028b\x0bc\x85d\re"]),
        (b"\xef\xbb\xbfa\n", ["a"]),
        ("中\n".encode(), ["中"]),
    ],
)
def test_lines(tmp_path, monkeypatch, content, lines):
    (tmp_path / "in.txt").write_bytes(content)
    assert read_lines(str(tmp_path / "in.txt")) == lines
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    assert read_lines("-") == lines


def test_all_of_a_file_with_its_ends_of_lines(tmp_path):
    (tmp_path / "in.txt").write_bytes(b"a\r\n\nb \n")
    assert read_all(str(tmp_path / "in.txt")) == "a\r\n\nb \n"


ROWS = [{"text": 'café \u2028 "x"\n', "score": 0.1}, ["a", 1, None]]
WRITTEN = '{"text": "café \u2028 \\"x\\"\\n", "score": 0.1}\n["a", 1, null]\n'.encode()


def test_json_lines(tmp_path, capsysbinary):
    write_json_lines(iter(ROWS), None)
    assert capsysbinary.readouterr().out == WRITTEN
    write_json_lines(iter(ROWS), str(tmp_path / "out"))
    assert (tmp_path / "out").read_bytes() == WRITTEN


def test_a_row_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "out"
    path.write_text("old")
    with pytest.raises(TypeError):
        write_json_lines([{"a": 1}, {"a": object()}], str(path))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_array(tmp_path):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    write_array(array, str(tmp_path / "out.npy"))
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), array)
    write_array(array, str(tmp_path / "no-ending"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["no-ending", "out.npy"]
