"""The state of a run on disk: back bit for bit, or refused with nothing loaded."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from npbert import Adadelta, Adam, AdamW, randomize
from npbert.data.task_data import Place
from npbert.files import FileError
from npbert.models.hugging_face.tensors import TensorFile, write_tensors
from npbert.training.parallel import ALONE, Shares
from npbert.training.progress import Averages, Progress
from npbert.training.settings import TrainerSettings
from npbert.training.state import STATE_FILE, SavedRun
from tests.training.tiny import classifier, make_trainer, needs_the_extra_train

PROGRESS = Progress(3, 2**62, Place(0, 7), None, 4, {"ä": 0.1}, 1, {}, Averages({"loss": 0.1}, {"loss": 3}))


def make(folder, seed, optimizer=AdamW, dtype=np.float32):
    """What saves a model and its optimiser, after three steps with random gradients."""
    needs_the_extra_train()
    rng = np.random.default_rng(seed)
    model = classifier(dtype)
    randomize(model, rng)
    made = optimizer(model.parameters())
    for _ in range(3):
        for parameter in made.parameters:
            parameter.add_grad(rng.standard_normal(parameter.value.shape).astype(dtype))
        made.step()
    return SavedRun(folder, model, made, Shares(model, ALONE), rng, TrainerSettings(), model.save_pretrained)


def everything(run):
    moments = [array for arrays in run.optimizer.moments().values() for array in arrays]
    arrays = [parameter.value for parameter in run.model.parameters()] + moments
    return [array.tobytes() for array in arrays] + [str(run.optimizer.steps).encode()]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("optimizer", [Adam, AdamW, Adadelta])
def test_there_and_back(tmp_path, optimizer, dtype):
    run, other = make(tmp_path, 1, optimizer, dtype), make(tmp_path, 2, optimizer, dtype)
    run.model.classifier.bias.value[...] = [-0.0, 1e-42]  # a sign and a subnormal number come back too
    run.save(PROGRESS)
    other.optimizer.steps = 99
    arrays = [parameter.value for parameter in other.model.parameters()]
    assert everything(other) != everything(run)
    assert other.restore() == PROGRESS
    assert everything(other) == everything(run)
    assert other.rng.random() == run.rng.random()
    for parameter, array in zip(other.model.parameters(), arrays, strict=True):
        assert parameter.value is array, "the optimiser and tied layers hold on to the array"


def test_saving_again_keeps_the_new_state_or_after_an_error_the_old_one_and_nothing_else(tmp_path, monkeypatch):
    def fails(path, *_):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    run = make(tmp_path, 1)
    run.save(Progress(0, 1))
    run.save(PROGRESS)
    monkeypatch.setattr("npbert.training.state.write_tensors", fails)
    with pytest.raises(OSError, match="No space left"):
        run.save(Progress(0, 2))
    assert run.restore() == PROGRESS
    assert [file.name for file in tmp_path.iterdir()] == [STATE_FILE]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a finished run."""
    make_trainer(folder := tmp_path_factory.mktemp("finished"), **RUN).train()
    return folder


RUN = {"steps": 4, "learning_rate": 1e-2}


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
FOREIGN = "is the state of another"
REFUSED = {  # what is done to metadata and tensors, how another model differs, and why it is refused
    "no metadata": (lambda metadata, _: metadata.clear(), {}, NO_STATE),
    "head no JSON": (lambda metadata, _: metadata.update(npbert="{"), {}, NO_STATE),
    "head without steps": (lambda metadata, _: metadata.update(npbert="{}"), {}, NO_STATE),
    "steps of another type": (in_head("steps", value="4"), {}, NO_STATE),
    "negative steps": (in_head("steps", value=-4), {}, NO_STATE),
    "progress of another type": (in_head("progress", value=[]), {}, NO_STATE),
    "settings of another type": (in_head("progress", "settings", value=[]), {}, NO_STATE),
    "a key too many": (in_head("progress", "mood", value=1), {}, f"{DAMAGED}.*: mood is unknown"),
    "a key of another type": (in_head("progress", "epoch", value="x"), {}, f"{DAMAGED}.*: epoch is 'x'"),
    "no generator": (in_head("progress", "rng", value=None), {}, DAMAGED),
    "another generator": (in_head("progress", "rng", "bit_generator", value="X"), {}, DAMAGED),
    "another run": (in_head("progress", "settings", "learning_rate", value=0.5), {}, None),
    "NaN": (
        lambda _, tensors: tensors["value.classifier.bias"].fill(np.nan),
        {},
        "is damaged: value.classifier.bias holds a number that is not finite",
    ),
    "a tensor lost": (lambda _, tensors: tensors.pop(next(iter(tensors))), {}, f"{FOREIGN} model.*missing there"),
    "wider": (None, {"intermediate_size": 16}, r"another model or optimiser: value.*is F32 \(8, 12\) there, and F"),
    "deeper": (None, {"num_hidden_layers": 3}, r".*layers.2.\S+ is missing there, and F32 \(8, 8\) here"),
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
    trainer = make_trainer(path.parent, model=classifier(**changes), **RUN)
    before = everything(trainer)
    wanted = f"{STATE_FILE} .*{message}" if message else "holds a run with other settings, learning_rate = 0.5 and"
    with pytest.raises(FileError, match=wanted):
        trainer.train()
    assert everything(trainer) == before
