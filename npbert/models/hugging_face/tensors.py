"""TensorFile: the tensors of a .safetensors file, read one by one as NumPy arrays."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.extras import import_extra
from npbert.files import FileError
from npbert.messages import LOGGER

FLOATS = ("F64", "F32", "F16", "BF16")


class TensorFile:
    """The float tensors of a file: `shapes` and `dtypes` ("F32", say) by name, and `read(name)`; and the strings in its
    head, `metadata`.

    Integers are buffers of other libraries, and left out.

    Raises: FileNotFoundError; FileError that names the file when it is cut short, damaged or of another format, or
    holds numbers of a kind that npbert does not read.
    """

    def __init__(self, path: Path) -> None:
        LOGGER.debug("reading %s", path)
        self.path = path
        safetensors = import_extra("safetensors", extra="hf")
        try:
            self._file = safetensors.safe_open(path, "numpy")
        except safetensors.SafetensorError as error:
            raise FileError(f"{path} is damaged, cut short or no safetensors file: {error}") from error
        self.metadata: dict[str, str] = self._file.metadata() or {}
        slices = {name: self._file.get_slice(name) for name in self._file.keys()}  # noqa: SIM118  it is no dict
        self.dtypes = {name: slice_.get_dtype() for name, slice_ in slices.items()}
        self.shapes = {
            name: tuple(slice_.get_shape())
            for name, slice_ in slices.items()
            if self.dtypes[name][0] not in "IU" and self.dtypes[name] != "BOOL"
        }
        for name in self.shapes:
            if self.dtypes[name] not in FLOATS:
                raise FileError(f"{path}: {name} is {self.dtypes[name]}, wanted one of {', '.join(FLOATS)}")

    def read(self, name: str) -> Array:
        """The tensor called `name`, in float16, float32 or float64 as it is stored; bfloat16 as float32."""
        if self.dtypes[name] == "BF16":
            return _widened(self._raw[name]["data"]).reshape(self.shapes[name])
        array: Array = self._file.get_tensor(name)
        return array

    @cached_property
    def _raw(self) -> dict[str, dict[str, Any]]:
        """All tensors as bytes: NumPy has no bfloat16, so the library cannot make arrays of it."""
        return dict(import_extra("safetensors", extra="hf").deserialize(self.path.read_bytes()))


def _widened(data: bytes) -> Array:
    """bfloat16 is the upper half of a float32."""
    return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)


def is_finite(array: Array) -> bool:
    """Whether all its numbers are. Their sum says so in half the time, unless it is too large itself."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(array.sum()) or np.isfinite(array).all())


def write_tensors(path: Path, tensors: Mapping[str, Array], metadata: dict[str, str]) -> None:
    """Write a .safetensors file with the tensors and, in its head, `metadata`.

    Raises: OSError when the disk is full or cannot be written to.
    """
    library = import_extra("safetensors.numpy", extra="hf")
    contiguous = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    try:
        library.save_file(contiguous, path, metadata=metadata)
    except import_extra("safetensors", extra="hf").SafetensorError as error:
        raise OSError(f"{path} could not be written: {error}") from error
