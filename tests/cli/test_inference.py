"""fill-mask, embed, classify, tag and answer: what they read and write."""

import io
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from npbert import Answer, BertForQuestionAnswering, BertForSequenceClassification, Classify, Embed, FillMask, Tag
from npbert.io.streams import read_lines
from tests.cli.conftest import rounded
from tests.inference.checkpoints import LONGEST, write_checkpoint

QUESTION, PASSAGE = "the dog ran on?", "the cat sat on the café mat. a dog ran on the road"
LINES = {
    "fill-mask": ["the [MASK] sat", "[MASK] dog [MASK]", "a café? [MASK]"],
    "embed": ["the cat sat", "", "a café"],
    "classify": ["the cat sat", "", "a dog\ta café"],
    "tag": ["the cat sat.", "", "a café?"],
    "answer": [json.dumps({"question": QUESTION, "passage": PASSAGE}), '{"passage": "café", "question": "a cat?"}'],
}


LIBRARY = {
    "fill-mask": lambda folder, lines, top_k=5: [
        {"masks": masks} for masks in FillMask.from_pretrained(folder)(lines, top_k=top_k)
    ],
    "embed": lambda folder, lines: [{"vector": row} for row in Embed.from_pretrained(folder)(lines).tolist()],
    "classify": lambda folder, lines: Classify.from_pretrained(folder)([*lines[:2], tuple(lines[2].split("\t"))]),
    "tag": lambda folder, lines: [{"words": found.words} for found in Tag.from_pretrained(folder)(lines)],
    "answer": lambda folder, lines, n_best=1: [
        {"answers": spans}
        for spans in Answer.from_pretrained(folder).n_best([QUESTION, "a cat?"], [PASSAGE, "café"], n_best)
    ],
}


def with_names(found):
    """What the library gives, with the names that JSON has for it."""
    if hasattr(found, "_asdict"):
        found = found._asdict()
    if isinstance(found, dict):
        return {name: with_names(value) for name, value in found.items()}
    return list(map(with_names, found)) if isinstance(found, list | tuple) else found


@pytest.mark.parametrize(
    ("command", "options"),
    [*((command, {}) for command in LINES), ("fill-mask", {"top_k": 2}), ("answer", {"n_best": 3})],
)
def test_wherever_text_comes_from_and_goes_to(npbert, checkpoints, tmp_path, command, options):
    """The numbers are those of the library, in nine digits."""
    folder, source, target = checkpoints[command], tmp_path / "in.txt", tmp_path / "out.jsonl"
    given = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
    source.write_text("".join(f"{line}\n" for line in LINES[command]), encoding="utf-8")
    target.write_text("old " * 9999)
    printed, stdin = npbert(command, folder, source, *given), source.read_bytes()
    assert (printed.status, printed.err) == (0, "")
    wanted = with_names(LIBRARY[command](folder, LINES[command], **options))
    for row, of_library in zip(printed.rows, wanted, strict=True):
        assert row | rounded(of_library) == row
    assert "café".encode() in printed.out
    assert npbert(command, folder, "-", *given, stdin=stdin) == printed
    assert npbert(command, folder, source, *given, "--output", target) == (0, b"", "")
    assert target.read_bytes() == printed.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.jsonl"]


def test_vectors_in_an_array_a_score_and_a_question_about_a_whole_text(npbert, checkpoints, tmp_path):
    """An array has a row a line, also for an empty one."""
    texts, path = ["the cat", "", "", "a café", ""], tmp_path / "out.npy"
    assert npbert("embed", checkpoints["embed"], "--output", path, stdin="\n".join([*texts, ""]).encode()).out == b""
    stored = np.load(path)
    np.testing.assert_array_equal(stored, Embed.from_pretrained(checkpoints["embed"])(texts))
    assert stored.dtype == np.float32
    rows = npbert("embed", checkpoints["embed"], stdin="\n".join([*texts, ""]).encode()).rows
    np.testing.assert_array_equal(np.float32([row["vector"] for row in rows]), stored)
    folder = write_checkpoint(tmp_path, BertForSequenceClassification, num_labels=1)
    (score,) = Classify.from_pretrained(folder)([("the cat", "a dog")])
    (row,) = npbert("classify", folder, stdin=b"the cat\ta dog\n").rows
    assert row == {"text": ["the cat", "a dog"], "score": rounded(score)}
    passage = "the cat sat\r\n\r\non the mat.\n"
    found = Answer.from_pretrained(checkpoints["answer"])("a dog?", passage)
    (row,) = npbert("answer", checkpoints["answer"], "--question", "a dog?", stdin=passage.encode()).rows
    assert row == {"question": "a dog?", "answers": [rounded(found._asdict())]}


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
    folder = write_checkpoint(tmp_path, BertForQuestionAnswering, max_position_embeddings=200)
    cut = f"1 of 2 texts is longer than the {LONGEST} tokens that the model takes, and was cut; the first is text 2"
    asked = f"1 of 1 question cut to 64 tokens; the first is '{'cat ' * 15}'…"
    for words, stdin, said in (
        (("embed", checkpoints["embed"]), b"cat\n" + b"cat " * 99 + b"\n", cut),
        (("answer", folder, "--question", "cat " * 65), b"the mat", asked),
    ):
        result = npbert(*words, stdin=stdin)
        assert (result.status, result.err) == (0, f"npbert: {said}\n") and result.rows


def test_a_pipe_is_written_to(npbert, checkpoints, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    npbert("embed", checkpoints["embed"], "--output", tmp_path / "pipe", stdin=b"cat")
    assert os.read(reader, 10**6).startswith(b'{"text": "cat"')
    os.close(reader)


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        *((text, ["a", "b"]) for text in ("a\nb\n", "a\nb", "a\r\nb\r\n", "a\r\nb")),
        ("\n\na\n\nb\n", ["", "", "a", "", "b"]),
        (" a \t b \n", [" a \t b "]),
        ("a\u2028b\x0bc\x85d\re\n", ["a\u2028b\x0bc\x85d\re"]),
        ("\ufeff中\n", ["中"]),
    ],
)
def test_lines(tmp_path, monkeypatch, content, lines):
    (tmp_path / "in.txt").write_bytes(content.encode())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content.encode())))
    assert read_lines(str(tmp_path / "in.txt")) == read_lines("-") == lines
