"""The state of a run on disk: back bit for bit, or refused with nothing loaded."""

import itertools

import numpy as np
import pytest

from npbert import AdamW
from npbert.data.batch import Position
from npbert.io.files import FileError
from npbert.models.hugging_face.tensors import write_tensors
from npbert.optim import Adadelta
from npbert.training import STATE_FILE
from npbert.training.state import Progress, read_state, write_state
from tests.training.tiny import classifier, make_trainer

PROGRESS = Progress(2**62, 3, Position(0, 7), 4, {"ä": 0.1}, 1, [[[0.1], [3], [1]]], 12)


def arrays(run):
    """The parameters, and what the optimizer remembers."""
    return [*(each.value for each in run.model.parameters()), *itertools.chain(*run.optimizer.moments().values())]


def everything(run):
    return [array.tobytes() for array in arrays(run)], run.optimizer.steps


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("optimizer", [AdamW, Adadelta])
def test_there_and_back(tmp_path, optimizer, dtype):
    run, other = (make_trainer(tmp_path, model=classifier(dtype), seed=seed) for seed in (1, 2))
    for each, scale in ((run, 1), (other, 2)):
        each.optimizer = optimizer(each.shares.parameters)
        each.optimizer.steps = 3 * scale
        for array in arrays(each):
            array[...] = scale * np.random.default_rng(3).standard_normal(array.shape)
    run.progress = PROGRESS
    run.model.classifier.bias.value[...] = [-0.0, 1e-42]  # a sign and a subnormal number come back too
    run.save()
    before = arrays(other)
    other.restore()
    assert other.progress == PROGRESS
    assert everything(other) == everything(run)
    for array, found in zip(before, arrays(other), strict=True):
        assert found is array, "the optimizer and tied layers hold on to the array"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a finished run."""
    make_trainer(folder := tmp_path_factory.mktemp("finished"), steps=4).train()
    return folder


ANOTHER = "is of another version of npbert: .*"
MODEL = "is the state of another model or optimizer: .* was "
WRONG = {  # what is done to the head and the tensors, how another model differs, and why it is refused
    "unknown": (lambda head, _: head["progress"].update(mood=1), {}, f"{ANOTHER}'mood'"),
    "data": (lambda head, _: head["reads"].update(dev="x"), {}, "other data: dev was x and is missing"),
    "settings": (lambda head, _: head["settings"].update(warmup=1), {}, "other settings, warmup was 1 and is 0.1"),
    "deeper": (lambda _, tensors: tensors.update(more=np.ones(2)), {}, MODEL + r"F64 \(2,\) and is missing"),
    "in other numbers": (lambda *_: None, {"dtype": np.float64}, MODEL + r"F32 \(.*\) and is F64"),
}


def check_refused(path, message, **changes):
    """Nothing of the state at `path` is used."""
    trainer = make_trainer(path.parent, model=classifier(**changes), steps=4)
    before = everything(trainer)
    with pytest.raises(FileError, match=message):
        trainer.train()
    assert everything(trainer) == before


@pytest.mark.parametrize(("change", "changes", "message"), WRONG.values(), ids=WRONG)
def test_a_state_that_cannot_be(finished, tmp_path, change, changes, message):
    """Its checksum is right: somebody has made it so."""
    file, head = read_state(finished / STATE_FILE)
    tensors = {name: file.read(name) for name in file.shapes}
    change(head, tensors)
    write_state(tmp_path / STATE_FILE, head, tensors)
    check_refused(tmp_path / STATE_FILE, message, **changes)


def test_a_bit_that_has_changed_or_a_byte_that_is_gone(finished, tmp_path):
    path, whole = tmp_path / STATE_FILE, (finished / STATE_FILE).read_bytes()
    for place in (whole.index(b"reads"), len(whole) // 2, len(whole) - 5):
        flipped = bytearray(whole)
        flipped[place] ^= 1
        path.write_bytes(flipped)
        check_refused(path, f"{STATE_FILE} is damaged: its checksum is wrong")
    path.write_bytes(whole[:-1])
    check_refused(path, "is damaged, truncated, or not")
    for metadata in ({}, {"npbert": "{"}):
        write_tensors(path, {"value": np.ones(2)}, metadata)
        check_refused(path, "is not a training state of npbert")
