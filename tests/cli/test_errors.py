"""The mistakes of users: one line that names the file, exit status 1, and no traceback."""

import errno
import json
import os
from unittest.mock import Mock

import pytest

from npbert.io.files import HOW_TO_ENCODE
from tests.cli.conftest import HEADS

BAD_INPUTS = {
    b"": " is empty, wanted text",
    b"\xef\xbb\xbf \r\n\n": " is empty, wanted text",
    b"cat\ncaf\xe9\n": f", line 2: byte 7 (0xe9) is not UTF-8; {HOW_TO_ENCODE}",
    b"cat\r\n\xe2\x82": f", line 2: byte 5 (0xe2) is not UTF-8; {HOW_TO_ENCODE}",
}


@pytest.mark.parametrize("command", HEADS)
def test_a_bad_input(npbert, checkpoints, tmp_path, command):
    path = tmp_path / "in.txt"
    for content, message in BAD_INPUTS.items():
        path.write_bytes(content)
        assert npbert(command, checkpoints[command], path).error == f"{path}{message}"
        assert npbert(command, checkpoints[command], stdin=content).error == f"standard input{message}"


@pytest.mark.parametrize("name", ["out.jsonl", "out.npy"])
def test_an_output_that_cannot_be_written(npbert, checkpoints, tmp_path, limited, name):
    """A disk that is full leaves the old output, and nothing else."""
    old = tmp_path / name
    old.write_text("old")
    for path, reason in (
        (tmp_path / "missing" / name, "No such file or directory"),
        (old / name, "Not a directory"),
        (tmp_path, "Is a directory"),
        (tmp_path / ("x" * 256), "File name too long"),
    ):
        said = npbert("embed", "no folder", "--output", path).error
        assert said == f"{path}: {reason}", "it is said before anything is read"
    with limited(100):
        error = npbert("embed", checkpoints["embed"], "--output", old, stdin=b"cat\n" * 40).error
    assert error == f"{old}: {os.strerror(errno.EFBIG)}"
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "old")]


FINE = b'{"question": "cat?", "passage": "the cat"}\n'
NO_QUESTIONS = {
    "cat?": "not valid JSON: Expecting value",
    '["cat?", "the cat"]': "it is a JSON list, wanted an object; or give --question",
    '{"question": 1, "t": 1}': "column 'passage' or 'context' is missing, wanted one of 'question', 't'; "
    "or give --question",
    '{"question": "cat?", "passage": "the \\ud83d"}': "not valid JSON: half of a character, '\\ud83d'",
    '{"question": ["cat?"], "context": "the cat"}': "'question' is a list or an object, wanted a text or a number",
}
TWO_TABS = b"a cat\ta dog\nthe\ta\tcat\tdog\n"
ONE_OR_TWO = "wanted one, or two with a tab between them; for a file with more columns, give --text"
NO_NPZ = "--output is 'a.npz', wanted a name that ends in one of .npy, .jsonl, .ndjson, .json"


@pytest.mark.parametrize(
    ("command", "arguments", "stdin", "message"),
    [
        ("embed", ["--layer", "3"], b"cat", "--layer is 3, wanted 0 to 2, or -3 to -1 from the end"),
        ("embed", ["--output", "a.npz"], b"cat", NO_NPZ),
        ("classify", ["--output", "a.csv"], b"cat", NO_NPZ.replace("npz", "csv").replace(".npy, ", "")),
        ("classify", [], TWO_TABS, f"standard input, line 2: 4 texts, {ONE_OR_TWO}"),
        ("fill-mask", [], b"a [MASK]\nthe cat\n", "text 2 is 'the cat', wanted a [MASK] that is not cut off"),
        ("answer", ["--question", "cat?"], b"\x00", "the passage for the question 'cat?' is empty, wanted text"),
        *(
            ("answer", [], FINE + f"{line}\n".encode() + FINE, f"standard input, line 2: {message}")
            for line, message in NO_QUESTIONS.items()
        ),
    ],
)
def test_values_that_are_none(npbert, checkpoints, command, arguments, stdin, message):
    assert npbert(command, checkpoints[command], *arguments, stdin=stdin).error == message


def test_the_output_is_never_the_input(npbert, checkpoints, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts.txt").write_text("the cat\n")
    (tmp_path / "a link").symlink_to(tmp_path / "texts.txt")
    for name in ("texts.txt", "a link", "./texts.txt"):
        wanted = f"--output is {name!r}, wanted another file than the input, which would be lost"
        assert npbert("embed", checkpoints["embed"], "texts.txt", "--output", name).error == wanted
    assert (tmp_path / "texts.txt").read_text() == "the cat\n"


def test_too_little_memory_is_one_line(npbert, checkpoints, monkeypatch):
    monkeypatch.setattr("npbert.inference.Embed.__call__", Mock(side_effect=MemoryError))
    assert npbert("embed", checkpoints["embed"], stdin=b"cat").error.startswith("not enough memory")


def test_what_a_terminal_would_obey_is_written_out(npbert, checkpoints, tmp_path):
    """Of a name in an error, and of a text in the results."""
    assert npbert("embed", "a\x1b[31m\u202e").error.startswith(r"a\x1b[31m\u202e is not a checkpoint")
    assert len(error := npbert("embed", "x" * 5000).error) < 800 and "… (4," in error
    out = npbert("embed", checkpoints["embed"], stdin="cat\x1b[2J\x9b\x7f".encode()).out
    assert rb"cat\u001b[2J\u009b\u007f" in out and not set(out) & {0x1B, 0x7F}
    assert json.loads(out)["text"] == "cat\x1b[2J\x9b\x7f"
