"""fill-mask, embed, classify and answer: what they read and write."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from npbert import Answer, BertForQuestionAnswering, BertForSequenceClassification, Classify, Embed, FillMask
from tests.cli.conftest import json_lines
from tests.inference.checkpoints import LONGEST, write_checkpoint

QUESTION, PASSAGE = "the dog ran on?", "the cat sat on the café mat. a dog ran on the road"
LINES = {
    "fill-mask": ["the [MASK] sat", "[MASK] dog [MASK]", "a café? [MASK]"],
    "embed": ["the cat sat", "", "a café"],
    "classify": ["the cat sat", "", "a dog\ta café"],
    "answer": [json.dumps({"question": QUESTION, "passage": PASSAGE}), '{"passage": "café", "question": "a cat?"}'],
}
commands = pytest.mark.parametrize("command", LINES)


def as_bytes(command, end="\n"):
    return "".join(line + end for line in LINES[command]).encode()


@commands
def test_a_file_or_standard_input_and_to_a_file_or_standard_output(npbert, checkpoints, tmp_path, command):
    folder, source, target = checkpoints[command], tmp_path / "in.txt", tmp_path / "out.jsonl"
    source.write_bytes(as_bytes(command))
    printed = npbert(command, folder, source)
    assert (printed.status, printed.err) == (0, "")
    assert len(printed.rows) == len(LINES[command])
    for arguments in ((folder,), (folder, "-")):
        assert npbert(command, *arguments, stdin=as_bytes(command)) == printed
    assert npbert(command, folder, source, "--output", target) == (0, b"", "")
    assert target.read_bytes() == printed.out
    assert "café".encode() in printed.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.jsonl"]


@commands
def test_ends_of_lines(npbert, checkpoints, command):
    wanted = npbert(command, checkpoints[command], stdin=as_bytes(command))
    crlf = as_bytes(command, "\r\n")
    unended = as_bytes(command)[:-1]
    marked = b"\xef\xbb\xbf" + as_bytes(command)
    for stdin in (crlf, crlf[:-2], unended, marked):
        assert npbert(command, checkpoints[command], stdin=stdin) == wanted


def test_fill_mask(npbert, checkpoints):
    rows = npbert("fill-mask", checkpoints["fill-mask"], "--top-k", 2, stdin=as_bytes("fill-mask")).rows
    wanted = FillMask.from_pretrained(checkpoints["fill-mask"])(LINES["fill-mask"], top_k=2)
    assert [row["text"] for row in rows] == LINES["fill-mask"]
    assert [[[(token["token"], token["score"]) for token in mask] for mask in row["masks"]] for row in rows] == wanted
    default = npbert("fill-mask", checkpoints["fill-mask"], stdin=b"[MASK]").rows
    assert len(default[0]["masks"][0]) == 5


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ([], {}),
        (["--pooling", "cls"], {"pooling": "cls"}),
        (["--pooling", "pooler"], {"pooling": "pooler"}),
        (["--layer", "0"], {"layer": 0}),
        (["--layer", "-2", "--normalize"], {"layer": -2, "normalize": True}),
    ],
)
def test_embed(npbert, checkpoints, tmp_path, arguments, options):
    """JSON lines and the array hold the same numbers, a row a line, also for an empty line."""
    folder, texts = checkpoints["embed"], ["the cat", "", "", "a café", ""]
    stdin = "\n".join([*texts, ""]).encode()
    wanted = Embed.from_pretrained(folder, **options)(texts)
    rows = npbert("embed", folder, *arguments, stdin=stdin).rows
    assert [row["text"] for row in rows] == texts
    np.testing.assert_array_equal([row["vector"] for row in rows], wanted)
    assert npbert("embed", folder, *arguments, "--output", tmp_path / "out.npy", stdin=stdin) == (0, b"", "")
    stored = np.load(tmp_path / "out.npy")
    np.testing.assert_array_equal(stored, wanted)
    assert stored.dtype == np.float32


def test_classify(npbert, checkpoints):
    rows = npbert("classify", checkpoints["classify"], stdin=as_bytes("classify")).rows
    texts = ["the cat sat", "", ("a dog", "a café")]
    wanted = Classify.from_pretrained(checkpoints["classify"])(texts)
    assert [row["text"] for row in rows] == ["the cat sat", "", ["a dog", "a café"]]
    assert [(row["label"], row["score"], row["scores"]) for row in rows] == wanted


def test_classify_with_a_regression(npbert, tmp_path):
    folder = write_checkpoint(tmp_path, BertForSequenceClassification, num_labels=1)
    (wanted,) = Classify.from_pretrained(folder)([("the cat", "a dog")])
    rows = npbert("classify", folder, stdin=b"the cat\ta dog\n").rows
    assert rows == [{"text": ["the cat", "a dog"], "score": wanted}]


def test_answer(npbert, checkpoints):
    rows = npbert("answer", checkpoints["answer"], "--n-best", 3, stdin=as_bytes("answer")).rows
    wanted = Answer.from_pretrained(checkpoints["answer"]).n_best([QUESTION, "a cat?"], [PASSAGE, "café"], 3)
    assert [row["question"] for row in rows] == [QUESTION, "a cat?"]
    assert [[tuple(answer.values()) for answer in row["answers"]] for row in rows] == wanted
    assert list(rows[0]["answers"][0]) == ["text", "score", "start", "end"]
    assert [len(row["answers"]) for row in rows] == [3, 1]


def test_answer_to_one_question_about_all_of_a_file(npbert, checkpoints, tmp_path):
    passage = "the cat sat\r\n\r\non the mat.\n"
    (tmp_path / "passage.txt").write_bytes(passage.encode())
    (row,) = npbert("answer", checkpoints["answer"], tmp_path / "passage.txt", "--question", "a dog?").rows
    wanted = Answer.from_pretrained(checkpoints["answer"])("a dog?", passage)
    assert row == {"question": "a dog?", "answers": [wanted._asdict()]}
    assert npbert("answer", checkpoints["answer"], "--question", "a dog?", stdin=passage.encode()).rows == [row]


@pytest.mark.parametrize("locale", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"LC_ALL": "C.UTF-8"}], ids=["C", "UTF-8"])
def test_utf_8_whatever_the_locale(checkpoints, tmp_path, locale):
    others = ("LC_", "LANG", "PYTHONIOENCODING", "PYTHONUTF8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    command = [sys.executable, "-m", "npbert", "fill-mask", str(checkpoints["fill-mask"])]

    def run(*arguments):
        return subprocess.run(
            [*command, *arguments], input="café [MASK] 中国".encode(), env={**environment, **locale},
            capture_output=True, check=False,
        )  # fmt: skip

    printed = run()
    assert (printed.returncode, printed.stderr) == (0, b"")
    assert json_lines(printed.stdout)[0]["text"] == "café [MASK] 中国"
    assert "café [MASK] 中国".encode() in printed.stdout
    assert run("--output", str(tmp_path / "out.jsonl")).stdout == b""
    assert (tmp_path / "out.jsonl").read_bytes() == printed.stdout


def test_text_longer_than_the_model_is_cut_and_said_so(npbert, checkpoints):
    result = npbert("embed", checkpoints["embed"], stdin=b"cat\n" + b"cat " * 99 + b"\n")
    assert result.status == 0
    assert len(result.rows) == 2
    assert result.err == (
        f"npbert: 1 of 2 texts are longer than the {LONGEST} tokens that the model takes, and were cut; "
        "the first is text 2\n"
    )


def test_a_long_question_is_cut_and_said_so(npbert, tmp_path):
    folder = write_checkpoint(tmp_path, BertForQuestionAnswering, max_position_embeddings=200)
    result = npbert("answer", folder, "--question", "cat " * 65, stdin=b"the mat")
    assert (result.status, len(result.rows)) == (0, 1)
    assert result.err == f"npbert: question cut to 64 tokens: '{'cat ' * 15}'…\n"


def test_an_old_output_is_replaced_and_a_pipe_is_written_to(npbert, checkpoints, tmp_path):
    wanted = npbert("embed", checkpoints["embed"], stdin=b"cat").out
    target = tmp_path / "out.jsonl"
    target.write_text("old " * 9999)
    npbert("embed", checkpoints["embed"], "--output", target, stdin=b"cat")
    assert target.read_bytes() == wanted
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        npbert("embed", checkpoints["embed"], "--output", tmp_path / "pipe", stdin=b"cat")
        assert os.read(reader, 10**6) == wanted
        os.close(reader)
        assert not (tmp_path / "pipe").is_file()
