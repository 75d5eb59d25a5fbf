"""fill-mask, embed, classify and answer: what they read and write."""

import io
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from npbert import Answer, BertForQuestionAnswering, BertForSequenceClassification, Classify, Embed, FillMask
from npbert.cli.text import DIGITS, SHOWN_DIGITS, read_lines, rounded
from tests.inference.checkpoints import LONGEST, write_checkpoint

QUESTION, PASSAGE = "the dog ran on?", "the cat sat on the café mat. a dog ran on the road"
LINES = {
    "fill-mask": ["the [MASK] sat", "[MASK] dog [MASK]", "a café? [MASK]"],
    "embed": ["the cat sat", "", "a café"],
    "classify": ["the cat sat", "", "a dog\ta café"],
    "tag": ["the cat sat.", "", "a café?"],
    "answer": [json.dumps({"question": QUESTION, "passage": PASSAGE}), '{"passage": "café", "question": "a cat?"}'],
}


def as_bytes(command):
    return "".join(f"{line}\n" for line in LINES[command]).encode()


@pytest.mark.parametrize("command", LINES)
def test_wherever_text_comes_from_and_goes_to(npbert, checkpoints, tmp_path, command):
    folder, source, target = checkpoints[command], tmp_path / "in.txt", tmp_path / "out.jsonl"
    source.write_bytes(as_bytes(command))
    target.write_text("old " * 9999)
    printed = npbert(command, folder, source)
    assert (printed.status, printed.err) == (0, "")
    assert len(printed.rows) == len(LINES[command])
    assert "café".encode() in printed.out
    assert npbert(command, folder, "-", stdin=as_bytes(command)) == printed
    assert npbert(command, folder, stdin=as_bytes(command)) == printed
    assert npbert(command, folder, source, "--output", target) == (0, b"", "")
    assert target.read_bytes() == printed.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.jsonl"]


def test_fill_mask(npbert, checkpoints):
    for options, top_k in (([], 5), (["--top-k", 2], 2)):
        rows = npbert("fill-mask", checkpoints["fill-mask"], *options, stdin=as_bytes("fill-mask")).rows
        wanted = FillMask.from_pretrained(checkpoints["fill-mask"])(LINES["fill-mask"], top_k=top_k)
        assert [row["text"] for row in rows] == LINES["fill-mask"]
        found = [[[[token["token"], token["score"]] for token in mask] for mask in row["masks"]] for row in rows]
        assert found == rounded(wanted, DIGITS)


def test_embed(npbert, checkpoints, tmp_path):
    """JSON lines and the array hold the same numbers, a row a line, also for an empty line. A terminal shows few
    digits. (The options: test_embed.py.)"""
    folder, texts = checkpoints["embed"], ["the cat", "", "", "a café", ""]
    stdin = "\n".join([*texts, ""]).encode()
    wanted = Embed.from_pretrained(folder)(texts)
    rows = npbert("embed", folder, stdin=stdin).rows
    assert [row["text"] for row in rows] == texts
    np.testing.assert_array_equal(np.float32([row["vector"] for row in rows]), wanted)
    assert npbert("embed", folder, stdin=stdin, on_a_terminal=True).rows == rounded(rows, SHOWN_DIGITS) != rows
    assert npbert("embed", folder, "--output", tmp_path / "out.npy", stdin=stdin) == (0, b"", "")
    stored = np.load(tmp_path / "out.npy")
    np.testing.assert_array_equal(stored, wanted)
    assert stored.dtype == np.float32


def test_classify(npbert, checkpoints, tmp_path):
    rows = npbert("classify", checkpoints["classify"], stdin=as_bytes("classify")).rows
    wanted = Classify.from_pretrained(checkpoints["classify"])(["the cat sat", "", ("a dog", "a café")])
    assert [row["text"] for row in rows] == ["the cat sat", "", ["a dog", "a café"]]
    assert [[row["label"], row["score"], row["scores"]] for row in rows] == rounded(wanted, DIGITS)
    folder = write_checkpoint(tmp_path, BertForSequenceClassification, num_labels=1)
    (score,) = Classify.from_pretrained(folder)([("the cat", "a dog")])
    assert npbert("classify", folder, stdin=b"the cat\ta dog\n").rows == [
        {"text": ["the cat", "a dog"], "score": rounded(score, DIGITS)}
    ]


def test_answer(npbert, checkpoints):
    answer = Answer.from_pretrained(checkpoints["answer"])
    for options, count in (([], 1), (["--n-best", 3], 3)):
        rows = npbert("answer", checkpoints["answer"], *options, stdin=as_bytes("answer")).rows
        wanted = answer.n_best([QUESTION, "a cat?"], [PASSAGE, "café"], count)
        assert [row["question"] for row in rows] == [QUESTION, "a cat?"]
        assert [[list(answer.values()) for answer in row["answers"]] for row in rows] == rounded(wanted, DIGITS)
    passage = "the cat sat\r\n\r\non the mat.\n"
    (row,) = npbert("answer", checkpoints["answer"], "--question", "a dog?", stdin=passage.encode()).rows
    assert row == {"question": "a dog?", "answers": [rounded(answer("a dog?", passage)._asdict(), DIGITS)]}


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
def test_what_is_too_long_is_cut_and_said_so_in_a_line_under_any_filter(npbert, checkpoints, tmp_path):
    """As PYTHONWARNINGS=error is one."""
    result = npbert("embed", checkpoints["embed"], stdin=b"cat\n" + b"cat " * 99 + b"\n")
    assert (result.status, len(result.rows)) == (0, 2)
    assert result.err == (
        f"npbert: 1 of 2 texts is longer than the {LONGEST} tokens that the model takes, and was cut; it is text 2\n"
    )
    folder = write_checkpoint(tmp_path, BertForQuestionAnswering, max_position_embeddings=200)
    result = npbert("answer", folder, "--question", "cat " * 65, stdin=b"the mat")
    assert (result.status, len(result.rows)) == (0, 1)
    assert result.err == f"npbert: question cut to 64 tokens: '{'cat ' * 15}'…\n"


def test_a_pipe_is_written_to(npbert, checkpoints, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    npbert("embed", checkpoints["embed"], "--output", tmp_path / "pipe", stdin=b"cat")
    assert os.read(reader, 10**6).startswith(b'{"text": "cat"')
    os.close(reader)


def test_lines(tmp_path, monkeypatch):
    for content, lines in {
        **dict.fromkeys(("a\nb\n", "a\nb", "a\r\nb\r\n", "a\r\nb"), ("a", "b")),
        "\n\na\n\nb\n": ("", "", "a", "", "b"),
        "a\r\n\r\n": ("a", ""),
        " a \t b \n": (" a \t b ",),
        "a\u2028b\x0bc\x85d\re\n": ("a\u2028b\x0bc\x85d\re",),
        "\ufeff中\n": ("中",),
    }.items():
        (tmp_path / "in.txt").write_bytes(content.encode())
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content.encode())))
        assert read_lines(str(tmp_path / "in.txt")) == read_lines("-") == list(lines)
