"""How far a run is, read back from a file that anybody may have written to."""

import copy
import json

import numpy as np
import pytest

from npbert.data.place import Place
from npbert.files import FileError
from npbert.models.hugging_face.tensors import TensorFile, write_tensors
from npbert.training.averages import Averages
from npbert.training.progress import Progress
from npbert.training.state import STATE_FILE
from tests.training.tiny import make_trainer

RIGHT = Progress(2, 7, Place(1, 3), 0.5, 4, {"f1": 0.5}, 1, {"loss": 1.25}, Averages({"loss": 2.5}, {"loss": 4}))


def test_there_and_back():
    assert Progress.from_stored(json.loads(json.dumps(RIGHT.stored()))) == RIGHT
    assert Progress.from_stored(Progress(0, 1).stored()) == Progress(0, 1)


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
        Progress.from_stored({**RIGHT.stored(), name: value})


def test_what_is_missing_or_unknown_is_named():
    stored = RIGHT.stored()
    with pytest.raises(ValueError, match=r"^spirit is unknown$"):
        Progress.from_stored({**stored, "spirit": 1})
    del stored["place"]
    with pytest.raises(ValueError, match=r"^place is missing$"):
        Progress.from_stored(stored)


def spoil(path, change):
    """The same state with another head, or other tensors."""
    file = TensorFile(path)
    head, tensors = json.loads(file.metadata["npbert"]), {name: file.read(name) for name in file.shapes}
    change(head, tensors)
    write_tensors(path, tensors, {"npbert": json.dumps(head)})


def set_in(head, *keys, value):
    for key in keys[:-1]:
        head = head[key]
    head[keys[-1]] = value


DAMAGE = {
    "steps of another type": (lambda head, _: set_in(head, "steps", value="4"), "is no training state of npbert"),
    "negative steps": (lambda head, _: set_in(head, "steps", value=-4), "is no training state of npbert"),
    "progress of another type": (lambda head, _: set_in(head, "progress", value=[]), "is no training state of npbert"),
    "a key too many": (lambda head, _: set_in(head, "progress", "mood", value=1), "is damaged.*: mood is unknown"),
    "a key of another type": (
        lambda head, _: set_in(head, "progress", "epoch", value="x"),
        "is damaged.*: epoch is 'x'",
    ),
    "no generator": (lambda head, _: head["progress"].pop("rng"), "is damaged, or of another version"),
    "another generator": (lambda head, _: set_in(head, "progress", "rng", "bit_generator", value="X"), "is damaged"),
    "a state of another run": (
        lambda head, _: set_in(head, "progress", "settings", "learning_rate", value=0.5),
        "is the state of another run: its settings are not those in",
    ),
    "NaN in a parameter": (
        lambda _, tensors: tensors["value.classifier.bias"].fill(np.nan),
        "is damaged: value.classifier.bias holds a number that is not finite",
    ),
}


@pytest.mark.parametrize(("change", "message"), DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_or_foreign_state_is_named_as_such_and_nothing_of_it_is_used(tmp_path, change, message):
    make_trainer(tmp_path, steps=4, learning_rate=1e-2).train()
    spoil(tmp_path / STATE_FILE, change)
    trainer = make_trainer(tmp_path, steps=4, learning_rate=1e-2)
    before = [copy.deepcopy(parameter.value) for parameter in trainer.model.parameters()], trainer.step
    with pytest.raises(FileError, match=f"{STATE_FILE} {message}"):
        trainer.train()
    for parameter, value in zip(trainer.model.parameters(), before[0], strict=True):
        np.testing.assert_array_equal(parameter.value, value)
    assert trainer.step == before[1] == 0
