"""Files that are not there, not what they should be, or half written."""

import pickle
import sys
from pathlib import Path

import pytest

from npbert import BertModel
from npbert.extras import MissingExtraError
from npbert.files import FileError
from npbert.models.hugging_face.checkpoint import WEIGHTS_FILE
from tests.models.hugging_face.checkpoints import assert_loads, random_float32, write_checkpoint


@pytest.fixture
def folder(tmp_path):
    return write_checkpoint(tmp_path, random_float32(BertModel))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("new", "error", "message"),
    [
        ("other.safetensors", FileNotFoundError, "has no model.safetensors"),
        (f"{WEIGHTS_FILE}.index.json", FileError, "holds a checkpoint in several files, wanted one"),
    ],
)
def test_weights_that_are_not_there(folder, new, error, message):
    (folder / WEIGHTS_FILE).rename(folder / new)
    with pytest.raises(error, match=f"^{folder} {message}"):
        BertModel.from_pretrained(folder)


@pytest.mark.parametrize(
    ("kept", "added"),
    [(0, b""), (5, b""), (100, b""), (-1, b""), (None, b"more"), (0, b"garbage " * 50), (8, b"["), (0, b"\xff" * 99)],
)
def test_damaged_weights(folder, kept, added):
    path = folder / WEIGHTS_FILE
    path.write_bytes(path.read_bytes()[:kept] + added)
    with pytest.raises(FileError, match=f"^{path} is damaged, cut short or no safetensors file: "):
        BertModel.from_pretrained(folder)


class Trap:
    """A pickle of it makes a file when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize("name", [WEIGHTS_FILE, "pytorch_model.bin"])
def test_no_pickle_is_read(folder, name, tmp_path):
    sprung = tmp_path / "sprung"
    trap = pickle.dumps({"embeddings.word_embeddings.weight": Trap(sprung)})
    pickle.loads(trap)
    assert sprung.exists(), "the trap works"
    sprung.unlink()

    (folder / WEIGHTS_FILE).unlink()
    (folder / name).write_bytes(trap)
    with pytest.raises(FileError, match=str(folder / name)) as caught:
        BertModel.from_pretrained(folder)
    assert not sprung.exists()
    if name == "pytorch_model.bin":  # there is a command that converts it, runs no code of the file's and needs no GPU
        for part in ("so npbert does not read it", 'python -c "import torch', "weights_only=True, map_location='cpu'"):
            assert part in str(caught.value)


def test_a_pickle_beside_the_weights_is_left_alone(folder):
    (folder / "pytorch_model.bin").write_bytes(b"")
    assert_loads(random_float32(BertModel), folder)


def test_without_the_library(folder, monkeypatch):
    """A model that cannot be saved leaves both old files."""
    before = contents(folder)
    for name in ("safetensors", "safetensors.numpy"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"needs the package safetensors, .* pip install .*\[hf\]"):
        BertModel.from_pretrained(folder)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[hf\]"):
        random_float32(BertModel, seed=1).save_pretrained(folder, overwrite=True)
    assert contents(folder) == before


def test_another_model_is_not_overwritten(folder):
    """The same model is, as after each epoch; but not where another has been written in between."""
    before, model, other = contents(folder), *(random_float32(BertModel, seed=seed) for seed in (1, 2))
    with pytest.raises(FileExistsError, match=f"^{folder} holds another model; overwrite=True replaces it$"):
        model.save_pretrained(folder)
    assert contents(folder) == before
    model.save_pretrained(folder, overwrite=True)
    model.parameters()[0].value[:] = 0
    model.save_pretrained(folder)
    assert_loads(model, folder)
    other.save_pretrained(folder, overwrite=True)
    with pytest.raises(FileExistsError, match="holds another model"):
        model.save_pretrained(folder)
    BertModel.from_pretrained(folder).save_pretrained(folder)
