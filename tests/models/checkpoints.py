"""Checkpoints to load, written byte by byte here, so that no test relies on the writer that it tests."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from npbert.models.checkpoint import hugging_face_tensors

from npbert import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
)
from npbert.gradcheck import randomize
from npbert.layers import Array, Layer
from tests.models.small import small_config

pytest.importorskip("safetensors", reason="safetensors is not installed: in npbert's folder, pip install '.[hf]'")

CLASSES = (
    BertModel,
    BertForPreTraining,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertForMultipleChoice,
    BertForTokenClassification,
    BertForQuestionAnswering,
)
Raw = tuple[str, tuple[int, ...], bytes]
_KINDS = {"float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "bool": "BOOL"}


def random_model(cls: type[Any], *, seed: int = 0, dtype: Any = np.float32, **config: Any) -> Any:
    """A model with no two numbers the same."""
    model = cls(small_config(**config), rng=None, dtype=dtype)
    randomize(model, np.random.default_rng(seed))
    return model


def tensor_file(tensors: Mapping[str, Array | Raw]) -> bytes:
    """A .safetensors file: the length of the header, the header in JSON, and then all numbers."""
    header, data = {}, b""
    for name, tensor in tensors.items():
        kind, shape, raw = tensor if isinstance(tensor, tuple) else _raw(tensor)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": (len(data), len(data) + len(raw))}
        data += raw
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def bfloat16(array: Array) -> Raw:
    """The upper halves of float32 numbers."""
    return "BF16", array.shape, (array.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()


def write_checkpoint(folder: Path, model: Any, changes: Mapping[str, Array | Raw | None] | None = None) -> Path:
    """Put the model into `folder`, with other tensors in place of some: None stands for one that is missing."""
    tensors: dict[str, Array | Raw | None] = {**hugging_face_tensors(model), **(changes or {})}
    write_tensors(folder, model, {name: tensor for name, tensor in tensors.items() if tensor is not None})
    return folder


def write_tensors(folder: Path, model: Any, tensors: Mapping[str, Array | Raw]) -> None:
    """Put the configuration of the model into `folder`, and these tensors."""
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", **asdict(model.config)}))
    (folder / "model.safetensors").write_bytes(tensor_file(tensors))


def values(model: Layer) -> dict[str, Array]:
    """The parameters by name."""
    return {name: parameter.value.copy() for name, parameter in model.named_parameters()}


def assert_same_values(model: Layer, other: Layer) -> None:
    """Every parameter, bit for bit, and of the same dtype."""
    ours, theirs = values(model), values(other)
    assert list(ours) == list(theirs)
    for name, value in ours.items():
        assert value.dtype == theirs[name].dtype, name
        np.testing.assert_array_equal(value, theirs[name], err_msg=name)


def _raw(array: Array) -> Raw:
    return _KINDS[array.dtype.name], array.shape, array.tobytes()
