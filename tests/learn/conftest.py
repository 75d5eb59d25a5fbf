"""`npbert learn`, as a learner types it, in an empty folder; and what is the same for all tests, made once."""

import pytest

from npbert.cli import learn as learn_command, main
from npbert.learn import judge_file
from npbert.learn.exercises import EXERCISES


@pytest.fixture
def learn(tmp_path, monkeypatch, capsys):
    """learn("check 02") -> status, what is printed, what is said on standard error; in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(arguments=""):
        capsys.readouterr()
        status = main(["learn", *arguments.split()])
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def in_this_process(monkeypatch):
    """The checker without a process of its own."""
    monkeypatch.setattr(learn_command, "check", judge_file)


@pytest.fixture
def folder(learn, tmp_path, in_this_process):
    """The folder of exercises, just written."""
    learn()
    return tmp_path / "backprop"


@pytest.fixture
def judge(tmp_path):
    """judge(number, text) -> the verdict on a file with this text."""

    def judge(exercise, text):
        exercise = EXERCISES[exercise] if isinstance(exercise, int) else exercise
        path = tmp_path / exercise.file_name
        path.write_text(text, encoding="utf-8")
        return judge_file(exercise, path)

    return judge
