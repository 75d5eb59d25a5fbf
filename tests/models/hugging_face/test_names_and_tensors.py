"""The table of names, read in both directions, and the floats of a .safetensors file."""

import tracemalloc

import numpy as np
import pytest

from npbert.files import FileError
from npbert.models.hugging_face import TensorFile, write_tensors
from npbert.models.hugging_face.names import HEAD_TENSORS, NAMES, head_of, to_hugging_face
from tests.models.hugging_face.checkpoints import bfloat16, tensor_file
from tests.models.small import CLASSES, small_config

SIZES = {"before": 10**6, "some": 10, "after": 10**6}


def test_every_row_is_a_parameter_and_every_parameter_has_a_row():
    config = small_config(num_hidden_layers=1)
    parameters = [name for cls in CLASSES for name, _ in cls(config, rng=None).named_parameters()]
    assert {row.replace("{}", "0") for row in NAMES} == {name.removeprefix("bert.") for name in parameters}
    heads = {"pooler", "predictions", "seq_relationship", "classifier", "qa_outputs"}
    assert {head_of(name) for name in parameters} == {None} | heads
    twins = {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}
    assert {
        to_hugging_face(name).name.removeprefix("bert.") for name in parameters if head_of(name)
    } | twins == HEAD_TENSORS


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some.safetensors"


def assert_holds(path, tensors, *, raw=None, metadata=None):
    """The file holds these tensors, and what is `raw` besides is not seen."""
    if metadata is None:
        path.write_bytes(tensor_file({**tensors, **(raw or {})}))
    file = TensorFile(path)
    assert file.metadata == (metadata or {})
    assert file.shapes == {name: tensor.shape for name, tensor in tensors.items()}
    for name, tensor in tensors.items():
        assert file.read(name).dtype == tensor.dtype
        np.testing.assert_array_equal(file.read(name), tensor)


def test_what_is_there_is_read_and_what_is_written_is_there(path):
    tensors = {"a": np.arange(6.0).reshape(3, 2).T, "b": np.array([0.5, -2], np.float16), "c": np.zeros((0, 4), "f4")}
    assert_holds(path, {**tensors, "scalar": np.array(1e-300)})
    write_tensors(path, tensors, {"format": "pt", "more": "text"})
    assert_holds(path, tensors, metadata={"format": "pt", "more": "text"})


def test_bfloat16_is_half_a_float32(path):
    """By hand: a sign, 8 bits of exponent and 7 of the fraction, the low byte first."""
    numbers = {0x3F80: 1.0, 0xC000: -2.0, 0x0000: 0.0, 0x4049: 3.140625, 0x7F80: np.inf, 0x0001: 2.0**-133}
    raw = {"pi": ("BF16", (2, 3), b"".join(bits.to_bytes(2, "little") for bits in numbers))}
    others = {"fours": np.full((2, 2), 4, np.float32), "eights": np.full(3, 8, np.float32)}
    raw |= {name: bfloat16(tensor) for name, tensor in others.items()}
    assert_holds(path, {"pi": np.array(list(numbers.values()), np.float32).reshape(2, 3), **others}, raw=raw)


@pytest.mark.parametrize("kind", ["I64", "I32", "I16", "I8", "U8", "U16", "U32", "U64", "BOOL"])
def test_integers_are_not_shown(path, kind):
    size = 1 if kind == "BOOL" else int(kind[1:]) // 8
    assert_holds(path, {"a": np.ones(1, np.float32)}, raw={"ids": (kind, (3,), bytes(3 * size))})


@pytest.mark.parametrize("kind", ["F8_E4M3", "F8_E5M2"])
def test_other_floats_are_refused(path, kind):
    with pytest.raises(FileError, match=rf"^{path}: weight is {kind}, wanted one of F64, F32, F16, BF16$"):
        assert_holds(path, {}, raw={"weight": (kind, (4,), bytes(4))})


def test_a_place_where_nothing_is_or_nothing_can_be(path):
    with pytest.raises(FileNotFoundError, match=str(path)):
        TensorFile(path)
    with pytest.raises(OSError, match=str(path / "nowhere")):
        write_tensors(path / "nowhere", {"a": np.ones(1)}, {})


def test_of_a_bfloat16_file_only_what_is_asked_for_is_read(tmp_path):
    """The library gives the bytes of all tensors at once, and a copy of each."""
    path = tmp_path / "model.safetensors"
    path.write_bytes(tensor_file({name: bfloat16(np.ones(size)) for name, size in SIZES.items()}))
    tracemalloc.start()
    try:
        np.testing.assert_array_equal(TensorFile(path).read("some"), np.ones(10))
        assert tracemalloc.get_traced_memory()[1] < 10**5
    finally:
        tracemalloc.stop()
