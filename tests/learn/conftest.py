"""`npbert learn`, as a learner types it, in an empty folder; and what is the same for all tests, made once."""

from functools import cache

import pytest

from npbert.cli import learn as command
from npbert.cli import main
from npbert.learn import WRONG, judge_file
from npbert.learn.exercises import EXERCISES


def made_once(thing, name):
    """Let a function of a frozen thing keep what it returns: a learner's process asks once, the tests 2,000 times."""
    made = getattr(thing, name)
    object.__setattr__(thing, name, cache(made))


for exercise in EXERCISES.values():
    made_once(exercise, "source")


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
    monkeypatch.setattr(command, "check", lambda exercise, path, at_once=None: judge_file(exercise, path))


@pytest.fixture
def wrong(tmp_path):
    """wrong(number, text) -> the verdict on a file with this text, which is not right."""

    def wrong(number, text):
        path = tmp_path / EXERCISES[number].file_name
        path.write_text(text, encoding="utf-8")
        verdict = judge_file(EXERCISES[number], path, mends=False)
        assert verdict.status == WRONG
        return verdict

    return wrong
