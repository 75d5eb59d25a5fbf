"""`npbert learn`, as a learner types it, in an empty folder."""

import pytest

from npbert.cli import learn as command
from npbert.cli import main
from npbert.learn import judge_file


@pytest.fixture
def learn(tmp_path, monkeypatch, capsys):
    """learn("check", "02") -> status, what is printed, what is said on standard error; in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments):
        capsys.readouterr()
        status = main(["learn", *arguments])
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def in_this_process(monkeypatch):
    """The checker without a process of its own."""
    monkeypatch.setattr(command, "check", judge_file)
