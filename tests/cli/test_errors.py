"""The mistakes of users: one line that names the file, exit status 1, and no traceback."""

import json
import os
import re
import shutil
import sys

import pytest

from npbert import BertModel
from tests.inference.checkpoints import WORDS, write_checkpoint, write_vocabulary


def assert_error(result, message):
    """Exactly this message; `…` stands for what a library says."""
    pattern = re.escape(f"npbert: error: {message}\n").replace("…", r"[^\n]+")
    assert re.fullmatch(pattern, result.err)
    assert (result.status, result.out) == (1, b"")


@pytest.fixture
def folder(checkpoints, tmp_path):
    """A copy of a checkpoint, to break."""
    return shutil.copytree(checkpoints["embed"], tmp_path / "checkpoint")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", " is empty: there is no text to work on"),
        (b"\xef\xbb\xbf \r\n\n", " is empty: there is no text to work on"),
        (b"cat\ncaf\xe9\n", ", line 2: byte 7 (0xe9) is not UTF-8"),
        (b"\x80cat", ", line 1: byte 0 (0x80) is not UTF-8"),
        (b"cat\r\n\xe2\x82", ", line 2: byte 5 (0xe2) is not UTF-8"),
    ],
)
@pytest.mark.parametrize("command", ["fill-mask", "embed", "classify", "answer"])
def test_a_bad_input(npbert, checkpoints, tmp_path, command, content, message):
    path = tmp_path / "in.txt"
    path.write_bytes(content)
    assert_error(npbert(command, checkpoints[command], path), f"{path}{message}")
    assert_error(npbert(command, checkpoints[command], stdin=content), f"standard input{message}")


def test_an_input_that_cannot_be_read(npbert, checkpoints, tmp_path):
    missing = tmp_path / "missing.txt"
    assert_error(
        npbert("embed", checkpoints["embed"], missing),
        f"{missing}: No such file or directory; wanted a file of text, or the text on standard input",
    )
    assert_error(npbert("embed", checkpoints["embed"], tmp_path), f"{tmp_path}: Is a directory")


def test_what_is_no_checkpoint(npbert, tmp_path):
    message = " is no checkpoint: {} (npbert reads from disk and downloads nothing)"
    for name in ("bert-base-uncased", "sentence-transformers/all-MiniLM-L6-v2"):
        assert_error(npbert("embed", name, stdin=b"cat"), name + message.format("there is no such folder"))
    empty = tmp_path / "empty"
    empty.mkdir()
    assert_error(npbert("embed", empty, stdin=b"cat"), str(empty) + message.format("it has no config.json"))


def test_a_checkpoint_with_a_file_missing(npbert, folder):
    (folder / "vocab.txt").unlink()
    assert_error(npbert("embed", folder, stdin=b"cat"), f"{folder} has no tokenizer.json and no vocab.txt")
    (folder / "model.safetensors").unlink()
    assert_error(npbert("embed", folder, stdin=b"cat"), f"{folder} has no model.safetensors")


@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda data: data[:-1], lambda _: b"",
                                    lambda data: data[:30] + b"\x00\xff" * 9 + data[48:]])  # fmt: skip
def test_damaged_weights(npbert, folder, damage):
    path = folder / "model.safetensors"
    path.write_bytes(damage(path.read_bytes()))
    assert_error(npbert("embed", folder, stdin=b"cat"), f"{path} is damaged, cut short or no safetensors file: …")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "roberta"}, "model_type is 'roberta', wanted 'bert'"),
        ({"hidden_size": "12"}, "hidden_size is '12', wanted an integer"),
        ({"hidden_act": "silu"}, "hidden_act is 'silu', wanted one of …"),
        ({"is_decoder": True}, "is_decoder is True, and npbert has only False"),
    ],
)
def test_another_architecture(npbert, folder, changes, message):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    assert_error(npbert("embed", folder, stdin=b"cat"), f"{path}: {message}")


def test_files_that_are_no_json(npbert, folder):
    (folder / "config.json").write_text('{\n"vocab_size": 20,\n}')
    assert_error(npbert("embed", folder, stdin=b"cat"), f"{folder / 'config.json'}, line …: no valid JSON: …")
    (folder / "tokenizer.json").write_text("{")
    (folder / "config.json").write_bytes((write_checkpoint(folder / "new", BertModel) / "config.json").read_bytes())
    assert_error(npbert("embed", folder, stdin=b"cat"), f"{folder / 'tokenizer.json'} is no tokenizer of BERT: …")


@pytest.mark.parametrize("words", [WORDS[:-1], [*WORDS, "new"]])
def test_a_vocabulary_of_another_size(npbert, folder, words):
    write_vocabulary(folder, words)
    message = f"{folder}: the vocabulary has {len(words)} tokens, but vocab_size in its config.json is 20"
    assert_error(npbert("embed", folder, stdin=b"cat"), message)


@pytest.mark.parametrize("command", ["fill-mask", "classify", "answer"])
def test_a_checkpoint_without_the_head(npbert, folder, command):
    """The one error of several lines: one a tensor that is missing."""
    result = npbert(command, folder, stdin=b'{"question": "cat?", "passage": "[MASK]"}')
    first, *rest = result.err.splitlines()
    assert first.startswith(f"npbert: error: {folder / 'model.safetensors'} does not fit BertFor")
    assert rest
    assert all(line.startswith(("  missing: c", "  missing: qa_outputs")) for line in rest)
    assert (result.status, result.out) == (1, b"")


@pytest.mark.parametrize("name", ["out.jsonl", "out.npy"])
def test_an_output_that_cannot_be_written(npbert, checkpoints, tmp_path, name):
    (tmp_path / "file").touch()
    (tmp_path / name).mkdir()
    for path, reason in [
        (tmp_path / "missing" / name, "No such file or directory"),
        (tmp_path / "file" / name, "Not a directory"),
        (tmp_path / name, "Is a directory"),
    ]:
        assert_error(npbert("embed", checkpoints["embed"], "--output", path, stdin=b"cat"), f"{path}: {reason}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", name]


@pytest.mark.parametrize("name", ["out.jsonl", "out.npy"])
def test_a_disk_that_is_full_leaves_the_old_output(npbert, checkpoints, tmp_path, monkeypatch, name):
    def full(handle):
        raise OSError(28, "No space left on device", name)

    (tmp_path / name).write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    result = npbert("embed", checkpoints["embed"], "--output", tmp_path / name, stdin=b"cat")
    assert_error(result, f"{name}: No space left on device")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_too_many_texts_in_a_line(npbert, checkpoints, tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(b"a cat\ta dog\nthe\ta\tcat\tdog\n")
    message = ", line 2: 4 texts, wanted one, or two with a tab between them"
    assert_error(npbert("classify", checkpoints["classify"], path), f"{path}{message}")
    assert_error(npbert("classify", checkpoints["classify"], stdin=path.read_bytes()), f"standard input{message}")


FINE = b'{"question": "cat?", "passage": "the cat"}\n'


@pytest.mark.parametrize(
    "line",
    [
        "cat?",
        '{"question": "cat?", "passage": "the',
        '{"question": "cat?"}',
        '{"passage": "the cat"}',
        '["cat?", "the cat"]',
        '"cat?"',
        "7",
        "null",
        "",
        '{"question": 7, "passage": "the cat"}',
        '{"question": "cat?", "passage": null}',
        '{"question": ["cat?"], "passage": ["the cat"]}',
        '{"question": "cat?", "passage": "the \\ud83d"}',
    ],
)
def test_a_line_that_is_no_question(npbert, checkpoints, tmp_path, line):
    path = tmp_path / "questions.jsonl"
    path.write_bytes(FINE + line.encode() + b"\n" + FINE)
    wanted = 'wanted a JSON object with the strings "question" and "passage", or --question'
    message = f", line 2: {wanted}; got {line!r}"
    assert_error(npbert("answer", checkpoints["answer"], path), f"{path}{message}")
    assert_error(npbert("answer", checkpoints["answer"], stdin=path.read_bytes()), f"standard input{message}")


def test_a_long_line_is_not_shown_in_full(npbert, checkpoints):
    result = npbert("answer", checkpoints["answer"], stdin=b"x" * 10**5)
    assert result.err.endswith(f"got '{'x' * 60}'\n")


@pytest.mark.parametrize(
    ("command", "arguments", "stdin", "message"),
    [
        ("embed", ["--layer", "3"], b"cat", "layer is 3, wanted 0 to 2, or -3 to -1 from the end"),
        ("embed", ["--layer", "-4"], b"cat", "layer is -4, wanted 0 to 2, or -3 to -1 from the end"),
        ("fill-mask", [], b"a [MASK]\nthe cat\n", "text 2 has no [MASK], or it was cut off: 'the cat'"),
        ("fill-mask", ["--top-k", "0"], b"[MASK]", "top_k is 0, wanted at least 1"),
        ("answer", ["--n-best", "0"], FINE, "… n_best 0: wanted at least 1 of each"),
        ("answer", ["--question", "cat?"], b"\x00", "the passage for the question 'cat?' is empty"),
    ],
)
def test_values_that_are_none(npbert, checkpoints, command, arguments, stdin, message):
    assert_error(npbert(command, checkpoints[command], *arguments, stdin=stdin), message)


@pytest.mark.parametrize("library", ["tokenizers", "safetensors"])
def test_without_an_extra(npbert, checkpoints, monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    message = f"this needs the package {library}, which is not installed: in npbert's folder, pip install '.[hf]'"
    assert_error(npbert("embed", checkpoints["embed"], stdin=b"cat"), message)


@pytest.mark.parametrize("arguments", [["--pooling", "max"], ["--layer", "last"], ["file", "another"]])
def test_arguments_that_are_not_understood(npbert, checkpoints, capsysbinary, arguments):
    with pytest.raises(SystemExit) as stop:
        npbert("embed", checkpoints["embed"], *arguments)
    assert stop.value.code == 2
    assert b"error: " in capsysbinary.readouterr().err
