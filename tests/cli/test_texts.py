"""The commands that read texts with a checkpoint: what they read and write, and the mistakes of users, each of which is
one line with the file or the option. (The numbers are tested in tests/inference.)"""

import errno
import json
import os
import subprocess
import sys
from unittest.mock import Mock

import numpy as np
import pytest

from npbert import Embed
from npbert.io import read_lines
from npbert.io.files import HOW_TO_ENCODE
from tests.conftest import HEADS
from tests.inference.checkpoints import LONGEST

PASSAGE = "the cat sat on the café mat. a dog ran on the road"
LINES = {
    "fill-mask": ["the [MASK] sat", "[MASK] dog [MASK]", "a café? [MASK]"],
    "embed": ["the cat sat", "", "a café"],
    "classify": ["the cat sat", "", "a dog\ta café"],
    "tag": ["the cat sat.", "", "a café?"],
    "answer": [
        json.dumps({"question": "the dog ran on?", "passage": PASSAGE}, ensure_ascii=False),
        '{"passage": "cat", "question": "a cat?"}',
    ],
}
NAMES = {
    "fill-mask": ["text", "masks"],
    "embed": ["text", "vector"],
    "classify": ["text", "label", "score", "scores"],
    "tag": ["text", "words", "entities"],
    "answer": ["question", "answers"],
}


@pytest.mark.parametrize("command", LINES)
def test_wherever_text_comes_from_and_goes_to(npbert, checkpoints, tmp_path, command):
    folder, source, target = checkpoints[command], tmp_path / "in.txt", tmp_path / "out.jsonl"
    source.write_text("".join(f"{line}\n" for line in LINES[command]), encoding="utf-8")
    target.write_text("old " * 9999)
    printed = npbert(command, folder, source)
    assert (printed.status, printed.err) == (0, "")
    assert [list(row) for row in printed.rows] == [NAMES[command]] * len(LINES[command])
    if command != "answer":
        texts = [row["text"] for row in printed.rows]
        assert ["\t".join(text) if isinstance(text, list) else text for text in texts] == LINES[command]
        assert "café".encode() in printed.out
    assert npbert(command, folder, "-", stdin=source.read_bytes()) == printed
    assert npbert(command, folder, source, "--output", target, on_a_terminal=True) == (0, b"", "")
    assert target.read_bytes() == printed.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.jsonl"]


def test_options_of_the_number_of_results_and_a_question_about_a_whole_text(npbert, checkpoints):
    (row,) = npbert("fill-mask", checkpoints["fill-mask"], "--top-k", 2, stdin=b"a [MASK] [MASK]").rows
    assert [len(words) for words in row["masks"]] == [2, 2]
    passage = "the cat sat\r\n\r\non the mat.\n"
    asked = ("answer", checkpoints["answer"], "--question", "a dog?", "--n-best", 3)
    (row,) = npbert(*asked, stdin=passage.encode()).rows
    assert row["question"] == "a dog?" and len(row["answers"]) == 3
    assert all(passage[span["start"] : span["end"]] == span["text"] for span in row["answers"])


def test_vectors_as_an_array_in_full_precision_and_in_few_digits_on_a_terminal(npbert, checkpoints, tmp_path):
    """An array has a row a line, also for an empty one; a line of JSON has every bit of a float32."""
    texts, path, folder = ["the cat", "", "", "a café", ""], tmp_path / "out.npy", checkpoints["embed"]
    options = ["--pooling", "max", "--layer", -2, "--normalize", "--max-length", 5, "--batch-size", 1]
    stdin = "\n".join([*texts, ""]).encode()
    assert npbert("embed", folder, *options, "--output", path, stdin=stdin).out == b""
    embed = Embed.from_pretrained(folder, pooling="max", layer=-2, normalize=True, max_length=5)
    stored = np.load(path)
    np.testing.assert_array_equal(stored, embed(texts, batch_size=1), strict=True)
    rows = npbert("embed", folder, *options, stdin=stdin).rows
    np.testing.assert_array_equal(np.float32([row["vector"] for row in rows]), stored)
    shown = npbert("embed", folder, *options, stdin=stdin, on_a_terminal=True).rows
    assert shown[0]["vector"] == [float(f"{number:.4g}") for number in rows[0]["vector"]]


def test_a_real_process_reads_and_writes_utf_8_whatever_the_locale_and_says_its_warnings_in_lines(checkpoints):
    others = ("LC_", "LANG", "PYTHONIOENCODING", "PYTHONUTF8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    environment |= {"LC_ALL": "C", "PYTHONUTF8": "0", "NPBERT_NUM_THREADS": "abc"}
    command = [sys.executable, "-m", "npbert", "fill-mask", str(checkpoints["fill-mask"])]
    options = {"input": "café [MASK] 中国".encode(), "env": environment}
    printed = subprocess.run(command, capture_output=True, check=False, **options)
    said = b"npbert: NPBERT_NUM_THREADS is 'abc', wanted a whole number of at least 1\n"
    assert (printed.returncode, printed.stderr) == (0, said)
    assert printed.stdout.startswith('{"text": "café [MASK] 中国", '.encode())


@pytest.mark.filterwarnings("error")
def test_what_is_too_long_is_cut_and_said_so_in_a_line_under_any_filter(npbert, checkpoints):
    """As PYTHONWARNINGS=error is one."""
    result = npbert("embed", checkpoints["embed"], stdin=b"cat\n" + b"cat " * 99)
    cut = f"1 of 2 texts cut to the {LONGEST} tokens that the model takes; the first is text 2"
    assert (result.status, result.err) == (0, f"npbert: {cut}\n") and result.rows


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        *((text, ["a", "b"]) for text in ("a\nb\n", "a\nb", "a\r\nb\r\n")),
        ("\n\na\n\nb\n", ["", "", "a", "", "b"]),
        ("\ufeff a \t\u2028b\x0bc\x85d\re\n", [" a \t\u2028b\x0bc\x85d\re"]),
    ],
)
def test_lines(tmp_path, content, lines):
    (tmp_path / "in.txt").write_bytes(content.encode())
    assert read_lines(str(tmp_path / "in.txt")) == lines


BAD_INPUTS = {
    b"\xef\xbb\xbf \r\n\n": " is empty, wanted text",
    b"cat\r\n\xe2\x82": f", line 2: byte 1 of the line (0xe2) is not UTF-8; {HOW_TO_ENCODE}",
}


@pytest.mark.parametrize("command", HEADS)
def test_a_bad_input(npbert, checkpoints, tmp_path, command):
    path = tmp_path / "in.txt"
    for content, message in BAD_INPUTS.items():
        path.write_bytes(content)
        assert npbert(command, checkpoints[command], path).error == f"{path}{message}"
        assert npbert(command, checkpoints[command], stdin=content).error == f"standard input{message}"


@pytest.mark.parametrize("name", ["out.jsonl", "out.npy"])
def test_an_output_that_cannot_be_written(npbert, checkpoints, tmp_path, limited, monkeypatch, name):
    """A disk that is full leaves the old output, and nothing else."""
    monkeypatch.chdir(tmp_path)
    old = tmp_path / name
    old.write_text("old")
    (tmp_path / "link").symlink_to(old)
    missing = tmp_path / "missing" / name
    for path, reason in ((missing, ": No such file or directory"), (tmp_path, " is a folder, wanted a file")):
        said = npbert("embed", "no folder", "--output", path).error
        assert said == f"{path}{reason}", "it is said before anything is read"
    for path in (name, "./link"):
        wanted = f"--output is {path!r}, wanted another file than the input, which would be lost"
        assert npbert("embed", "no folder", name, "--output", path).error == wanted
    with limited(100):
        error = npbert("embed", checkpoints["embed"], "--output", old, stdin=b"cat\n" * 40).error
    assert error == f"{old}: {os.strerror(errno.EFBIG)}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", name] and old.read_text() == "old"


ONE_OR_TWO = "wanted one, or two with a tab between them; for a file with more columns, give --text"
NO_NPZ = "--output is 'a.npz', wanted a name that ends in one of .npy, .jsonl, .ndjson, .json"


@pytest.mark.parametrize(
    ("command", "arguments", "stdin", "message"),
    [
        ("embed", ["--layer", "3"], b"cat", "--layer is 3, wanted 0 to 2, or -3 to -1 from the end"),
        ("embed", ["--output", "a.npz"], b"cat", NO_NPZ),
        ("classify", ["--output", "a.csv"], b"cat", NO_NPZ.replace("npz", "csv").replace(".npy, ", "")),
        ("classify", [], b"a cat\nthe\ta\tcat\tdog\n", f"standard input, line 2: 4 texts, {ONE_OR_TWO}"),
        (
            "answer",
            [],
            b'\n["cat?"]',
            "standard input, line 2: it is a JSON list, wanted an object; or give --question",
        ),
    ],
)
def test_a_wrong_value_or_row(npbert, checkpoints, command, arguments, stdin, message):
    assert npbert(command, checkpoints[command], *arguments, stdin=stdin).error == message


def test_too_little_memory_is_one_line(npbert, checkpoints, monkeypatch):
    monkeypatch.setattr("npbert.inference.Embed.__call__", Mock(side_effect=MemoryError))
    assert npbert("embed", checkpoints["embed"], stdin=b"cat").error.startswith("not enough memory")


def test_what_a_terminal_would_obey_is_written_out(npbert, checkpoints):
    """Of a name in an error, and of a text in the results."""
    assert npbert("embed", "a\x1b[31m\u202e").error.startswith(r"a\x1b[31m\u202e is not a checkpoint")
    assert len(error := npbert("embed", "x" * 5000).error) < 800 and "… (4," in error
    out = npbert("embed", checkpoints["embed"], stdin="cat\x1b[2J\x9b\x7f".encode()).out
    assert rb"cat\u001b[2J\u009b\u007f" in out and not set(out) & {0x1B, 0x7F}
    assert json.loads(out)["text"] == "cat\x1b[2J\x9b\x7f"
