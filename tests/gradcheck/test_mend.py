"""Mending: a small mistake in a right backward is found at its line, as what it is; and wrong numbers are told as those
of a right backward with an edit, however they were computed."""

import numpy as np
import pytest

from npbert.gradcheck.explain import Code, Mending, describe
from npbert.gradcheck.explain.finding import edited
from npbert.gradcheck.explain.reasons import KINDS
from tests.gradcheck.mending import JUDGES, LINEAR, NORM, PICKED, TABLE, TANH, WINDOWS, code
from tests.tables import one_in

MISTAKES = [
    (LINEAR, "x.T @ dy", "x.T @ dy / len(x)", "extra factor"),
    (LINEAR, "x.T @ dy", "dy.T @ x", "order transpose"),
    (LINEAR, "dy.sum(axis=0)", "dy.sum(axis=1)", "axis"),
    (LINEAR, "dy.sum(axis=0)", "dy.mean(axis=0)", "sum or mean"),
    (LINEAR, "dy @ w.T", "dy @ w", "transpose"),
    (LINEAR, "return ", "dw *= len(x)\n    return ", "extra line"),
    (NORM, "dx_hat * x_hat).mean", "dy * x_hat).mean", "wrong name"),
    (NORM, "shift - x_hat", "shift + x_hat", "sign"),
    (NORM, "x_hat * stretch) / sigma", "x_hat * stretch / sigma)", "brackets"),
    (NORM, ") / sigma", ") / np.sqrt(sigma)", "extra step"),
    (TABLE, "dtable[v] += dy[n]", "dtable[v] = dy[n]", "= or +="),
    (TABLE, "for n, v in enumerate(ids):\n        dtable[v] += dy[n]", "dtable[ids] += dy", "repeated index"),
    (PICKED, "dx[ids, np.arange(len(ids))]", "dx[ids]", "index"),
    (WINDOWS, "(n, 2, -1).swapaxes(0, 1)", "(2, n, -1)", "reshape"),
    (TANH, "h**2", "h**3", "constant"),
    (TANH, "(1 - p)", "p", "other share"),
]


@pytest.mark.parametrize(("right", "before", "after", "kinds"), one_in(4, MISTAKES))
def test_a_mistake_is_found_at_its_line(right, before, after, kinds):
    assert right.count(before) == 1
    source = right.replace(before, after).lstrip("\n")
    judge = JUDGES[right]()
    found = Mending(code(source, first=40), judge).run()

    assert not found.left
    (step,) = found.steps
    finding = step.finding
    assert finding.kind in kinds
    assert finding.line == 39 + right[: right.index(before)].count("\n")
    assert finding.found in source
    assert finding.cause == KINDS[finding.kind].cause
    mended = code(source.replace(finding.place, edited(finding), 1))
    assert not any(judge.look(mended.compiled(lambda: True), k).wrong for k in (0, 1))


def test_the_edit_is_told_on_request_alone():
    source = LINEAR.replace("dy.sum(axis=0)", "dy.sum(axis=1)").lstrip("\n")
    finding = Mending(code(source), JUDGES[LINEAR]()).run().steps[0].finding
    assert "axis=0" not in describe(finding)
    assert "     3:  db = dy.sum(axis=1)\n" in describe(finding)
    assert "With this change ddb" not in describe(finding)
    assert "is right:\n         db = dy.sum(axis=0)" in describe(finding, edit=True)


@pytest.mark.parametrize("right", JUDGES, ids=["linear", "norm", "table", "picked", "windows", "tanh"])
def test_right_code_needs_nothing(right):
    judge = JUDGES[right]()
    found = Mending(code(right), judge).run()
    assert (found.steps, found.left) == ([], set())
    assert judge.runs == len(judge.samples) + 1


def test_each_output_is_mended_by_itself():
    source = LINEAR.replace("x.T @ dy", "x.T @ dy / len(x)").replace("axis=0", "axis=1").replace("w.T", "w.T * 2")
    found = Mending(code(source.lstrip("\n")), JUDGES[LINEAR]()).run()
    kinds = {step.finding.line: step.finding.kind for step in found.steps}
    assert (kinds, found.left) == ({2: "extra factor", 3: "axis", 4: "extra factor"}, set())


def told_of(right, wrong):
    """The edits of the right backward that give the numbers of the wrong one."""
    judge = JUDGES[right]()
    judge.samples = [
        (arrays, dict(zip(judge.names, code(wrong).compiled(lambda: True)(*arrays), strict=True)))
        for arrays, _ in judge.samples
    ]
    return Mending(code(right), judge).run().told_of(code(wrong))


def test_what_cannot_be_mended_is_not_guessed_at():
    wrong = TABLE.replace("dtable[v] += dy[n]", "dtable[(v * 7 + n) % len(table)] += np.cos(dy[n])")
    found = Mending(code(wrong), JUDGES[TABLE]()).run()
    assert (found.left, found.steps) == ({"dtable"}, [])


@pytest.mark.parametrize(
    "line",
    ["while True: pass", "import sys; sys.exit()", "print('x' * 99)"],
)
def test_endless_loops_exceptions_and_prints_are_survived(line, capsys):
    source = LINEAR.replace("    return", f"    {line}\n    return").lstrip("\n").replace("axis=0", "axis=1")
    found = Mending(code(source), JUDGES[LINEAR]()).run()
    assert capsys.readouterr() == ("", "")
    assert all(step.finding.line in (3, 5) for step in found.steps)


def test_the_code_of_a_method_is_read_with_its_lines_and_its_class():
    class Base:
        def backward(self, dy):
            return dy * 2

    class Layer(Base):
        def backward(self, dy):
            dx = super().backward(dy)
            return dx + 1

    method = Code.of(Layer.backward)
    assert method.functions[0].lineno == Layer.backward.__code__.co_firstlineno
    function = method.compiled(lambda: True)
    assert np.array_equal(function(Layer(), np.ones(2)), [3, 3])


WITHOUT_A_TERM = """
def backward(dy, x_hat, sigma, gamma):
    dx = np.empty_like(dy)
    for n in range(len(dy)):
        row = [dy[n, j] * gamma[j] for j in range(len(gamma))]
        dx[n] = (np.array(row) - sum(row) / len(row)) / sigma[n, 0]
    return dx, None, np.einsum("nd,nd->d", dy, x_hat)
"""
LAST_WINS = """
def backward(dy, ids, table):
    onehot = np.eye(len(table))[ids]
    last = np.array([not (ids[n + 1:] == ids[n]).any() for n in range(len(ids))])
    return None, onehot.T @ (dy * last[:, None])
"""


@pytest.mark.parametrize(
    ("right", "wrong", "subject", "kind", "line"),
    [
        (NORM, WITHOUT_A_TERM, "dx_hat", "missing term", 5),
        (TABLE, LAST_WINS, "dtable", "= or +=", 4),
    ],
)
def test_the_edit_that_gives_the_numbers(right, wrong, subject, kind, line):
    (finding,) = told_of(right, wrong)
    assert (finding.subject, finding.kind, finding.line) == (subject, kind, line)
    assert finding.wanted in right
    assert finding.found not in wrong
    assert finding.wanted not in describe(finding)
    assert finding.wanted in describe(finding, edit=True)


def test_right_numbers_and_failing_code_are_told_nothing():
    assert told_of(LINEAR, LINEAR) == []
