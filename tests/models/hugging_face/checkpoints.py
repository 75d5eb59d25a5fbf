"""Checkpoints to load, written byte by byte here, so that no test relies on the writer that it tests."""

import json
import logging
import struct
import warnings
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial

import numpy as np
import pytest

from npbert.io.files import FileError
from npbert.io.messages import LOGGER
from npbert.models.hugging_face.checkpoint import WEIGHTS_FILE, hugging_face_tensors
from tests.models.small import random_model

pytest.importorskip("safetensors", reason="safetensors is not installed: pip install -e '.[hf]'")

random_float32 = partial(random_model, dtype=np.float32)
_KINDS = {"float64": "F64", "float32": "F32", "float16": "F16"}


def tensor_file(tensors):
    """A .safetensors file: the length of the header, the header in JSON, and then all numbers."""
    header, data = {}, b""
    for name, tensor in tensors.items():
        is_raw = isinstance(tensor, tuple)
        kind, shape, raw = tensor if is_raw else (_KINDS[tensor.dtype.name], tensor.shape, tensor.tobytes())
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": (len(data), len(data) + len(raw))}
        data += raw
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def bfloat16(array):
    """The upper halves of float32 numbers."""
    return "BF16", array.shape, (array.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()


def write_checkpoint(folder, model, changes=None):
    """Put the model into `folder`, with other tensors in place of some: None stands for one that is missing."""
    tensors = {**hugging_face_tensors(model), **(changes or {})}
    return write_tensors(folder, model, {name: tensor for name, tensor in tensors.items() if tensor is not None})


def write_tensors(folder, model, tensors):
    """Put the configuration of the model into `folder`, and these tensors."""
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", **asdict(model.config)}))
    (folder / WEIGHTS_FILE).write_bytes(tensor_file(tensors))
    return folder


def load(cls, folder, **options):
    """The model, and the notes about it. Nothing is a warning."""
    with notes() as said, warnings.catch_warnings():
        warnings.simplefilter("error")
        return cls.from_pretrained(folder, **options), said


@contextmanager
def notes():
    """What npbert logs from INFO on while it lasts."""
    said = []
    handler, level = logging.Handler(), LOGGER.level
    handler.emit = lambda record: said.append(record.getMessage())
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    try:
        yield said
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)


def problems(cls, folder, **options):
    """The lines in which from_pretrained says what does not fit."""
    with pytest.raises(FileError) as caught:
        cls.from_pretrained(folder, **options)
    first, *lines = str(caught.value).split("\n  ")
    assert first == f"{folder / WEIGHTS_FILE} does not fit {cls.__name__}:"
    return lines


def assert_loads(model, folder, **options):
    """The model comes out of the folder bit for bit, in its dtype and able to learn, and nothing is warned of."""
    loaded, warned = load(type(model), folder, **options)
    assert not warned
    for (name, wanted), (found, parameter) in zip(model.named_parameters(), loaded.named_parameters(), strict=True):
        assert (name, wanted.value.dtype) == (found, parameter.value.dtype)
        assert parameter.value.flags.c_contiguous and parameter.value.flags.writeable
        np.testing.assert_array_equal(parameter.value, wanted.value, err_msg=name)
    return loaded
