"""The state of a run on disk: back bit for bit, or refused with nothing loaded. How far the run is, and its means."""

import itertools
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from npbert import Adam, AdamW
from npbert.data.task_data import Position
from npbert.io.files import FileError
from npbert.models.hugging_face.tensors import TensorFile, write_tensors
from npbert.optim import Adadelta
from npbert.training.accumulate import StepLosses
from npbert.training.progress import Averages, Progress
from npbert.training.state import STATE_FILE
from tests.training.tiny import classifier, make_trainer

PROGRESS = Progress(3, 2**62, Position(0, 7), None, 4, {"ä": 0.1}, 1, {}, Averages({"loss": 0.1}, {"loss": 3}))


def arrays(run):
    """The parameters, and what the optimizer remembers."""
    return [*(each.value for each in run.model.parameters()), *itertools.chain(*run.optimizer.moments().values())]


def everything(run):
    return [array.tobytes() for array in arrays(run)], run.optimizer.steps


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("optimizer", [Adam, AdamW, Adadelta])
def test_there_and_back(tmp_path, optimizer, dtype):
    run, other = (make_trainer(tmp_path, model=classifier(dtype), seed=seed) for seed in (1, 2))
    for saved, scale in ((run, 1), (other, 2)):
        saved.optimizer = optimizer(saved.shares.parameters)
        saved.progress = PROGRESS
        saved.optimizer.steps = 3 * scale
        for array in arrays(saved):
            array[...] = scale * saved.rng.standard_normal(array.shape)
    run.model.classifier.bias.value[...] = [-0.0, 1e-42]  # a sign and a subnormal number come back too
    run.run.save()
    other.progress = None
    before = arrays(other)
    assert everything(other) != everything(run)
    other.run.restore()
    assert other.progress == PROGRESS
    assert everything(other) == everything(run)
    assert other.rng.random() == run.rng.random()
    for array, found in zip(before, arrays(other), strict=True):
        assert found is array, "the optimizer and tied layers hold on to the array"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a finished run."""
    make_trainer(folder := tmp_path_factory.mktemp("finished"), steps=4).train()
    return folder


def in_head(*keys, value):
    """What sets an entry of the head of a state."""

    def change(metadata, _):
        head = inner = json.loads(metadata["npbert"])
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value
        metadata["npbert"] = json.dumps(head)

    return change


NO_STATE, DAMAGED = "is not a training state of npbert", "is damaged, or of another version"
REFUSED = {  # what is done to metadata and tensors, how another model differs, and why it is refused
    "no metadata": (lambda metadata, _: metadata.clear(), {}, NO_STATE),
    "head no JSON": (lambda metadata, _: metadata.update(npbert="{"), {}, NO_STATE),
    "steps of another type": (in_head("steps", value="4"), {}, NO_STATE),
    "negative steps": (in_head("steps", value=-4), {}, NO_STATE),
    "progress of another type": (in_head("progress", value=[]), {}, NO_STATE),
    "settings of another type": (in_head("progress", "settings", value=[]), {}, NO_STATE),
    "a key too many": (in_head("progress", "mood", value=1), {}, f"{DAMAGED}.*: mood is unknown"),
    "no generator": (in_head("progress", "rng", value=None), {}, DAMAGED),
    "another generator": (in_head("progress", "rng", "bit_generator", value="X"), {}, DAMAGED),
    "NaN": (
        lambda _, tensors: tensors["value.classifier.bias"].fill(np.nan),
        {},
        "is damaged: value.classifier.bias holds a number that is not finite",
    ),
    "a tensor lost": (
        lambda _, tensors: tensors.pop("value.classifier.weight"),
        {},
        r"is the state of another .*: \S+ is missing there, and F32 \(8, 2\) here",
    ),
    "wider": (None, {"intermediate_size": 16}, r"another model or optimizer: value.*is F32 \(8, 12\) there, and F"),
    "shallower": (None, {"num_hidden_layers": 1}, r".*layers.1.\S+ is F32 \(.*\) there, and missing here"),
    "in other numbers": (None, {"dtype": np.float64}, r".*value.*is F32 \(.*\) there, and F64 \(.*\) here"),
    "cut short": (None, {}, "is damaged, cut short or no"),
}


@pytest.mark.parametrize(("change", "changes", "message"), REFUSED.values(), ids=REFUSED)
def test_a_damaged_or_foreign_state_is_named_as_such_and_nothing_of_it_is_used(
    finished, tmp_path, change, changes, message
):
    path = Path(shutil.copytree(finished, tmp_path / "run")) / STATE_FILE
    if change:
        file = TensorFile(path)
        metadata, tensors = dict(file.metadata), {name: file.read(name) for name in file.shapes}
        change(metadata, tensors)
        write_tensors(path, tensors, metadata)
    elif not changes:
        path.write_bytes(path.read_bytes()[:-1])
    trainer = make_trainer(path.parent, model=classifier(**changes), steps=4)
    before = everything(trainer)
    with pytest.raises(FileError, match=f"{STATE_FILE} .*{message}"):
        trainer.train()
    assert everything(trainer) == before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[(name, wrong) for name in ("epoch", "epoch_seed", "best_step") for wrong in (-1, 1.5, "1", None, True)],
        *[("best", wrong) for wrong in ("1", [], True)],
        *[(name, wrong) for name in ("evaluation", "best_evaluation") for wrong in (None, [], {"f1": "high"})],
        *[("place", wrong) for wrong in ([1], [1, -2], [1, 2, 3], {"group": 0}, None, ["a", 1])],
        *[("averages", wrong) for wrong in ({}, {"sums": {}, "counts": {"loss": 1}}, {"sums": [], "counts": {}})],
        ("averages", {"sums": {"loss": 1.0}, "counts": {"loss": -1}}),
    ],
)
def test_what_is_of_another_type_is_named(name, value):
    with pytest.raises(ValueError, match=f"^{name} is "):
        Progress.from_stored({**PROGRESS.stored(), name: value})


def test_what_is_missing_is_named():
    """But total_steps, of which an earlier version said nothing."""
    stored = PROGRESS.stored()
    del stored["total_steps"]
    assert Progress.from_stored(stored) == PROGRESS
    del stored["place"]
    with pytest.raises(ValueError, match=r"^place is missing$"):
        Progress.from_stored(stored)


BOTH = {"loss": 1.75 + 0.75, "mlm_loss": 1.75, "mlm_accuracy": 30 / 40, "nsp_loss": 0.75, "nsp_accuracy": 3 / 4}


@pytest.mark.parametrize(
    ("kinds", "steps", "wanted"),
    [
        (("mlm", "nsp"), [((4.0, 1.0), (10, 2), (3, 1)), ((1.0, 0.5), (30, 2), (27, 2))], BOTH),
        (("",), [((4.0,), (1,), (0,)), ((1.0,), (3,), (3,))], {"loss": 7 / 4, "accuracy": 3 / 4}),
        (("",), [((4.0,), (2,), None)], {"loss": 4.0}),  # in a regression nothing is right
        (("",), [], {}),
    ],
)
def test_means_are_over_targets_not_over_batches(kinds, steps, wanted):
    averages = Averages()
    for step in steps:
        averages.add(kinds, StepLosses(*step))
    assert averages.means() == pytest.approx(wanted)
    assert list(averages.means()) == list(wanted)
