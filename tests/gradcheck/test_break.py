"""broken_from: wrong numbers are told as those of a right backward with an edit, however they were computed."""

import pytest

from npbert.gradcheck.explain import broken_from, describe
from tests.gradcheck.mending import JUDGES, LINEAR, NORM, TABLE, code

WITHOUT_A_TERM = """
def backward(dy, x_hat, sigma, gamma):
    dx = np.empty_like(dy)
    for n in range(len(dy)):
        row = [dy[n, j] * gamma[j] for j in range(len(gamma))]
        dx[n] = (np.array(row) - sum(row) / len(row)) / sigma[n, 0]
    return dx, None, np.einsum("nd,nd->d", dy, x_hat)
"""
OTHER_AXIS = """
def backward(dy, x, w, b):
    rows, columns = dy.shape
    db = np.array([sum(dy[n, o] for n in range(rows)) / rows for o in range(columns)])
    return np.dot(dy, w.T), np.dot(x.T, dy), db
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
        (LINEAR, OTHER_AXIS, "db", "sum or mean", 3),
        (TABLE, LAST_WINS, "dtable", "= or +=", 4),
    ],
    ids=["missing term", "mean", "last"],
)
def test_the_edit_that_gives_the_numbers(right, wrong, subject, kind, line):
    (finding,) = broken_from(code(right), JUDGES[right](), code(wrong))
    assert (finding.subject, finding.kind, finding.line) == (subject, kind, line)
    assert finding.wanted in right
    assert finding.found not in wrong
    assert finding.wanted not in describe(finding)
    assert finding.wanted in describe(finding, edit=True)


def test_right_numbers_and_failing_code_are_told_nothing():
    assert broken_from(code(LINEAR), JUDGES[LINEAR](), code(LINEAR)) == []
    assert broken_from(code(LINEAR), JUDGES[LINEAR](), code(LINEAR.replace("x.T @ dy", "x @ dy"))) == []


def test_numbers_of_no_small_edit_are_told_nothing():
    wrong = TABLE.replace("dtable[v] += dy[n]", "dtable[(v * 7 + n) % len(table)] += np.cos(dy[n])")
    assert broken_from(code(TABLE), JUDGES[TABLE](), code(wrong), limit=0.5) == []
