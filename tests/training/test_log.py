"""The log: lines that another program can read, the same after a kill as without one. What a person sees: a bar that
fits a terminal, and a few lines where there is none."""

import io
import json
import logging
import sys
from types import SimpleNamespace
from unittest.mock import MagicMock, Mock

import numpy as np
import pytest

from npbert.io.files import FileError
from npbert.io.json_lines import LAYERS_FILE, METRICS_FILE, SHOWN_FILE, read_json_lines
from npbert.training.live import Bar
from npbert.training.log import Log

reason = "tensorboard is not installed: pip install -e '.[train]'"
events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator", reason=reason)
pytest.importorskip("tqdm", reason="tqdm is not installed: pip install -e '.[train]'")

ROWS = [
    {"step": 1, "loss": 0.1 + 0.2, "accuracy": 1 / 3},
    {"step": 2, "loss": 1e-300, "accuracy": 1.0},
    {"step": 2, "eval_f1": 0.5},
    {"step": 4, "loss": 7.25, "accuracy": 0.0},
]


def step_of(number, row=None, evaluation=None, speed=123.0, *, is_saved=False):
    shown = {"row": row or {}, "evaluation": evaluation or {}, "shown": {}}
    return SimpleNamespace(number=number, tokens_per_second=speed, is_saved=is_saved, **shown)


def write(folder, rows=ROWS, *, after_step=0):
    """Write the rows, and return the file."""
    with Log(folder, after_step=after_step) as log:
        for row in rows:
            log.after(step_of(row["step"], {name: value for name, value in row.items() if name != "step"}))
    return (folder / METRICS_FILE).read_bytes()


def test_each_row_is_a_line_that_comes_back(tmp_path):
    lines = write(tmp_path).decode().splitlines()
    assert read_json_lines(tmp_path / METRICS_FILE) == ROWS == [json.loads(line) for line in lines]
    assert read_json_lines(tmp_path / "none") == []
    no_json = {"step": 1, "a": float("nan"), "b": float("inf"), "c": -float("inf")}
    assert write(tmp_path, [no_json]) == b'{"step": 1, "a": null, "b": null, "c": null}\n'


def test_of_too_many_rows_evenly_chosen_ones_of_each_kind_and_the_last_are_read(tmp_path):
    rows = [{"step": step, "loss": 1.0} if step % 10 else {"step": step, "eval_loss": 2.0} for step in range(1, 100)]
    (tmp_path / METRICS_FILE).write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.warns(UserWarning, match=r"metrics\.jsonl has 99 rows, too many to draw: 22 of them are read$"):
        some = read_json_lines(tmp_path / METRICS_FILE, at_most=12)
    assert len([row for row in some if "loss" in row]) == 13 and some[-1] == rows[-1]
    assert [row for row in some if "eval_loss" in row] == rows[9::10]


def test_a_half_line_is_dropped(tmp_path):
    whole = write(tmp_path)
    for length in range(0, len(whole), 13):
        (tmp_path / METRICS_FILE).write_bytes(whole[:length])
        complete = whole[:length].count(b"\n")
        assert read_json_lines(tmp_path / METRICS_FILE) == ROWS[:complete]
        assert write(tmp_path, ROWS[complete:], after_step=9) == whole


LARGE = [f'{{"step": {2**63}}}', f'{{"step": 1, "loss": {10**400}}}']


@pytest.mark.parametrize("line", ["x", '{"step": 1', '{"loss": 1}', "[1]", "3", "", '{"step": null}', *LARGE])
def test_a_line_that_is_no_row(tmp_path, line):
    (tmp_path / METRICS_FILE).write_text(f'{{"step": 1}}\n{line}\n', encoding="utf-8")
    with pytest.raises(FileError, match=r"metrics.jsonl, line 2 is not a row of numbers with its step"):
        Log(tmp_path, after_step=5)


def test_a_line_that_does_not_fit_on_the_disk(tmp_path, monkeypatch):
    """A file without a buffer may write half of what it is given, and say why only at the next write."""
    full = MagicMock()
    full.__enter__.return_value.write.side_effect = [3, OSError(27, "File too large")]
    with Log(tmp_path, after_step=0) as log:
        log.after(step_of(1, {"loss": 1.0}))
        monkeypatch.setattr("pathlib.Path.open", lambda *_, **__: full)
        with pytest.raises(OSError, match="File too large") as error:
            log.after(step_of(2, {"loss": 1.0}))
        monkeypatch.undo()
    assert error.value.filename == str(tmp_path / METRICS_FILE)


def read(folder):
    """What TensorBoard itself reads."""
    return events.EventAccumulator(str(folder / "tensorboard")).Reload()


def scalars(folder):
    found = read(folder)
    names = found.Tags()["scalars"]
    return {name: [(event.step, pytest.approx(event.value)) for event in found.Scalars(name)] for name in names}


def test_tensorboard_reads_it_even_after_an_error(tmp_path):
    with pytest.raises(RuntimeError), Log(tmp_path, after_step=0) as log:
        log.after(step_of(1, {"loss": 2.0, "f1": 0.5}))
        text = (tmp_path / METRICS_FILE).read_bytes()
        raise RuntimeError
    assert scalars(tmp_path) == {"loss": [(1, 2.0)], "f1": [(1, 0.5)], "tokens_per_second": [(1, 123.0)]}
    assert text == b'{"step": 1, "loss": 2.0, "f1": 0.5}\n', "it is on disk at once; the clock is not a part of the run"


@pytest.mark.parametrize(
    ("before", "step", "after", "wanted"),
    [
        (ROWS[:3], 3, ROWS[3:], [(1, 0.3), (2, 0.0), (4, 7.25)]),
        (ROWS, 1, [{"step": 2, "loss": 0.5}, {"step": 3, "loss": 0.25}], [(1, 0.3), (2, 0.5), (3, 0.25)]),
    ],
)
def test_tensorboard_reads_a_run_that(tmp_path, before, step, after, wanted):
    write(tmp_path, before)
    (file,) = (tmp_path / "tensorboard").iterdir()
    file.rename(file.with_name("events.out.tfevents.0"))  # files are read in the order of their names, by the second
    write(tmp_path, after, after_step=step)
    assert scalars(tmp_path)["loss"] == wanted


def test_tensorboard_reads_histograms(tmp_path):
    sample = np.random.default_rng(0).standard_normal(1000)
    with Log(tmp_path, after_step=0) as log:
        log.events.histograms(5, {"values/layer 1": sample, "zeros": np.zeros(4)})
    found = read(tmp_path)
    (event,) = found.Histograms("values/layer 1")
    counts, edges = np.histogram(sample, 30)
    sums = sample.min(), sample.max(), 1000, sample.sum(), (sample**2).sum()
    assert event.step == 5 and set(found.Tags()["histograms"]) == {"values/layer 1", "zeros"}
    names = ("min", "max", "num", "sum", "sum_squares", "bucket_limit", "bucket")
    found_numbers = np.hstack([getattr(event.histogram_value, name) for name in names])
    np.testing.assert_allclose(found_numbers, [*sums, *edges[1:], *counts], rtol=1e-4)


def test_a_file_is_there_when_there_is_something_in_it(tmp_path):
    with Log(tmp_path, after_step=0) as log:
        assert not list(tmp_path.glob("*.jsonl"))
        log.after(step_of(1, is_saved=True))
        log.shown.write(3, {"kind": "masked", "p": float("nan")})
        log.layers.write(3, {"gradient_norms": {"layer 1": float("inf")}})
        assert read_json_lines(tmp_path / SHOWN_FILE) == [{"step": 3, "kind": "masked", "p": None}]
        assert read_json_lines(tmp_path / LAYERS_FILE) == [{"step": 3, "gradient_norms": {"layer 1": None}}]
        assert not (tmp_path / METRICS_FILE).exists()
    with Log(tmp_path, after_step=2):
        assert read_json_lines(tmp_path / SHOWN_FILE) == read_json_lines(tmp_path / LAYERS_FILE) == []


def test_an_event_that_does_not_fit_on_the_disk(tmp_path, monkeypatch):
    full = OSError(28, "No space left on device")
    with Log(tmp_path, after_step=0) as log:
        monkeypatch.setattr("tensorboard.summary.writer.record_writer.RecordWriter.write", Mock(side_effect=full))
        with pytest.raises(OSError, match="No space left on device") as error:
            log.after(step_of(1, {"loss": 1.0}))
    assert "tfevents" in error.value.filename


@pytest.mark.parametrize(
    "sample", [[1.0, 1 + 2e-16], [0.0, 5e-324], [1e30] * 3, [-1e-250, 1e-250], [0.0], [-1e38, 1e38]]
)
def test_numbers_however_close_have_a_histogram(tmp_path, sample):
    with Log(tmp_path, after_step=0) as log:
        log.events.histograms(1, {"values": np.array(sample)})
    (event,) = read(tmp_path).Histograms("values")
    assert sum(event.histogram_value.bucket) == len(sample)


NUMBERS = {"loss": 12.3456, "mlm_loss": 11.65, "mlm_accuracy": 0.213, "nsp_loss": 0.6956, "nsp_accuracy": 0.5678}
SHOWN = "loss 12.346, mlm 21%, nsp 57%, 12,346 tok/s"


def test_a_terminal_of_80_columns(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    with Bar(100_000, done=4) as bar:
        bar._bar.ncols, bar._bar.dynamic_ncols, bar._bar.mininterval = 80, None, 0
        for number in (5, 6, 7):
            bar.after(step_of(number, NUMBERS, speed=12_345.6))
    lines = [line.rstrip() for line in terminal.getvalue().replace("\n", "\r").split("\r") if "loss" in line]
    assert lines[-1].startswith("7/100000 |")
    assert all(len(line) <= 80 and f"left, {SHOWN}" in line for line in lines)


@pytest.mark.parametrize(("total", "done", "most"), [(1000, 0, 21), (7, 0, 7), (1000, 900, 3)])
def test_a_file_gets_about_twenty_lines(monkeypatch, capsys, total, done, most):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Bar(total, done=done) as bar:
        for number in range(done + 1, total + 1):
            bar.after(step_of(number, NUMBERS, speed=12_345.6))
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
        bar.after(step_of(1, NUMBERS, {"f1": 0.5}))
    assert (terminal.getvalue(), capsys.readouterr().out) == ("", "")


def test_the_time_that_is_left(monkeypatch, capsys):
    """It is told from the steps of this process alone: those before a stop took no time of it."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr("npbert.training.live.time.perf_counter", iter([100.0, 130.0]).__next__)
    with Bar(100, done=50) as bar:
        bar.after(step_of(60, {"loss": 1.0, "accuracy": 0.5}, speed=10.0))
    assert capsys.readouterr().out == "step 60 of 100: loss 1.000, accuracy 50%, 10 tok/s, 02:00 left\n"
