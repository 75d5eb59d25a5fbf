"""Files that are not there, not what they should be, or half written; the names and the floats in one."""

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from npbert import BertModel
from npbert.io.files import FileError
from npbert.models.hugging_face.checkpoint import WEIGHTS_FILE
from npbert.models.hugging_face.tensors import TensorFile, write_tensors
from tests.models.hugging_face.checkpoints import assert_loads, random_float32, tensor_file, write_checkpoint


@pytest.fixture
def folder(tmp_path):
    return write_checkpoint(tmp_path, random_float32(BertModel))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_files_that_are_not_there_or_too_large(folder):
    (folder / WEIGHTS_FILE).unlink()
    with pytest.raises(FileNotFoundError, match=f"^{folder} is not a checkpoint: it has no model.safetensors"):
        BertModel.from_pretrained(folder)
    (folder / "config.json").write_text('{"a": [' + "[]," * 6_000_000 + "0]}")
    with pytest.raises(FileError, match=r"config\.json has 17 MiB, wanted at most 16"):
        BertModel.from_pretrained(folder)


@pytest.mark.parametrize(("kept", "added"), [(0, b""), (-1, b""), (None, b"more"), (8, b"[")])
def test_damaged_weights(folder, kept, added):
    path = folder / WEIGHTS_FILE
    path.write_bytes(path.read_bytes()[:kept] + added)
    with pytest.raises(FileError, match=f"^{path} is damaged, truncated, or not a safetensors file: "):
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
    (folder / WEIGHTS_FILE).unlink()
    (folder / name).write_bytes(trap)
    with pytest.raises(FileError, match=str(folder / name)) as caught:
        BertModel.from_pretrained(folder)
    assert not sprung.exists()
    assert ("weights_only=True" in str(caught.value)) == (name == "pytorch_model.bin")


def test_without_the_library(folder, monkeypatch):
    """A model that cannot be saved leaves both old files."""
    before = contents(folder)
    for name in ("safetensors", "safetensors.numpy"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"pip install .*\[hf\]"):
        random_float32(BertModel, seed=1).save_pretrained(folder, overwrite=True)
    assert contents(folder) == before


def test_a_model_is_not_overwritten(folder):
    model = random_float32(BertModel, seed=1)
    with pytest.raises(FileExistsError, match=f"^{folder} already has a model; to replace it, give overwrite=True$"):
        model.save_pretrained(folder)
    model.save_pretrained(folder, overwrite=True)
    assert_loads(model, folder)


def test_a_file_is_written_as_the_library_reads_it_and_read_without_what_is_no_float(tmp_path):
    """By hand, bfloat16: a sign, 8 bits of exponent and 7 of the fraction, the low byte first."""
    path = tmp_path / "some"
    tensors = {"a": np.arange(6.0).reshape(3, 2).T, "b": np.zeros((0, 4), "f2"), "c": np.array(1e-300)}
    numbers = {0x3F80: 1.0, 0xC000: -2.0, 0x0000: 0.0, 0x4049: 3.140625, 0x7F80: np.inf, 0x0001: 2.0**-133}
    raw = {"pi": ("BF16", (2, 3), b"".join(bits.to_bytes(2, "little") for bits in numbers))}
    raw |= {"ids": ("I64", (3,), bytes(24)), "mask": ("BOOL", (3,), bytes(3))}
    for is_ours, others in ((False, {"pi": np.array(list(numbers.values()), np.float32).reshape(2, 3)}), (True, {})):
        if is_ours:
            write_tensors(path, tensors, {"format": "pt", "more": "text"})
        else:
            path.write_bytes(tensor_file({**tensors, **raw}))
        file = TensorFile(path)
        assert file.metadata == ({"format": "pt", "more": "text"} if is_ours else {})
        assert file.shapes == {name: tensor.shape for name, tensor in {**tensors, **others}.items()}
        for name, tensor in {**tensors, **others}.items():
            np.testing.assert_array_equal(file.read(name), tensor, strict=True)
    with pytest.raises(OSError, match=f"writing failed: .*{path}"):
        write_tensors(path / "nowhere", tensors, {})


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (
            b'{"a":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}}',
            "a is F8_E4M3, wanted one of F64",
        ),
        (b'{"a":["F32",[1],[0,4]]}', "not a safetensors file: list indices must be"),
        (b"[]," * 2**23, "has a header of 24 MiB, wanted at most"),
    ],
)
def test_a_head_that_is_refused(tmp_path, head, message):
    """The library takes a list for an object. Many lists take thirty times their size in memory."""
    path = tmp_path / "some"
    path.write_bytes(len(head).to_bytes(8, "little") + head + bytes(4))
    with pytest.raises(FileError, match=message):
        TensorFile(path).read("a")
