"""%%exercise: a cell is an answer, and what is said of it is what `npbert learn check` says of the same file."""

import re
from unittest.mock import Mock

import pytest

from npbert.learn import exercise_of, judge_file, load_ipython_extension, printing
from npbert.learn.notebook import file_with

LINEAR = exercise_of("2")
HEAD, BLANK = re.fullmatch(r".*?(class .*?)( *raise [^\n]*\n)", LINEAR.source, re.DOTALL).groups()
WRONG = "        self.bias.add_grad(dy.mean(axis=0))"
ANSWER = f"        self.weight.add_grad(x.T @ dy)\n{WRONG}\n        return dy @ self.weight.value.T\n"
load_ipython_extension(SHELL := Mock())
((exercise, *_), _) = SHELL.register_magic_function.call_args


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """The checker without a process of its own."""
    monkeypatch.setattr("npbert.learn.notebook.check", judge_file)


def test_a_cell_gets_the_sentences_of_the_command_with_its_own_line_numbers(tmp_path):
    said_here, path = exercise("02", HEAD + ANSWER), tmp_path / LINEAR.file_name
    path.write_text(LINEAR.source.replace(BLANK, ANSWER))
    said = printing.explained(LINEAR, judge_file(LINEAR, path)).replace("npbert learn", "%exercise")
    assert re.sub(r"\d+", "n", said_here) == re.sub(r"\d+", "n", said)
    line = 2 + (HEAD + ANSWER).splitlines().index(WRONG)  # the first is that of %%exercise
    assert f"line {line} (sum or mean)" in said_here
    assert "self.bias.add_grad(dy.sum(axis=0))" in str(exercise("hint 02 4"))
    assert str(exercise("hint 02 2")).startswith("02 Linear, hint 2 of 3")
    assert "once yours is right" in str(exercise("show 02"))
    assert exercise("02", HEAD + ANSWER.replace("mean", "sum")).startswith("02 Linear: right")
    shown = str(exercise("show 02"))
    assert "Linear.backward, yours (your cell)" in shown and "npbert/layers/linear.py" in shown


def test_the_task_comes_with_a_cell_for_the_answer():
    assert "01 the numerical derivative: not begun" in str(exercise(""))
    assert str(exercise("2")).startswith("Exercise 2: Linear\n  Most of what BERT computes")
    SHELL.set_next_input.assert_called_once_with(f"%%exercise 02\n{HEAD}{BLANK}".rstrip("\n"))
    assert file_with(LINEAR, LINEAR.source) == f"\n{LINEAR.source}"
    assert str(exercise("frog")).startswith("EXERCISE is 'frog', wanted 1 to")
    assert str(exercise("hint 02 5")).startswith("The hint is 5, wanted 1 to 4")
    assert str(exercise("", "x = 1")).startswith("The exercise is missing, wanted its number, such as %%exercise 02.")


def test_a_cell_without_what_is_asked_for_is_told_so_as_a_cell():
    assert "not begun" in str(exercise("02", HEAD + BLANK))
    said = str(exercise("02", HEAD.replace("def forward", "def ahead") + ANSWER))
    assert "Linear.forward is missing in your cell" in said
    assert "  Your cell is not valid Python yet" in str(exercise("02", "class Linear"))
