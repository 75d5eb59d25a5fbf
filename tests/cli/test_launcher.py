"""Under a launcher of several processes one speaks for all, and what shares no work is refused."""

from unittest.mock import Mock

import pytest

from npbert.cli import main
from npbert.cli.log import in_silence, said_once

BOTH = "npbert: error: 2 processes were started, and only pretrain and finetune share their work: "
BOTH += "start {} as one process"
SAID = {  # a command, and the last line of what it says
    "pretrain run --steps x": "npbert pretrain: error: argument --steps: 'x' is not a whole number",
    "evaluate run dev.tsv": BOTH.format("npbert evaluate"),
    "report run": BOTH.format("npbert report"),
    "": BOTH.format("npbert"),
}


@pytest.fixture(params=[0, 1])
def rank(request, monkeypatch):
    monkeypatch.setenv("PMI_SIZE", "2")
    monkeypatch.setenv("PMI_RANK", str(request.param))
    return request.param


@pytest.mark.parametrize(("command", "said"), SAID.items())
def test_what_is_wrong_for_all_is_said_by_the_first(command, said, rank, capsys):
    with pytest.raises(SystemExit) as ended:
        main(command.split())
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert err.splitlines()[-1:] == ([] if rank else [said])


@pytest.mark.parametrize("silence", [in_silence, said_once])
def test_the_others_are_silent_whatever_is_printed(silence, monkeypatch, capsys):
    monkeypatch.setenv("PMI_SIZE", "2")
    monkeypatch.setenv("PMI_RANK", "1")
    with silence():
        print("half a character, as the name of a file may have it: \ud83d")
    assert capsys.readouterr().out == ""


def test_help_is_shown_once(rank, capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert capsys.readouterr().out.count("npbert COMMAND") == (rank == 0)


def test_that_it_was_stopped_is_said_once(rank, capsys, monkeypatch):
    monkeypatch.setattr("npbert.cli.training.world", Mock(side_effect=KeyboardInterrupt))
    assert main(["finetune", "run", "--model", "folder", "--train", "train.tsv"]) == 130
    assert capsys.readouterr().err == ("" if rank else "\nstopped\n")


def test_one_process_may_do_anything(monkeypatch, capsys):
    monkeypatch.setenv("PMI_SIZE", "1")
    assert main(["params", "bert-tiny"]) == 0
