"""What a person sees: a bar that fits a terminal, and a few lines where there is none."""

import io
import logging
import re
import sys

import pytest

from npbert.training.log import Bar, held_out_line

pytest.importorskip("tqdm", reason="tqdm is not installed: pip install -e '.[train]'")

NUMBERS = {"loss": 12.3456, "mlm_loss": 11.65, "mlm_accuracy": 0.213, "nsp_loss": 0.6956, "nsp_accuracy": 0.5678}
SHOWN = "loss 12.346, mlm 21%, nsp 57%, 12,346 tok/s"


def test_a_terminal_of_80_columns(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    with Bar(100_000, done=4) as bar:
        bar._bar.ncols, bar._bar.dynamic_ncols, bar._bar.mininterval = 80, None, 0
        for _ in range(3):
            bar.update()
            bar.show(NUMBERS, 12_345.6)
    lines = [line.rstrip() for line in terminal.getvalue().replace("\n", "\r").split("\r") if "loss" in line]
    assert lines[-1].startswith("7/100000 |")
    assert all(len(line) <= 80 and f"left, {SHOWN}" in line for line in lines)


@pytest.mark.parametrize(("total", "done", "most"), [(1000, 0, 21), (7, 0, 7), (1000, 900, 3)])
def test_a_file_gets_about_twenty_lines(monkeypatch, capsys, total, done, most):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Bar(total, done=done) as bar:
        for _ in range(total - done):
            bar.update()
            bar.show(NUMBERS, 12_345.6)
        bar.say("the end")
    *lines, last = capsys.readouterr().out.splitlines()
    assert last == "the end"
    assert most - 1 <= len(lines) <= most
    assert lines[0].startswith(f"step {done + 1} of {total}: {SHOWN}, ")
    assert lines[-1] == f"step {total} of {total}: {SHOWN}, 00:00 left"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_nothing_where_npbert_is_to_be_quiet(monkeypatch, capsys, caplog, is_terminal):
    monkeypatch.setattr(sys, "stderr", terminal := io.StringIO())
    terminal.isatty = lambda: is_terminal
    with caplog.at_level(logging.ERROR, "npbert"), Bar(2, done=0) as bar:
        bar.update()
        bar.show(NUMBERS, 12_345.6)
        bar.say("held out")
    assert (terminal.getvalue(), capsys.readouterr().out) == ("", "")


def test_the_time_that_is_left(monkeypatch, capsys):
    """It is told from the steps of this process alone: those before a stop took no time of it."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr("npbert.training.log.time.perf_counter", iter([100.0, 130.0]).__next__)
    with Bar(100, done=50) as bar:
        for _ in range(10):
            bar.update()
        bar.show({"loss": 1.0, "accuracy": 0.5}, 10.0)
    assert capsys.readouterr().out == "step 60 of 100: loss 1.000, accuracy 50%, 10 tok/s, 02:00 left\n"


def test_what_an_evaluation_gave_fits_80_columns():
    assert held_out_line(7, {"loss": 12.3456, "f1": 1.0}) == "step 7: held out: loss 12.3, f1 1"
    numbers = {**dict.fromkeys(["accuracy", "macro_f1", "matthews", "f1", "loss"], 0.12345), **NUMBERS}
    lines = held_out_line(123_456, numbers).split("\n")
    assert len(lines) > 1
    assert all(len(line) < 80 for line in lines)
    said = ", ".join(f"{name.replace('_', ' ')} {value:.3g}" for name, value in numbers.items())
    assert " ".join(line.strip() for line in lines) == f"step 123456: held out: {said}"
    assert all(re.match(r"    [a-z_1 ]+ [\d.]+", line) for line in lines[1:]), "a name and its number stay together"
