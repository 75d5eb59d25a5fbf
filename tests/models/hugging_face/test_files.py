"""Files that are not there, not what they should be, or half written."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from npbert import BertForMaskedLM, BertForPreTraining, BertModel
from npbert.extras import MissingExtraError
from npbert.files import FileError
from npbert.models import pretrained
from tests.models.checkpoints import assert_same_values, random_model, values, write_checkpoint

WEIGHTS = "model.safetensors"


class Trap:
    """A pickle of it makes a file when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.fixture
def folder(tmp_path):
    return write_checkpoint(tmp_path, random_model(BertModel))


def test_no_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere is no checkpoint: there is no such folder \(npbert"):
        BertModel.from_pretrained(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="bert-base-uncased is no checkpoint: there is no such folder"):
        BertModel.from_pretrained("bert-base-uncased")


def test_no_config(folder):
    (folder / "config.json").unlink()
    with pytest.raises(FileNotFoundError, match=f"^{folder} is no checkpoint: it has no config.json"):
        BertModel.from_pretrained(folder)


def test_no_weights(folder):
    (folder / WEIGHTS).unlink()
    with pytest.raises(FileNotFoundError, match=f"^{folder} has no model.safetensors"):
        BertModel.from_pretrained(folder)


def test_weights_in_several_files(folder):
    (folder / WEIGHTS).rename(folder / "model-00001-of-00002.safetensors")
    (folder / f"{WEIGHTS}.index.json").write_text("{}")
    with pytest.raises(FileError, match=f"^{folder} holds a checkpoint in several files, wanted one {WEIGHTS}"):
        BertModel.from_pretrained(folder)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:5],
        lambda data: data[:100],
        lambda data: data[:-1],
        lambda data: data + b"more",
        lambda data: b"garbage, and a lot of it" * 50,
        lambda data: data[:8] + b"[" + data[9:],
        lambda data: b"\xff" * 8 + data[8:],
    ],
    ids=["empty", "5 bytes", "half a header", "cut short", "too long", "garbage", "header", "length"],
)
def test_damaged_weights(folder, damage):
    path = folder / WEIGHTS
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(FileError, match=f"^{path} is damaged, cut short or no safetensors file: "):
        BertModel.from_pretrained(folder)


def test_numbers_of_a_kind_that_npbert_does_not_read(folder):
    write_checkpoint(folder, random_model(BertModel), {"pooler.dense.bias": ("F8_E4M3", (6,), bytes(6))})
    with pytest.raises(FileError, match=f"^{folder / WEIGHTS}: pooler.dense.bias is F8_E4M3, wanted one of F64, F32"):
        BertModel.from_pretrained(folder)


@pytest.mark.parametrize("name", [WEIGHTS, "pytorch_model.bin"])
def test_no_pickle_is_read(folder, name, tmp_path):
    sprung = tmp_path / "sprung"
    trap = pickle.dumps({"embeddings.word_embeddings.weight": Trap(sprung)})
    pickle.loads(trap)
    assert sprung.exists(), "the trap works"
    sprung.unlink()

    (folder / WEIGHTS).unlink()
    (folder / name).write_bytes(trap)
    with pytest.raises(FileError, match=str(folder / name)):
        BertModel.from_pretrained(folder)
    assert not sprung.exists()


def test_a_pickle_is_refused_with_a_command_that_converts_it(folder):
    (folder / WEIGHTS).rename(folder / "pytorch_model.bin")
    with pytest.raises(FileError, match="so npbert does not read it") as caught:
        BertModel.from_pretrained(folder)
    assert 'python -c "import torch' in str(caught.value)
    assert "weights_only=True, map_location='cpu'" in str(caught.value)  # what runs no code, and needs no GPU


def test_a_pickle_beside_the_weights_is_left_alone(folder):
    (folder / "pytorch_model.bin").write_bytes(b"")
    assert_same_values(BertModel.from_pretrained(folder), random_model(BertModel))


def test_without_the_library(folder, monkeypatch):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for name in ("safetensors", "safetensors.numpy"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"needs the package safetensors, .* pip install '.\[hf\]'"):
        BertModel.from_pretrained(folder)
    with pytest.raises(MissingExtraError, match=r"pip install '.\[hf\]'"):
        random_model(BertModel, seed=1).save_pretrained(folder)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def failing(part):
    """A writer that stops in the middle of its file."""

    def write(path, *arguments, **options):
        path.write_bytes(b"half of it")
        raise OSError(f"no space left for {part}")

    return write


@pytest.mark.parametrize("writer", ["write_config", "write_tensors"])
def test_an_error_while_saving_leaves_the_old_files_whole(folder, writer, monkeypatch):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr(pretrained, writer, failing(writer))
    with pytest.raises(OSError, match=f"no space left for {writer}"):
        random_model(BertModel, seed=1, num_labels=5).save_pretrained(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


SAVE_AND_DIE = """
import os, sys
from pathlib import Path
from npbert import BertModel
from npbert.models import pretrained

def die(*arguments, **options):
    os._exit(42)

def half(path, *arguments, **options):
    path.write_bytes(b"half of it")
    os._exit(42)

def only_once(self, target, replace=Path.replace):
    replace(self, target)
    os._exit(42)

model = BertModel.from_pretrained(sys.argv[1])
for parameter in model.parameters():
    parameter.value *= 2
pretrained.{where} = {what}
model.save_pretrained(sys.argv[1])
"""


@pytest.mark.parametrize(
    ("where", "what", "factor"),
    [("write_tensors", "die", 1), ("write_tensors", "half", 1), ("Path.replace", "only_once", 2)],
    ids=["between the files", "in the middle of a file", "between taking their places"],
)
def test_a_process_that_is_killed_while_saving_leaves_whole_files(folder, where, what, factor):
    script = SAVE_AND_DIE.format(where=where, what=what)
    assert subprocess.run([sys.executable, "-c", script, str(folder)], check=False).returncode == 42
    wanted = random_model(BertModel)
    for parameter in wanted.parameters():
        parameter.value *= factor
    assert_same_values(BertModel.from_pretrained(folder), wanted)


def test_others_may_read_what_was_saved(folder):
    mask = os.umask(0o027)
    try:
        random_model(BertForPreTraining).save_pretrained(folder)
    finally:
        os.umask(mask)
    assert [path.stat().st_mode & 0o777 for path in sorted(folder.iterdir())] == [0o640, 0o640]


def test_a_model_can_be_saved_where_it_was_loaded_from(folder):
    model = BertModel.from_pretrained(folder)
    first = values(model)
    for parameter in model.parameters():
        parameter.value += 1
    model.save_pretrained(folder)
    for name, value in values(BertModel.from_pretrained(folder)).items():
        np.testing.assert_array_equal(value, first[name] + 1)


def test_a_file_of_another_model_is_named(folder):
    write_checkpoint(folder, random_model(BertForMaskedLM), {"cls.predictions.bias": None})
    with pytest.raises(FileError, match=f"^{folder / WEIGHTS} does not fit BertForMaskedLM:\n  missing: cls.pred"):
        BertForMaskedLM.from_pretrained(folder)
