"""Whatever is in the file, the answer is one clear message."""

import itertools
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from npbert.learn import RIGHT, WRONG, check, judge_file
from npbert.learn.exercises import EXERCISES
from tests.learn.answering import answered
from tests.learn.right_answers import RIGHT as ANSWERS

LINEAR = EXERCISES[2]


def linear(body):
    return answered(2, {"backward": body})


@pytest.fixture
def path(tmp_path):
    return tmp_path / LINEAR.file_name


@pytest.mark.parametrize(
    ("text", "says", "because"),
    [
        ("def f(:\n    pass\n", "02_linear.py is no valid Python yet: invalid syntax, in line 1.", "def f(:"),
        (linear("return dx"), "stops with NameError: name 'dx' is not defined", ":  return dx"),
        (
            linear("return dy @ self.weight.value"),
            "stops with ValueError: matmul",
            "dy (7, 3) @ self.weight.value (5, 3): for @ the inner two, 3 and 5, must be equal.",
        ),
        (
            linear("wide = x[None]\nz = None\nreturn (1 +\n    wide @ dy.T[:2])"),
            "stops with ValueError: matmul: the shapes do not fit",
            "wide (1, 7, 5) @ dy.T[:2] (2, 7): for @ the inner two, 5 and 2, must be equal.",
        ),
        (
            linear("return np.stack([x.T] * 2) @ np.stack([dy] * 3)"),
            "stops with ValueError: ",
            "What is there: x (7, 5), dy (7, 3), self.weight.value (5, 3), self.bias.value (3,)",
        ),
        (
            linear("two, three = np.stack([x.T] * 2), np.stack([dy] * 3)\nreturn two @ three"),
            "stops with ValueError: ",
            "two (2, 5, 7) @ three (3, 7, 3): the axes before the last two must be equal, or 1, and 2 and 3 are not.",
        ),
        (
            linear("dw = x.T @ dy\nreturn x @ dw[0, 0]"),
            "stops with ValueError: matmul",
            "x (7, 5), dw (5, 3), dy (7, 3)",
        ),
        (linear("").replace("    def forward", "    def ahead"), "There is no forward in Linear any more.", "made"),
        (
            linear("breakpoint()\nreturn dy"),
            "stops with BdbQuit: breakpoint() ends the check",
            ":  breakpoint()\n",
        ),
        (
            linear("import pdb; pdb.set_trace()\nreturn dy"),
            "stops with BdbQuit: breakpoint() ends the check",
            "pdb.set_trace()\n",
        ),
        (linear("dy *= 2"), "writes into an array that belongs to somebody else.", "dx = dy * a"),
        (linear("x += 1"), "writes into an array that belongs to somebody else.", ":  x += 1"),
        (linear("import sys\nsys.exit(3)"), "stops with SystemExit: the file ends the program", "sys.exit(3)"),
        (linear("pass"), "Backward returns nothing, wanted dx: does it end with a `return`?", ""),
        (linear("return dy, x"), "2 things, wanted dx: a parameter's gradient is not returned, but handed over", ""),
        (linear("return 3.0"), "Backward returns a float for dx, wanted an array.", ""),
        (linear("return dy"), "dx has shape (7, 3), and x has shape (7, 5).", "dx, dW and db are not right"),
        (linear("return x"), "dx is wrong; line 56", "2. dW is wrong"),
        (linear("return 0 * x"), "dx is wrong; line 56", "2. dW is wrong"),
        ("x = 1\n", "There is no class Linear in 02_linear.py.", "rename the file"),
        ("Linear = 1\n", "There is no class Linear in 02_linear.py.", "rename the file"),
        (linear("pass").replace("class Linear", "1 / 0\nclass Linear"), "stops with ZeroDivisionError", "1 / 0"),
        (linear("return input()"), "stops with EOFError", "breakpoint() and input() wait for something"),
        (linear("breakpoint()"), "stops with BdbQuit: breakpoint() ends the check", "Take them out, and use print()"),
        (
            linear("return sum_rows(dy)"),
            "name 'sum_rows' is not defined",
            "or write it out: sum_rows(x) is x.sum(axis=0).",
        ),
        (linear("return math.pi"), "name 'math' is not defined", "Write `import math` at the top of the file."),
        (linear("return Dropout(0.1)"), "name 'Dropout' is not defined", "`from npbert import Dropout` at the top"),
        (linear("return dy @ self.weight"), "stops with ", "write self.weight.value for its numbers."),
        (linear("return dy @ self.weight.T"), "stops with ", "write self.weight.value for its numbers."),
        (linear("return dy[None].T @ x"), "stops with ", "dy[None].T @ x"),
        (
            linear("a = dy[None]\nreturn a.T @ x[:, :2]"),
            "stops with ",
            "a has 3 axes, and a.T turns all of them around.",
        ),
        (
            linear("").replace("    def backward", "    def other"),
            "There is no backward in Linear any more.",
            "rename the",
        ),
    ],
    ids=itertools.count(),
)
def test_what_is_wrong_is_said(text, says, because, path, monkeypatch):
    path.write_text(text, encoding="utf-8")
    with Path(os.devnull).open() as nothing, monkeypatch.context() as patch:
        patch.setattr("sys.stdin", nothing)
        verdict = judge_file(LINEAR, path, mends="; line" in says)
    assert verdict.status == WRONG
    assert says in verdict.says
    assert because in verdict.because


def test_what_is_there_leaves_out_what_python_put_there(path):
    path.write_text(linear("return dy").replace("class Linear", "z = None\n1 / 0\nclass Linear"), encoding="utf-8")
    assert judge_file(LINEAR, path).because.endswith("What is there: z None")


def test_a_breakpoint_shows_no_prompt_whatever_it_is_set_to(path, monkeypatch):
    monkeypatch.setenv("PYTHONBREAKPOINT", "builtins.print")
    path.write_text(linear("breakpoint()\nreturn dy"), encoding="utf-8")
    hook = sys.breakpointhook
    verdict = judge_file(LINEAR, path)
    assert "stops with BdbQuit" in verdict.says and verdict.printed == ""
    assert sys.breakpointhook is hook


def test_a_file_that_is_no_text(path):
    path.write_bytes(b"\xff\xfe\x00")
    assert "is not UTF-8" in judge_file(LINEAR, path).says


def test_what_is_printed_is_shown_and_does_no_harm(path):
    path.write_text(linear("print('dy is', dy.shape)\n" + DEDENTED), encoding="utf-8")
    verdict = judge_file(LINEAR, path)
    assert (verdict.status, verdict.printed.splitlines()[0]) == (RIGHT, "dy is (7, 3)")
    path.write_text(linear("print('z' * 10000)\n" + DEDENTED), encoding="utf-8")
    assert len(judge_file(LINEAR, path).printed) < 3000


def test_two_mistakes_are_both_named(path):
    body = """self.weight.add_grad(x.T @ dy / len(x))
self.bias.add_grad(dy.mean(axis=0))
return -dy @ self.weight.value.T"""
    path.write_text(linear(body), encoding="utf-8")
    verdict = judge_file(LINEAR, path)
    assert [(finding.subject, finding.kind) for finding in verdict.findings] == [
        ("dW", "drop factor"),
        ("db", "sum or mean"),
        ("dx", "sign"),
    ]
    assert "2. db is wrong" in verdict.because


def test_right_numbers_are_not_all(path):
    """dx is computed in an array that the layer keeps, so the next call overwrites what the caller still has."""
    keep = "layer.dx = getattr(layer, 'dx', dx)\n    layer.dx[...] = dx\n    return layer.dx"
    body = DEDENTED.replace("return dy @", "return kept(self, dy @")
    text = f"{linear(f'{body})')}\n\ndef kept(layer, dx):\n    {keep}\n"
    path.write_text(text, encoding="utf-8")
    verdict = judge_file(LINEAR, path)
    assert verdict.says == "The numbers are right, but a promise of every layer is broken."
    assert "dx is the caller's" in verdict.because


def test_a_mask_that_nobody_can_know_is_recognised(tmp_path):
    path = tmp_path / "08_dropout.py"
    body = "return dy * (np.random.default_rng().random(dy.shape) > self.p) / (1 - self.p)"
    path.write_text(answered(8, {"backward": body}), encoding="utf-8")
    assert judge_file(EXERCISES[8], path).says.startswith("dx is another one each time")


def test_what_is_no_number_at_all(tmp_path):
    path = tmp_path / "01_derivative.py"
    path.write_text(answered(1, {"central_difference": "return np.full(x.shape, 'much')"}), encoding="utf-8")
    verdict = judge_file(EXERCISES[1], path)
    assert (verdict.status, verdict.says.partition(":")[0]) == (WRONG, "central_difference")


def test_what_is_right_so_far_is_said(tmp_path):
    path = tmp_path / "10_attention.py"
    path.write_text(answered(10, {"attend_backward": ANSWERS[10][0]["attend_backward"]}), encoding="utf-8")
    verdict = judge_file(EXERCISES[10], path)
    assert verdict.says.startswith("PaddedAttention is not finished: the `raise NotImplementedError` in line ")
    assert verdict.because.endswith("DotProductAttention is right.")


def test_in_a_process_of_its_own(path):
    path.write_text(linear(DEDENTED), encoding="utf-8")
    assert check(LINEAR, path).status == RIGHT


ENDLESS = "After 2 seconds it was still at line {line}: is there a loop that never ends?"


ENDED = {
    "import time\nwhile True: print('here', time.sleep(0.01))": ENDLESS,
    "while sum(range(10**12)): pass": ENDLESS,  # nothing else in the process runs meanwhile
    "import os\nos._exit(1)": "Python ended while it ran the file (status 1).",
}


def test_what_does_not_come_back(tmp_path):
    """All at once, as each takes its time; and time enough to begin on a busy machine."""
    paths = [tmp_path / str(number) / LINEAR.file_name for number in range(len(ENDED))]
    for path, body in zip(paths, ENDED, strict=True):
        path.parent.mkdir()
        path.write_text(linear(body), encoding="utf-8")
    with ThreadPoolExecutor() as pool:
        verdicts = list(pool.map(lambda path: check(LINEAR, path, time_limit=2), paths))
    for path, verdict, (body, says) in zip(paths, verdicts, ENDED.items(), strict=True):
        lines = path.read_text(encoding="utf-8").splitlines()
        line = next((n for n, text in enumerate(lines, 1) if "while" in text), 0)
        assert verdict.says == says.format(line=line)
        assert verdict.printed[:4] == ("here" if "print" in body else "")
        assert f"{lines[line - 1].strip()}\n\nThe arrays are tiny" in verdict.because or "while" not in body


DEDENTED = "\n".join(line.strip() for line in ANSWERS[2][0]["backward"].strip().splitlines())
