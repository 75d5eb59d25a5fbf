"""%%exercise: a cell is an answer, and what is said of it is what `npbert learn check` says of the same file."""

import re
from textwrap import dedent

import pytest

from npbert.learn import check, exercise_of, load_ipython_extension, printing
from npbert.learn.notebook import file_with

LINEAR = exercise_of("2")
RIGHT = dedent("""\
    class Linear(Layer):
        def __init__(self, in_features, out_features, init):
            self.weight = init.normal(in_features, out_features)
            self.bias = init.zeros(out_features)

        def forward(self, x, tape=NO_TAPE):
            tape.keep(self, x)
            return matmul(x, self.weight.value, plus=self.bias.value)

        def backward(self, dy, tape):
            x = tape.take(self)
            self.weight.add_grad(x.T @ dy)
            self.bias.add_grad(dy.sum(axis=0))
            return dy @ self.weight.value.T
""")


class Shell:
    """What the extension wants of IPython."""

    def register_magic_function(self, function, kind, name):
        assert (kind, name) == ("line_cell", "exercise")
        self.exercise = function

    def set_next_input(self, text):
        self.cell = text


@pytest.fixture
def shell():
    found = Shell()
    load_ipython_extension(found)
    return found


def test_a_cell_gets_the_sentences_of_the_command_with_its_own_line_numbers(shell, tmp_path):
    sheet = shell.exercise("02", RIGHT.replace("dy.sum", "dy.mean"))
    lines = RIGHT.partition("tape.take(self)\n")[2].replace("dy.sum", "dy.mean")
    path = tmp_path / LINEAR.file_name
    path.write_text(LINEAR.source().replace('        raise NotImplementedError("backward is yours to write")\n', lines))
    said = printing.answer(LINEAR, check(LINEAR, path)).replace("npbert learn", "%exercise")
    assert re.sub(r"\d+", "n", str(sheet)) == re.sub(r"\d+", "n", said)
    assert sheet.is_right is False and "line 14 (sum or mean)" in str(sheet)
    assert "self.bias.add_grad(dy.sum(axis=0))" in str(shell.exercise("hint 02 4"))
    assert str(shell.exercise("hint 02 2")).startswith("02 Linear, hint 2 of 3")
    assert "once yours is right" in str(shell.exercise("show 02"))


def test_a_right_cell_is_laid_beside_the_library(shell):
    sheet = shell.exercise("02", RIGHT)
    assert sheet.is_right and "%exercise show 02 lays yours beside the library's." in str(sheet)
    shown = str(shell.exercise("show 02"))
    assert "Linear.backward, yours (your cell)" in shown and "npbert/layers/linear.py" in shown


def test_the_task_comes_with_a_cell_for_the_answer(shell):
    assert "01: the numerical derivative" in str(shell.exercise(""))
    assert str(shell.exercise("2")).startswith("Exercise 2: Linear\n  Most of what BERT computes")
    assert shell.cell.startswith("%%exercise 02\nclass Linear(Layer):\n") and "import" not in shell.cell
    assert file_with(LINEAR, LINEAR.source()) == f"\n{LINEAR.source()}"
    assert "def softmax(x: Array)" in file_with(exercise_of("4"), "class Softmax: pass")


@pytest.mark.parametrize("line, says", [("frog", "There is no exercise 'frog'"), ("hint 02 5", "There is no hint 5")])
def test_what_there_is_not_is_said_in_a_sentence(shell, line, says):
    assert str(shell.exercise(line)).startswith(says)
