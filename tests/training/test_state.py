"""The state of a run on disk: back bit for bit, or refused with nothing loaded."""

import numpy as np
import pytest

from npbert import Adadelta, Adam, AdamW, randomize
from npbert.files import FileError
from npbert.models.hugging_face.tensors import TensorFile, write_tensors
from npbert.training.state import STATE_FILE, drop_tensors, has_tensors, load_state, save_state
from tests.training.tiny import classifier, needs_the_extra_train

PROGRESS = {"epoch": 3, "best": None, "place": [0, 7], "losses": {"a": 0.1}, "big": 2**127 + 1, "name": "ä"}


def make(seed, optimizer=AdamW, dtype=np.float32, **changes):
    """A model and its optimiser after three steps with random gradients."""
    needs_the_extra_train()
    rng = np.random.default_rng(seed)
    model = classifier(dtype, **changes)
    randomize(model, rng)
    made = optimizer(model.parameters())
    for _ in range(3):
        for parameter in made.parameters:
            parameter.add_grad(rng.standard_normal(parameter.value.shape).astype(dtype))
        made.step()
    return model, made


def everything(model, optimizer):
    moments = [array for arrays in optimizer.moments().values() for array in arrays]
    arrays = [parameter.value for parameter in model.parameters()] + moments
    return [array.tobytes() for array in arrays] + [str(optimizer.steps).encode()]


@pytest.fixture
def path(tmp_path):
    """A file with a state."""
    save_state(tmp_path / STATE_FILE, *make(1), PROGRESS)
    return tmp_path / STATE_FILE


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("optimizer", [Adam, AdamW, Adadelta])
def test_there_and_back(path, optimizer, dtype):
    model, made = make(1, optimizer, dtype)
    model.classifier.bias.value[...] = [-0.0, 1e-42]  # a sign and a subnormal number come back too
    save_state(path, model, made, PROGRESS)
    other, other_made = make(2, optimizer, dtype)
    other_made.steps = 99
    arrays = [parameter.value for parameter in other.parameters()]
    assert load_state(path, other, other_made) == PROGRESS
    assert everything(other, other_made) == everything(model, made) != everything(*make(2, optimizer, dtype))
    for parameter, array in zip(other.parameters(), arrays, strict=True):
        assert parameter.value is array, "the optimiser and tied layers hold on to the array"


def test_saving_again_keeps_the_new_state_or_after_an_error_the_old_one_and_nothing_else(path, monkeypatch):
    def fails(path, *_):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    stored = make(1)
    save_state(path, *stored, {"epoch": 1})
    monkeypatch.setattr("npbert.training.state.write_tensors", fails)
    with pytest.raises(OSError, match="No space left"):
        save_state(path, *stored, {"epoch": 2})
    assert load_state(path, *stored) == {"epoch": 1}
    assert [file.name for file in path.parent.iterdir()] == [STATE_FILE]


def rewrite(path, first=0, metadata=None):
    """The tensors from number `first` on, with other metadata or the same."""
    file = TensorFile(path)
    tensors = {name: file.read(name) for name in list(file.shapes)[first:]}
    write_tensors(path, tensors, file.metadata if metadata is None else metadata)


REFUSED = {  # what is done to the file, another model or optimiser, and why
    "cut short": (lambda path: path.write_bytes(path.read_bytes()[:-1]), {}, "is damaged, cut short or no"),
    "a tensor lost": (lambda path: rewrite(path, 1), {}, "missing there"),
    "not a state": (lambda path: rewrite(path, 0, {"format": "pt"}), {}, "is no training state of npbert"),
    "head no JSON": (lambda path: rewrite(path, 0, {"npbert": "{"}), {}, "is no training state of npbert"),
    "head without steps": (lambda path: rewrite(path, 0, {"npbert": "{}"}), {}, "is no training state of npbert"),
    "wider": (rewrite, {"intermediate_size": 16}, r"another model or optimiser: value.*is F32 \(8, 12\) there, and F"),
    "deeper": (rewrite, {"num_hidden_layers": 3}, r"layers.2.\S+ is missing there, and F32 \(8, 8\) here"),
    "shallower": (rewrite, {"num_hidden_layers": 1}, r"layers.1.\S+ is F32 \(.*\) there, and missing here"),
    "another optimiser": (rewrite, {"optimizer": Adadelta}, r"square_gradients.*is missing there"),
    "in other numbers": (rewrite, {"dtype": np.float64}, r"value.*is F32 \(.*\) there, and F64 \(.*\) here"),
}


@pytest.mark.parametrize(("damage", "changes", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_the_state_of_this_model_is_refused_and_nothing_is_loaded(path, damage, changes, message):
    damage(path)
    model, optimizer = make(2, **changes)
    before = everything(model, optimizer)
    with pytest.raises(FileError, match=message) as error:
        load_state(path, model, optimizer)
    assert str(path) in str(error.value)
    assert everything(model, optimizer) == before


def test_what_is_left_when_the_tensors_are_dropped(path):
    assert has_tensors(path)
    drop_tensors(path)
    drop_tensors(path)
    assert not has_tensors(path)
    assert path.stat().st_size < 2000
    model, made = make(2)
    before = everything(model, made)[:-1]
    assert load_state(path, model, made) == PROGRESS
    assert made.steps == 3
    assert everything(model, made)[:-1] == before, "there is nothing to fill them with"
