"""What the command says on standard error, and that it leaves the logging of the program around it alone. Under a
launcher of several processes one speaks for all, and what shares no work is refused."""

import io
import logging
import re
import sys
import warnings
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from npbert.cli import main
from npbert.io import ALONE, messages_on_standard_error
from npbert.io.files import FileError, read_text
from npbert.io.lines import read_lines
from npbert.io.messages import LOGGER, is_quiet, printable

QUIET, USUAL, VERBOSE = logging.ERROR, logging.INFO, logging.DEBUG
SAID = {
    QUIET: "npbert: error: wrong\n",
    USUAL: "npbert: note\nnpbert: cut\nnpbert: error: wrong\n",
    VERBOSE: "npbert: detail\nnpbert: note\nnpbert: cut\nnpbert: error: wrong\n",
}


def state():
    return LOGGER.level, LOGGER.propagate, list(LOGGER.handlers), list(logging.root.handlers), warnings.showwarning


@pytest.mark.parametrize("level", SAID)
def test_how_much_is_said(level, capsys, caplog):
    before = state()
    with messages_on_standard_error():
        LOGGER.setLevel(level)
        warnings.simplefilter("always")
        LOGGER.debug("detail")
        LOGGER.info("note")
        warnings.warn("cut", stacklevel=1)
        LOGGER.error("wrong")
        assert is_quiet() == (level == QUIET)
    assert (*capsys.readouterr(), caplog.text) == ("", SAID[level], "")
    assert state() == before
    assert LOGGER.propagate


def test_verbose_names_files_and_the_time(npbert, checkpoints):
    folder = checkpoints["embed"]
    *said, last = npbert("embed", folder, "-v", stdin=b"cat").err.splitlines()
    for file in ("config.json", "model.safetensors", "vocab.txt"):
        assert f"npbert: reading {folder / file}" in said
    assert "npbert: read standard input: 3 characters" in said
    assert re.fullmatch(r"npbert: it took [\d.]+ s, on \d+ threads?", last)


def test_the_logging_of_a_program_that_uses_npbert(tmp_path, caplog, capsys):
    """It hears of npbert what it asked for; unless it asked, nothing is said."""
    (tmp_path / "text").write_text("cat")
    read_text(tmp_path / "text")
    assert (caplog.text, *capsys.readouterr()) == ("", "", "")
    with caplog.at_level(logging.DEBUG, "npbert"):
        read_text(tmp_path / "text")
    assert f"reading {tmp_path / 'text'}" in caplog.text


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_note_when_it_waits_for_the_keyboard(is_terminal, monkeypatch, capsys):
    keyboard = io.BytesIO(b"a cat\n")
    keyboard.isatty = lambda: is_terminal
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=keyboard))
    with messages_on_standard_error():
        assert read_lines("-") == ["a cat"]
    wanted = "npbert: reading from the keyboard: type a text on each line, and end with Ctrl-"
    assert capsys.readouterr().err[: len(wanted)] == wanted * is_terminal


def test_of_a_long_message_the_first_lines_are_kept():
    first, *_, last = lines = printable("\n".join(map(str, range(161)))).split("\n")
    assert (len(lines), first, last) == (30, "0", "… and 132 more lines")


def test_streams_that_were_closed_before_the_command_began(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(FileError, match="standard input is closed, wanted text in it"):
        read_lines("-")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        assert main(["params", "bert-tiny"]) == 1
    assert capsys.readouterr().err == "npbert: error: standard output is closed, wanted a terminal, a file or a pipe\n"


NOT_SHARED = "npbert: error: 2 processes were started, but only pretrain and finetune can share work; "
NOT_SHARED += "start npbert as one process"
BY_ALL = {  # a command, and the last line of what it says
    "pretrain run --steps x": "npbert pretrain: error: --steps is 'x', wanted a whole number",
    "finetune run": "npbert finetune: error: --model is missing, wanted the folder of a checkpoint",
    "evaluate run dev.tsv": NOT_SHARED.replace("npbert", "npbert evaluate"),
    "": NOT_SHARED,
}


@pytest.fixture(params=[0, 1])
def rank(request, monkeypatch):
    monkeypatch.setenv("PMI_SIZE", "2")
    monkeypatch.setenv("PMI_RANK", str(request.param))
    return request.param


@pytest.mark.parametrize(("command", "said"), BY_ALL.items())
def test_what_is_wrong_for_all_is_said_by_the_first(command, said, rank, capsys, monkeypatch):
    monkeypatch.setattr("npbert.cli.training.world", Mock(return_value=ALONE))
    assert main(command.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1:] == ([] if rank else [said])


def test_that_it_was_stopped_is_said_once(rank, capsys, monkeypatch):
    monkeypatch.setattr("npbert.cli.training.world", Mock(side_effect=KeyboardInterrupt))
    assert main(["finetune", "run", "--model", "folder", "--train", "train.tsv"]) == 130
    assert capsys.readouterr().err == ("" if rank else "\nstopped\n")
