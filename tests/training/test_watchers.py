"""The log: lines that another program can read, the same after a kill as without one. What a person sees: a bar that
fits a terminal, and a few lines where there is none. By layer: how large the gradient is, and how far a step moves the
weights."""

import io
import json
import logging
import sys
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest

from npbert import AdamW
from npbert.io import METRICS_FILE, SHOWN_FILE, FileError, append_row, drop_rows, read_json_lines
from npbert.models import parameters_by_layer
from npbert.training import accumulate
from npbert.training.trainer import layer_statistics
from npbert.training.watchers import log, progress_bar, tensorboard
from tests.training.tiny import classifier, collate, examples, needs_the_extra_train

needs_the_extra_train()
events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")

ROWS = [{"step": 1, "loss": 0.1 + 0.2, "accuracy": 1 / 3}, {"step": 2, "loss": 1e-300}, {"step": 4, "loss": 7.25}]
SPEED = 12_345.6
FULL = OSError(28, "No space left on device")


def after(watcher, number, row=None, **more):
    event = {"row": row or {}, "layers": {}, "evaluation": {}, "shown": {}, "is_saved": False}
    watcher(SimpleNamespace(number=number, **{**event, "tokens_per_second": SPEED, **more}))


def test_each_row_is_a_line_that_comes_back_and_a_half_line_is_dropped(tmp_path):
    def write(rows, after_step):
        drop_rows(path, after_step=after_step)
        for row in rows:
            append_row(path, row["step"], {name: value for name, value in row.items() if name != "step"}, sync=True)
        return path.read_bytes()

    path = tmp_path / METRICS_FILE
    whole = write(ROWS, 0)
    assert read_json_lines(path) == ROWS == [json.loads(line) for line in whole.splitlines()]
    for length in range(0, len(whole), 13):
        path.write_bytes(whole[:length])
        complete = whole[:length].count(b"\n")
        assert read_json_lines(path) == ROWS[:complete]
        assert write(ROWS[complete:], 9) == whole
    drop_rows(path, after_step=2)
    assert read_json_lines(path) == ROWS[:2], "later than the state"


def test_of_too_many_rows_evenly_chosen_ones_of_each_kind_and_the_last_are_read(tmp_path):
    rows = [{"step": step, "loss": 1.0} if step % 10 else {"step": step, "eval_loss": 2.0} for step in range(1, 100)]
    (tmp_path / METRICS_FILE).write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.warns(UserWarning, match=r"metrics\.jsonl has 99 rows, too many to draw: 22 of them are read$"):
        some = read_json_lines(tmp_path / METRICS_FILE, most=12)
    assert len([row for row in some if "loss" in row]) == 13 and some[-1] == rows[-1]
    assert [row for row in some if "eval_loss" in row] == rows[9::10]


@pytest.mark.parametrize("line", ["x", '{"loss": 1}', "[1]", "", '{"step": null}'])
def test_a_line_that_is_no_row(tmp_path, line):
    (tmp_path / METRICS_FILE).write_text(f'{{"step": 1}}\n{line}\n', encoding="utf-8")
    with pytest.raises(FileError, match=r"metrics.jsonl, line 2 is not a row of numbers with its step"):
        drop_rows(tmp_path / METRICS_FILE, after_step=5)


def test_a_full_disk_is_an_error_with_the_file(tmp_path, monkeypatch):
    lines, full = log(tmp_path, after_step=0), MagicMock()
    full.__enter__.return_value.write.side_effect = FULL
    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left") as of_row:
        patch.setattr("pathlib.Path.open", lambda *_, **__: full)
        after(lines, 2, {"loss": 1.0})
    assert of_row.value.filename == str(tmp_path / METRICS_FILE)


def test_a_row_is_in_its_file_at_once(tmp_path):
    """The clock is not a part of the run, and JSON has no NaN."""
    lines = log(tmp_path, after_step=0)
    after(lines, 1, {"loss": 2.0, "eval_f1": 0.5}, shown={"kind": "masked", "p": float("nan")}, is_saved=True)
    assert (tmp_path / METRICS_FILE).read_bytes() == b'{"step": 1, "loss": 2.0, "eval_f1": 0.5}\n'
    assert read_json_lines(tmp_path / SHOWN_FILE) == [{"step": 1, "kind": "masked", "p": None}]


def test_tensorboard_reads_a_run_that_goes_on_from_an_earlier_step(tmp_path):
    for first, losses in ((1, [0.3, 0.2, 0.1]), (2, [0.5, 0.25])):
        board = tensorboard(tmp_path, first_step=first)
        for number, loss in enumerate(losses, start=first):
            after(board, number, {"loss": loss, **({"eval_f1": 0.5} if number == 3 else {})})
    found = events.EventAccumulator(str(tmp_path)).Reload()
    scalars = {
        name: [(e.step, pytest.approx(e.value)) for e in found.Scalars(name)] for name in found.Tags()["scalars"]
    }
    speed = [(step, SPEED) for step in (1, 2, 3)]
    assert scalars == {"loss": [(1, 0.3), (2, 0.5), (3, 0.25)], "tokens_per_second": speed, "eval_f1": [(3, 0.5)]}


NUMBERS = {"loss": 12.3456, "mlm_loss": 11.65, "mlm_accuracy": 0.213, "nsp_loss": 0.6956, "nsp_accuracy": 0.5678}
EVALUATED = {**NUMBERS, "eval_accuracy": 0.9}
SHOWN = "loss 12.346, mlm 21%, nsp 57%, 12,346 tok/s"


def errors_to(monkeypatch, *, is_terminal=False):
    stream = io.StringIO()
    stream.isatty = lambda: is_terminal
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


@pytest.mark.parametrize(("total", "done", "most"), [(1000, 0, 21), (7, 0, 7), (1000, 900, 3)])
def test_a_file_gets_about_twenty_lines(monkeypatch, capsys, total, done, most):
    errors_to(monkeypatch)
    with progress_bar(total, done=done, asked=[]) as bar:
        for number in range(done + 1, total + 1):
            after(bar, number, EVALUATED)
        after(bar, total, evaluation={"macro_f1": 0.5})
    *lines, last = capsys.readouterr().out.splitlines()
    assert last == f"step {total}: held out: macro f1 0.5"
    assert most - 1 <= len(lines) <= most
    assert lines[0].startswith(f"step {done + 1} of {total}: {SHOWN}, ")
    assert lines[-1] == f"step {total} of {total}: {SHOWN}, 00:00 left"


def test_nothing_where_npbert_is_to_be_quiet(monkeypatch, capsys, caplog):
    stream = errors_to(monkeypatch, is_terminal=True)
    with caplog.at_level(logging.ERROR, "npbert"), progress_bar(2, done=0, asked=[]) as bar:
        after(bar, 1, NUMBERS, evaluation={"f1": 0.5})
    assert (stream.getvalue(), capsys.readouterr().out) == ("", "")


LAYERS = ["embeddings", "layer 1", "layer 2", "pooler", "classifier"]


def statistics_of(model, update):
    """The numbers of a step that makes this update."""
    step = SimpleNamespace(is_logged=True)
    with np.errstate(all="ignore"), layer_statistics(model, step):
        update()
    return step.layers


def norm(arrays):
    return np.linalg.norm(np.concatenate(arrays, axis=None))


def test_the_numbers_of_a_step():
    model = classifier(np.float64)
    accumulate(model, collate(examples(4)), None)
    layers = {name: [*parameters.values()] for name, parameters in parameters_by_layer(model).items()}
    before = {name: [p.value.copy() for p in parameters] for name, parameters in layers.items()}
    numbers = statistics_of(model, AdamW(model.parameters(), lr=1e-2).step)
    for name, parameters in layers.items():
        moved = norm([p.value - old for p, old in zip(parameters, before[name], strict=True)])
        assert numbers["gradient_norms"][name] == pytest.approx(norm([p.grad for p in parameters]), rel=1e-3)
        assert numbers["update_ratios"][name] == pytest.approx(moved / norm(before[name]), rel=1e-3)
    assert [*numbers["gradient_norms"]] == [*numbers["update_ratios"]] == LAYERS
    for parameter in layers["classifier"]:
        parameter.value[:] = 0
    assert np.isnan(statistics_of(model, lambda: None)["update_ratios"]["classifier"]), "0 / 0"
