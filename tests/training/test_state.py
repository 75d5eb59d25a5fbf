"""The state of a run on disk: back bit for bit, or refused with nothing loaded. How far the run is, and its means."""

import itertools

import numpy as np
import pytest

from npbert import Adam, AdamW
from npbert.data.task_data import Position
from npbert.io.files import FileError
from npbert.models.hugging_face.tensors import write_tensors
from npbert.optim import Adadelta
from npbert.training.accumulate import StepLosses
from npbert.training.progress import Averages, Progress
from npbert.training.state import STATE_FILE
from npbert.training.state_file import read_state, write_state
from tests.training.tiny import classifier, make_trainer

PROGRESS = Progress(3, 2**62, Position(0, 7), 4, {"ä": 0.1}, 1, {}, Averages({"loss": [0.1, 3]}))


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
    run.save()
    other.progress = None
    before = arrays(other)
    assert everything(other) != everything(run)
    other.restore()
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


NO_STATE, ANOTHER = "is not a training state of npbert", "is of another version of npbert: .*"
HEADS = [
    ("progress mood", 1, f"{ANOTHER}'mood'"),
    ("progress", 1, ANOTHER),
    ("reads", {"vocabulary": "x"}, "vocabulary was x and is missing"),
    ("settings", {"seed": 0, "learning_rate": 1}, "other settings, seed was 0 and is missing"),
]
TENSORS = {  # what is done to the tensors, how another model differs, and why it is refused
    "lost": (lambda tensors: tensors.pop("value.classifier.weight"), {}, r".* was missing and is F32 \(8, 2\)"),
    "wider": (None, {"intermediate_size": 16}, r"another model or optimizer: .*was F32 \(12,\) and is F32"),
    "shallower": (None, {"num_hidden_layers": 1}, r".*layers.1.\S+ was F32 \(.*\) and is missing"),
    "in other numbers": (None, {"dtype": np.float64}, r".*was F32 \(.*\) and is F64 "),
}


def check_refused(path, message, *, changed_data=False, **changes):
    """Nothing of the state at `path` is used."""
    trainer = make_trainer(path.parent, model=classifier(**changes), steps=4)
    trainer.look_at_data()
    before = everything(trainer)
    with pytest.raises(FileError, match=message):
        trainer.restore(changed_data=changed_data)
    assert everything(trainer) == before


@pytest.mark.parametrize(("keys", "value", "message"), HEADS)
def test_a_head_that_cannot_be(finished, tmp_path, keys, value, message):
    """Its checksum is right: somebody has made it so."""
    file, head = read_state(finished / STATE_FILE)
    *outer, last = keys.split()
    (head[outer[0]] if outer else head)[last] = value
    write_state(tmp_path / STATE_FILE, head, {name: file.read(name) for name in file.shapes})
    check_refused(tmp_path / STATE_FILE, message)


@pytest.mark.parametrize(("change", "changes", "message"), TENSORS.values(), ids=TENSORS)
def test_tensors_that_cannot_be(finished, tmp_path, change, changes, message):
    file, head = read_state(finished / STATE_FILE)
    tensors = {name: file.read(name) for name in file.shapes}
    if change:
        change(tensors)
    write_state(tmp_path / STATE_FILE, head, tensors)
    check_refused(tmp_path / STATE_FILE, f"{STATE_FILE} is .*{message}", changed_data=True, **changes)


def test_a_bit_that_has_changed_or_a_byte_that_is_gone(finished, tmp_path):
    path, whole = tmp_path / STATE_FILE, (finished / STATE_FILE).read_bytes()
    for place in (whole.index(b"sha256"), whole.index(b"reads"), len(whole) // 2, len(whole) - 5):
        flipped = bytearray(whole)
        flipped[place] ^= 1
        path.write_bytes(flipped)
        check_refused(path, f"{STATE_FILE} is (damaged: its checksum is wrong|not a training state)")
    path.write_bytes(whole[:-1])
    check_refused(path, "is damaged, truncated, or not")
    for metadata in ({}, {"npbert": "{"}):
        write_tensors(path, {"value": np.ones(2)}, metadata)
        check_refused(path, NO_STATE)


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
