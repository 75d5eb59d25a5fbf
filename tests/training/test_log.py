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

ROWS = [{"step": 1, "loss": 0.1 + 0.2, "accuracy": 1 / 3}, {"step": 2, "loss": 1e-300}, {"step": 4, "loss": 7.25}]
SPEED = 12_345.6


def after(watcher, number, row=None, **more):
    event = {"row": row or {}, "evaluation": {}, "shown": {}, "is_saved": False, "tokens_per_second": SPEED, **more}
    watcher.after(SimpleNamespace(number=number, **event))


def write(folder, rows=ROWS, *, after_step=0):
    """Write the rows, and return the file."""
    with Log(folder, after_step=after_step) as log:
        for row in rows:
            after(log, row["step"], {name: value for name, value in row.items() if name != "step"})
    return (folder / METRICS_FILE).read_bytes()


def scalars(folder):
    """What TensorBoard itself reads."""
    found = events.EventAccumulator(str(folder / "tensorboard")).Reload()
    names = found.Tags()["scalars"]
    return {name: [(event.step, pytest.approx(event.value)) for event in found.Scalars(name)] for name in names}


def test_each_row_is_a_line_that_comes_back_and_a_half_line_is_dropped(tmp_path):
    whole = write(tmp_path)
    assert read_json_lines(tmp_path / METRICS_FILE) == ROWS == [json.loads(line) for line in whole.splitlines()]
    for length in range(0, len(whole), 13):
        (tmp_path / METRICS_FILE).write_bytes(whole[:length])
        complete = whole[:length].count(b"\n")
        assert read_json_lines(tmp_path / METRICS_FILE) == ROWS[:complete]
        assert write(tmp_path, ROWS[complete:], after_step=9) == whole


def test_of_too_many_rows_evenly_chosen_ones_of_each_kind_and_the_last_are_read(tmp_path):
    rows = [{"step": step, "loss": 1.0} if step % 10 else {"step": step, "eval_loss": 2.0} for step in range(1, 100)]
    (tmp_path / METRICS_FILE).write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.warns(UserWarning, match=r"metrics\.jsonl has 99 rows, too many to draw: 22 of them are read$"):
        some = read_json_lines(tmp_path / METRICS_FILE, at_most=12)
    assert len([row for row in some if "loss" in row]) == 13 and some[-1] == rows[-1]
    assert [row for row in some if "eval_loss" in row] == rows[9::10]


@pytest.mark.parametrize("line", ["x", '{"step": 1', '{"loss": 1}', "[1]", "3", "", '{"step": null}'])
def test_a_line_that_is_no_row(tmp_path, line):
    (tmp_path / METRICS_FILE).write_text(f'{{"step": 1}}\n{line}\n', encoding="utf-8")
    with pytest.raises(FileError, match=r"metrics.jsonl, line 2 is not a row of numbers with its step"):
        Log(tmp_path, after_step=5)


def test_a_full_disk_is_an_error_with_the_file(tmp_path, monkeypatch):
    """A file without a buffer may write half of what it is given, and say why only at the next write."""
    half, full = MagicMock(), lambda: OSError(28, "No space left on device")
    half.__enter__.return_value.write.side_effect = [3, full()]
    with Log(tmp_path, after_step=0) as log:
        after(log, 1, {"loss": 1.0})
        with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left") as of_row:
            patch.setattr("pathlib.Path.open", lambda *_, **__: half)
            after(log, 2, {"loss": 1.0})
        monkeypatch.setattr("tensorboard.summary.writer.record_writer.RecordWriter.write", Mock(side_effect=full()))
        with pytest.raises(OSError, match="No space left") as of_event:
            after(log, 3, {"loss": 1.0})
    assert of_row.value.filename == str(tmp_path / METRICS_FILE)
    assert "tfevents" in of_event.value.filename


def test_a_file_is_there_at_once_when_there_is_something_in_it(tmp_path):
    """The clock is not a part of the run, and JSON has no NaN."""
    with pytest.raises(RuntimeError), Log(tmp_path, after_step=0) as log:
        assert not list(tmp_path.glob("*.jsonl"))
        after(log, 1, {"loss": 2.0}, evaluation={"f1": 0.5}, shown={"kind": "masked", "p": float("nan")}, is_saved=True)
        log.layers.write(3, {"gradient_norms": {"layer 1": float("inf")}})
        raise RuntimeError
    assert (tmp_path / METRICS_FILE).read_bytes() == b'{"step": 1, "loss": 2.0}\n{"step": 1, "eval_f1": 0.5}\n'
    assert read_json_lines(tmp_path / SHOWN_FILE) == [{"step": 1, "kind": "masked", "p": None}]
    assert read_json_lines(tmp_path / LAYERS_FILE) == [{"step": 3, "gradient_norms": {"layer 1": None}}]
    assert scalars(tmp_path) == {"loss": [(1, 2.0)], "tokens_per_second": [(1, SPEED)], "eval_f1": [(1, 0.5)]}
    with Log(tmp_path, after_step=2):
        pass
    assert not read_json_lines(tmp_path / LAYERS_FILE), "later than the state"


def test_tensorboard_reads_a_run_that_goes_on_from_an_earlier_step(tmp_path):
    write(tmp_path)
    (file,) = (tmp_path / "tensorboard").iterdir()
    file.rename(file.with_name("events.out.tfevents.0"))  # files are read in the order of their names, by the second
    write(tmp_path, [{"step": 2, "loss": 0.5}, {"step": 3, "loss": 0.25}], after_step=1)
    assert scalars(tmp_path)["loss"] == [(1, 0.3), (2, 0.5), (3, 0.25)]


SAMPLES = [np.random.default_rng(0).standard_normal(1000), *[[1.0, 1 + 2e-16], [0.0, 5e-324], [1e30] * 3, [0.0]]]


@pytest.mark.parametrize("sample", [*SAMPLES, [-1e-250, 1e-250], [-1e38, 1e38]])
def test_numbers_however_close_have_a_histogram(tmp_path, sample):
    sample = np.array(sample)
    with Log(tmp_path, after_step=0) as log:
        log.events.histograms(5, {"values/layer 1": sample})
    (event,) = events.EventAccumulator(str(tmp_path / "tensorboard")).Reload().Histograms("values/layer 1")
    found = event.histogram_value
    np.testing.assert_allclose([found.min, found.max, found.sum], [sample.min(), sample.max(), sample.sum()])
    assert event.step == 5 and sum(found.bucket) == found.num == len(sample)
    low = np.array([-np.inf, *found.bucket_limit[:-1]])
    assert found.bucket == [
        ((low <= sample) & (sample < high)).sum() for low, high in zip(low, found.bucket_limit, strict=True)
    ]


NUMBERS = {"loss": 12.3456, "mlm_loss": 11.65, "mlm_accuracy": 0.213, "nsp_loss": 0.6956, "nsp_accuracy": 0.5678}
SHOWN = "loss 12.346, mlm 21%, nsp 57%, 12,346 tok/s"


def errors_to(monkeypatch, *, is_terminal=False):
    stream = io.StringIO()
    stream.isatty = lambda: is_terminal
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def test_a_terminal_of_80_columns(monkeypatch):
    terminal = errors_to(monkeypatch, is_terminal=True)
    with Bar(100_000, done=4) as bar:
        bar._bar.ncols, bar._bar.dynamic_ncols, bar._bar.mininterval = 80, None, 0
        for number in (5, 6, 7):
            after(bar, number, NUMBERS)
    lines = [line.rstrip() for line in terminal.getvalue().replace("\n", "\r").split("\r") if "loss" in line]
    assert lines[-1].startswith("7/100000 |")
    assert all(len(line) <= 80 and f"left, {SHOWN}" in line for line in lines)


@pytest.mark.parametrize(("total", "done", "most"), [(1000, 0, 21), (7, 0, 7), (1000, 900, 3)])
def test_a_file_gets_about_twenty_lines(monkeypatch, capsys, total, done, most):
    errors_to(monkeypatch)
    with Bar(total, done=done) as bar:
        for number in range(done + 1, total + 1):
            after(bar, number, NUMBERS)
        after(bar, total, evaluation={"macro_f1": 0.5})
    *lines, last = capsys.readouterr().out.splitlines()
    assert last == f"step {total}: held out: macro f1 0.5"
    assert most - 1 <= len(lines) <= most
    assert lines[0].startswith(f"step {done + 1} of {total}: {SHOWN}, ")
    assert lines[-1] == f"step {total} of {total}: {SHOWN}, 00:00 left"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_nothing_where_npbert_is_to_be_quiet(monkeypatch, capsys, caplog, is_terminal):
    stream = errors_to(monkeypatch, is_terminal=is_terminal)
    with caplog.at_level(logging.ERROR, "npbert"), Bar(2, done=0) as bar:
        after(bar, 1, NUMBERS, evaluation={"f1": 0.5})
    assert (stream.getvalue(), capsys.readouterr().out) == ("", "")


def test_the_time_that_is_left(monkeypatch, capsys):
    """It is told from the steps of this process alone: those before a stop took no time of it."""
    errors_to(monkeypatch)
    monkeypatch.setattr("npbert.training.live.time.perf_counter", iter([100.0, 130.0]).__next__)
    with Bar(100, done=50) as bar:
        after(bar, 60, {"loss": 1.0})
    assert capsys.readouterr().out == "step 60 of 100: loss 1.000, 12,346 tok/s, 02:00 left\n"
