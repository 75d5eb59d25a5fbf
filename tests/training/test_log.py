"""The log: lines that another program can read, the same after a kill as without one."""

import io
import json

import pytest

from npbert.files import FileError
from npbert.training.log import METRICS_FILE, Log
from npbert.training.rows import read_rows

reason = "tensorboard is not installed: pip install -e '.[train]'"
events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator", reason=reason)

ROWS = [
    {"step": 1, "loss": 0.1 + 0.2, "accuracy": 1 / 3},
    {"step": 2, "loss": 1e-300, "accuracy": 1.0},
    {"step": 2, "eval_f1": 0.5},
    {"step": 4, "loss": 7.25, "accuracy": 0.0},
]


def write(folder, rows=ROWS, *, after_step=0):
    """Write the rows, and return the file."""
    with Log(folder, after_step=after_step) as log:
        for row in rows:
            log.write(row["step"], {name: value for name, value in row.items() if name != "step"})
    return (folder / METRICS_FILE).read_bytes()


def test_each_row_is_a_line_that_comes_back(tmp_path):
    lines = write(tmp_path).decode().splitlines()
    assert read_rows(tmp_path / METRICS_FILE) == ROWS == [json.loads(line) for line in lines]
    assert lines[0].startswith('{"step": 1, "loss": 0.30000000000000004')
    assert read_rows(tmp_path / "none") == []
    no_json = {"step": 1, "a": float("nan"), "b": float("inf"), "c": -float("inf")}
    assert write(tmp_path, [no_json]) == b'{"step": 1, "a": null, "b": null, "c": null}\n'


@pytest.mark.parametrize(("step", "left"), [(0, 0), (1, 1), (2, 3), (3, 3), (4, 4), (9, 4)])
def test_rows_after_the_step_are_dropped(tmp_path, step, left):
    before = write(tmp_path)
    after = write(tmp_path, [], after_step=step)
    assert read_rows(tmp_path / METRICS_FILE) == ROWS[:left]
    assert before.startswith(after), "what is kept stays as it was, byte for byte"


@pytest.mark.parametrize("length", range(0, 180, 13))
def test_a_half_line_is_dropped(tmp_path, length):
    whole = write(tmp_path)
    (tmp_path / METRICS_FILE).write_bytes(whole[:length])
    complete = whole[:length].count(b"\n")
    assert read_rows(tmp_path / METRICS_FILE) == ROWS[:complete]
    assert write(tmp_path, ROWS[complete:], after_step=9) == whole


@pytest.mark.parametrize("line", ["x", '{"step": 1', '{"loss": 1}', "[1]", "3", "", '{"step": null}'])
def test_a_line_that_is_no_row(tmp_path, line):
    (tmp_path / METRICS_FILE).write_text(f'{{"step": 1}}\n{line}\n', encoding="utf-8")
    with pytest.raises(FileError, match=r"metrics.jsonl, line 2 is no row of numbers with its step"):
        Log(tmp_path, after_step=5)


class Full(io.RawIOBase):
    """A file without a buffer may write half of what it is given, and say so only by a number."""

    def write(self, line):
        return len(line) - 1


def test_a_line_that_does_not_fit_on_the_disk(tmp_path, monkeypatch):
    with Log(tmp_path, after_step=0) as log:
        monkeypatch.setattr("pathlib.Path.open", lambda *_, **__: Full())
        with pytest.raises(OSError, match="No space left on device") as error:
            log.write(1, {"loss": 1.0})
        monkeypatch.undo()
    assert error.value.filename == str(tmp_path / METRICS_FILE)


def scalars(folder):
    """What TensorBoard itself reads."""
    found = events.EventAccumulator(str(folder / "tensorboard")).Reload()
    names = found.Tags()["scalars"]
    return {name: [(event.step, pytest.approx(event.value)) for event in found.Scalars(name)] for name in names}


def test_tensorboard_reads_it_even_after_an_error(tmp_path):
    with pytest.raises(RuntimeError), Log(tmp_path, after_step=0) as log:
        log.write(1, {"loss": 2.0, "f1": 0.5}, tokens_per_second=123.0)
        text = (tmp_path / METRICS_FILE).read_bytes()
        raise RuntimeError
    assert scalars(tmp_path) == {"loss": [(1, 2.0)], "f1": [(1, 0.5)], "tokens_per_second": [(1, 123.0)]}
    assert text == b'{"step": 1, "loss": 2.0, "f1": 0.5}\n', "it is on disk at once; the clock is no part of the run"


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
