"""TensorFile: the floats of a .safetensors file."""

import numpy as np
import pytest

from npbert.files import FileError
from npbert.models.hugging_face import TensorFile, write_tensors
from tests.models.hugging_face.checkpoints import bfloat16, tensor_file


def opened(path, tensors):
    path.write_bytes(tensor_file(tensors))
    return TensorFile(path)


def assert_holds(file, tensors):
    for name, tensor in tensors.items():
        read = file.read(name)
        assert read.dtype == tensor.dtype
        np.testing.assert_array_equal(read, tensor)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some.safetensors"


def test_shapes_and_values(path):
    tensors = {
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
        "b": np.array([0.5, -2.25], np.float16),
        "c": np.array(1e-300),
        "d": np.zeros((0, 4), np.float32),
    }
    file = opened(path, tensors)
    assert file.shapes == {"a": (2, 3), "b": (2,), "c": (), "d": (0, 4)}
    assert file.dtypes == {"a": "F32", "b": "F16", "c": "F64", "d": "F32"}
    assert file.metadata == {}
    assert_holds(file, tensors)


def test_bfloat16_is_half_a_float32(path):
    """By hand: a sign, 8 bits of exponent and 7 of the fraction, the low byte first."""
    numbers = {0x3F80: 1.0, 0xC000: -2.0, 0x0000: 0.0, 0x4049: 3.140625, 0x7F80: np.inf, 0x0001: 2.0**-133}
    data = b"".join(bits.to_bytes(2, "little") for bits in numbers)
    others = {name: np.full(shape, 4, np.float32) for name, shape in (("other", (2, 2)), ("an other", (3,)))}
    raw = {name: bfloat16(tensor) for name, tensor in others.items()}
    file = opened(path, {"pi": ("BF16", (2, 3), data), "one": np.ones(2, np.float32), **raw})
    pi = np.array(list(numbers.values()), np.float32).reshape(2, 3)
    assert_holds(file, {"pi": pi, "one": np.ones(2, np.float32), **others})


@pytest.mark.parametrize("kind", ["I64", "I32", "I16", "I8", "U8", "U16", "U32", "U64", "BOOL"])
def test_integers_are_not_shown(path, kind):
    size = 1 if kind == "BOOL" else int(kind[1:]) // 8
    file = opened(path, {"ids": (kind, (3,), bytes(3 * size)), "a": np.ones(1, np.float32)})
    assert file.shapes == {"a": (1,)}


@pytest.mark.parametrize("kind", ["F8_E4M3", "F8_E5M2"])
def test_other_floats_are_refused(path, kind):
    with pytest.raises(FileError, match=rf"^{path}: weight is {kind}, wanted one of F64, F32, F16, BF16$"):
        opened(path, {"weight": (kind, (4,), bytes(4))})


def test_what_is_written_is_read(path):
    rng = np.random.default_rng(0)
    tensors = {"a": rng.standard_normal((3, 4)).T, "b": rng.standard_normal(5).astype(np.float32), "c": np.array(2.0)}
    write_tensors(path, tensors, {"format": "pt", "more": "text"})
    file = TensorFile(path)
    assert file.metadata == {"format": "pt", "more": "text"}
    assert_holds(file, tensors)


def test_a_place_where_nothing_is_and_nothing_can_be(tmp_path, path):
    with pytest.raises(FileNotFoundError, match=str(path)):
        TensorFile(path)
    with pytest.raises(OSError, match=str(tmp_path / "nowhere")):
        write_tensors(tmp_path / "nowhere" / "some.safetensors", {"a": np.ones(1)}, {})
