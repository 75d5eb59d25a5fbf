"""The log: lines that another program can read, the same after a kill as without one."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from npbert.files import FileError
from npbert.training.log import METRICS_FILE, Log, read_metrics

ROWS = [
    {"step": 1, "loss": 0.1 + 0.2, "accuracy": 1 / 3},
    {"step": 2, "loss": 1e-300, "accuracy": 1.0},
    {"step": 2, "eval_f1": 0.5},
    {"step": 4, "loss": 7.25, "accuracy": 0.0},
]


def write(folder: Any, rows: list[dict[str, Any]] = ROWS, *, after_step: int = 0, **of_the_clock: float) -> None:
    with Log(folder, after_step=after_step) as log:
        for row in rows:
            log.write(row["step"], {name: value for name, value in row.items() if name != "step"}, **of_the_clock)


def test_there_and_back(tmp_path):
    write(tmp_path)
    assert read_metrics(tmp_path / METRICS_FILE) == ROWS
    lines = (tmp_path / METRICS_FILE).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == ROWS
    assert lines[0].startswith('{"step": 1, "loss": 0.30000000000000004')


def test_a_row_is_on_disk_at_once(tmp_path):
    with Log(tmp_path, after_step=0) as log:
        log.write(1, {"loss": 2.0})
        assert read_metrics(tmp_path / METRICS_FILE) == [{"step": 1, "loss": 2.0}]


@pytest.mark.parametrize(("step", "left"), [(0, 0), (1, 1), (2, 3), (3, 3), (4, 4), (9, 4)])
def test_rows_after_the_step_are_dropped(tmp_path, step, left):
    write(tmp_path)
    before = (tmp_path / METRICS_FILE).read_bytes()
    write(tmp_path, [], after_step=step)
    after = (tmp_path / METRICS_FILE).read_bytes()
    assert read_metrics(tmp_path / METRICS_FILE) == ROWS[:left]
    assert before.startswith(after), "what is kept stays as it was, byte for byte"


@pytest.mark.parametrize("length", range(0, 180, 7))
def test_a_half_line_is_dropped(tmp_path, length):
    write(tmp_path)
    whole = (tmp_path / METRICS_FILE).read_bytes()
    (tmp_path / METRICS_FILE).write_bytes(whole[:length])
    complete = whole[:length].count(b"\n")
    assert read_metrics(tmp_path / METRICS_FILE) == ROWS[:complete]
    write(tmp_path, ROWS[complete:], after_step=9)
    assert (tmp_path / METRICS_FILE).read_bytes() == whole


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_json_has_no_number_for(tmp_path, value):
    write(tmp_path, [{"step": 1, "loss": value, "accuracy": 0.5}])
    text = (tmp_path / METRICS_FILE).read_text(encoding="utf-8")
    assert text == '{"step": 1, "loss": null, "accuracy": 0.5}\n'
    write(tmp_path, [{"step": 2, "loss": 1.0}], after_step=1)
    assert read_metrics(tmp_path / METRICS_FILE) == [
        {"step": 1, "loss": None, "accuracy": 0.5},
        {"step": 2, "loss": 1.0},
    ]


def test_no_file(tmp_path):
    assert read_metrics(tmp_path / METRICS_FILE) == []


@pytest.mark.parametrize("line", ["x", '{"step": 1', '{"loss": 1}', "[1]", "3", "", '{"step": null}'])
def test_a_line_that_is_no_row(tmp_path, line):
    (tmp_path / METRICS_FILE).write_text(f'{{"step": 1}}\n{line}\n', encoding="utf-8")
    with pytest.raises(FileError, match=r"metrics.jsonl, line 2 is no row of numbers with its step"):
        Log(tmp_path, after_step=5)


def test_a_line_that_does_not_fit_on_the_disk(tmp_path, monkeypatch):
    """A file without a buffer may write half of what it is given, and say so only by a number."""

    class Full:
        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: Any) -> None: ...

        def write(self, line: bytes) -> int:
            return len(line) - 1

    with Log(tmp_path, after_step=0) as log:
        monkeypatch.setattr("pathlib.Path.open", lambda *_, **__: Full())
        with pytest.raises(OSError, match="No space left on device") as error:
            log.write(1, {"loss": 1.0})
        monkeypatch.undo()
    assert error.value.filename == str(tmp_path / METRICS_FILE)


def scalars(folder: Any) -> dict[str, list[tuple[int, float]]]:
    """What TensorBoard itself reads."""
    events = EventAccumulator(str(folder / "tensorboard")).Reload()
    return {
        name: [(event.step, pytest.approx(event.value, rel=1e-6)) for event in events.Scalars(name)]
        for name in events.Tags()["scalars"]
    }


def test_tensorboard_reads_it(tmp_path):
    write(tmp_path, tokens_per_second=123.0)
    assert scalars(tmp_path) == {
        "loss": [(1, 0.3), (2, 0.0), (4, 7.25)],
        "accuracy": [(1, 1 / 3), (2, 1.0), (4, 0.0)],
        "eval_f1": [(2, 0.5)],
        "tokens_per_second": [(1, 123.0), (2, 123.0), (2, 123.0), (4, 123.0)],
    }
    assert "tokens" not in (tmp_path / METRICS_FILE).read_text(encoding="utf-8"), "the clock is no part of the run"


def test_tensorboard_reads_a_run_that_went_on(tmp_path):
    write(tmp_path, ROWS[:3])
    write(tmp_path, ROWS[3:], after_step=3)
    assert scalars(tmp_path)["loss"] == [(1, 0.3), (2, 0.0), (4, 7.25)]


def test_tensorboard_forgets_what_is_done_again(tmp_path):
    write(tmp_path, ROWS)
    time.sleep(1.1)  # the names of its files have whole seconds in them, and it reads them in their order
    write(tmp_path, [{"step": 2, "loss": 0.5}, {"step": 3, "loss": 0.25}], after_step=1)
    assert scalars(tmp_path)["loss"] == [(1, 0.3), (2, 0.5), (3, 0.25)]


def test_an_error_closes_it(tmp_path):
    with pytest.raises(RuntimeError), Log(tmp_path, after_step=0) as log:
        log.write(1, {"loss": 2.0})
        raise RuntimeError
    assert scalars(tmp_path) == {"loss": [(1, 2.0)]}


def test_without_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard.summary.writer.event_file_writer", None)
    with pytest.raises(ImportError, match=r"tensorboard, which is not installed: .* pip install '.\[train\]'"):
        Log(tmp_path, after_step=0)
