"""mend: a small mistake in a right backward is found at its line, as what it is."""

import time

import numpy as np
import pytest

from npbert.gradcheck.explain import Code, mend, shown
from npbert.gradcheck.explain.reasons import KINDS
from tests.gradcheck.mending import JUDGES, LINEAR, NORM, TABLE, TANH, code

MISTAKES = [
    (LINEAR, "x.T @ dy", "x.T @ dy / len(x)", "drop factor"),
    (LINEAR, "x.T @ dy", "dy.T @ x", "order transpose"),
    (LINEAR, "x.T @ dy", "-x.T @ dy", "sign"),
    (LINEAR, "x.T @ dy", "np.einsum('ni,no->oi', x, dy)", "einsum transpose order"),
    (LINEAR, "dy.sum(axis=0)", "dy.sum(axis=1)", "axis"),
    (LINEAR, "dy.sum(axis=0)", "dy.sum(axis=0, keepdims=True)", "keepdims"),
    (LINEAR, "dy.sum(axis=0)", "dy.mean(axis=0)", "sum or mean"),
    (LINEAR, "dy.sum(axis=0)", "dy.sum(axis=0) + b", "drop term"),
    (LINEAR, "dy @ w.T", "dy @ w", "transpose"),
    (LINEAR, "dx, dw, db\n", "dx, db, dw\n", "order"),
    (NORM, "dy * gamma", "dy", "factor"),
    (NORM, "dx_hat * x_hat).mean", "dy * x_hat).mean", "name"),
    (NORM, " - x_hat * stretch", "", "term"),
    (NORM, "shift - x_hat", "shift + x_hat", "sign"),
    (NORM, "x_hat * stretch) / sigma", "x_hat * stretch / sigma)", "regroup"),
    (NORM, ") / sigma", ") * sigma", "operator"),
    (NORM, ") / sigma", ") / sigma**2", "drop factor"),
    (NORM, ") / sigma", ") / np.sqrt(sigma)", "unwrap"),
    (TABLE, "dtable[v] += dy[n]", "dtable[v] = dy[n]", "accumulate"),
    (TABLE, "dtable[v] += dy[n]", "dtable[v] += dy[v]", "index name size"),
    (TABLE, "zeros_like", "ones_like", "sum or mean"),
    (TABLE, "for n, v in enumerate(ids):\n        dtable[v] += dy[n]", "dtable[ids] += dy", "repeated index"),
    (TANH, "h**2", "h", "factor wrap expression operator"),
    (TANH, "1 - h", "1 + h", "sign"),
    (TANH, "h**2", "h**3", "constant"),
    (TANH, "(1 - p)", "p", "wrap"),
]


@pytest.mark.parametrize(("right", "before", "after", "kinds"), MISTAKES, ids=lambda value: str(value)[:24].strip())
def test_a_mistake_is_found_at_its_line(right, before, after, kinds):
    assert right.count(before) == 1
    source = right.replace(before, after).lstrip("\n")
    judge = JUDGES[right]()
    found = mend(code(source, first=40), judge)

    assert not found.left
    (step,) = found.steps
    finding = step.finding
    assert finding.kind in kinds
    assert finding.line == 39 + right[: right.index(before)].count("\n")
    assert finding.found in source
    assert finding.cause == KINDS[finding.kind].cause
    mended = code(source.replace(finding.place, finding.place.replace(finding.found, finding.wanted, 1), 1))
    assert not any(judge.look(mended.compiled(lambda: True), k).wrong for k in (0, 1))


def test_the_edit_is_told_on_request_alone():
    source = LINEAR.replace("dy.sum(axis=0)", "dy.sum(axis=1)").lstrip("\n")
    finding = mend(code(source), JUDGES[LINEAR]()).steps[0].finding
    assert "axis=0" not in shown(finding)
    assert "     3:  db = dy.sum(axis=1)\n" in shown(finding)
    assert "With this change ddb" not in shown(finding)
    assert "is right:\n         db = dy.sum(axis=0)" in shown(finding, edit=True)


@pytest.mark.parametrize("right", JUDGES, ids=["linear", "norm", "table", "tanh"])
def test_right_code_needs_nothing(right):
    judge = JUDGES[right]()
    found = mend(code(right), judge)
    assert (found.steps, found.left) == ((), ())
    assert judge.runs == len(judge.samples) + 1


def test_each_output_is_mended_by_itself():
    source = LINEAR.replace("x.T @ dy", "x.T @ dy / len(x)").replace("axis=0", "axis=1").replace("w.T", "w.T * 2")
    found = mend(code(source.lstrip("\n")), JUDGES[LINEAR]())
    assert sorted((step.finding.line, step.finding.kind) for step in found.steps) == [
        (2, "drop factor"),
        (3, "axis"),
        (4, "drop factor"),
    ]
    assert not found.left


def test_two_mistakes_in_one_output_are_mended_at_once():
    source = NORM.replace("x_hat).mean", "x_hat).sum").replace(" - shift", " + shift").lstrip("\n")
    found = mend(code(source), JUDGES[NORM](), limit=5.0)
    assert sorted((step.finding.line, step.finding.kind) for step in found.steps) == [(5, "sum or mean"), (6, "sign")]


def test_what_cannot_be_mended_is_not_guessed_at():
    source = TABLE.replace("dtable[v] += dy[n]", "dtable[(v * 7 + n) % len(table)] += np.cos(dy[n])").lstrip("\n")
    found = mend(code(source), JUDGES[TABLE](), limit=0.5)
    assert found.left == ("dtable",)
    assert not found.steps


@pytest.mark.parametrize(
    "line",
    ["while True: pass", "1 / 0", "import sys; sys.exit()", "input()", "open('/nowhere', 'w')", "print('x' * 99)"],
)
def test_endless_loops_exceptions_and_prints_are_survived(line, capsys):
    source = LINEAR.replace("    return", f"    {line}\n    return").lstrip("\n").replace("axis=0", "axis=1")
    start = time.process_time()
    found = mend(code(source), JUDGES[LINEAR](), limit=2.0)
    assert time.process_time() - start < 4
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
    assert method.first == Layer.backward.__code__.co_firstlineno
    function = method.compiled(lambda: True)
    assert np.array_equal(function(Layer(), np.ones(2)), [3, 3])
