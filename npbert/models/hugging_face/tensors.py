"""TensorFile: the tensors of a .safetensors file, read one by one as NumPy arrays."""

import errno
import json
import math
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from npbert.compute import Array
from npbert.io import LOGGER, import_extra
from npbert.io.files import LARGEST_OBJECT, FileError

FLOATS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
"""The dtypes of a file, and NumPy's. NumPy has no bfloat16, the upper half of a float32."""


class TensorFile:
    """The float tensors of a file: `shapes` and `dtypes` (such as "F32") by name, `read(name)`, and the strings in its
    header, `metadata`.

    Integers are buffers of other libraries, and left out.

    Raises: FileNotFoundError; FileError if it is truncated, damaged, of another format, or has an unsupported dtype.
    """

    def __init__(self, path: Path) -> None:
        LOGGER.debug("reading %s", path)
        self.path = path
        safetensors = import_extra("safetensors", extra="hf")
        with path.open("rb") as file:
            self._head_size = int.from_bytes(file.read(8), "little")
        if LARGEST_OBJECT < self._head_size <= path.stat().st_size:
            raise FileError(
                f"{path} has a header of {self._head_size / 2**20:.0f} MiB, wanted at most {LARGEST_OBJECT / 2**20:.0f}"
            )
        try:
            opened = safetensors.safe_open(path, "numpy")
        except safetensors.SafetensorError as error:
            raise FileError(f"{path} is damaged, truncated, or not a safetensors file: {error}") from error
        self.metadata: dict[str, str] = opened.metadata() or {}
        slices = {name: opened.get_slice(name) for name in opened.keys()}  # noqa: SIM118  it is not a dict
        self.dtypes = {name: slice_.get_dtype() for name, slice_ in slices.items()}
        floats = [name for name, kind in self.dtypes.items() if kind[0] not in "IU" and kind != "BOOL"]
        self.shapes = {name: tuple(slices[name].get_shape()) for name in floats}
        for name in self.shapes:
            if self.dtypes[name] not in FLOATS:
                raise FileError(f"{path}: {name} is {self.dtypes[name]}, wanted one of {', '.join(FLOATS)}")

    def read(self, name: str) -> Array:
        """Return the tensor `name` in its dtype, float16, float32 or float64; bfloat16 as float32."""
        kind, shape = self.dtypes[name], self.shapes[name]
        # Not by the library, which maps the file into memory and would hold the whole model twice.
        array = np.fromfile(self.path, FLOATS[kind], math.prod(shape), offset=self._places[name])
        if kind == "BF16":
            array = (array.astype(np.uint32) << 16).view(np.float32)
        return array.reshape(shape)

    @cached_property
    def _places(self) -> dict[str, int]:
        """Return the start of each tensor in the file, from its header, which the library has checked."""
        with self.path.open("rb") as file:
            file.seek(8)
            head = json.loads(file.read(self._head_size))
        if lists := [name for name in self.shapes if not isinstance(head[name], dict)]:
            raise FileError(f"{self.path}: {lists[0]!r} is a list in its header, wanted an object")
        return {name: 8 + self._head_size + head[name]["data_offsets"][0] for name in self.shapes}


def is_finite(array: Array) -> bool:
    """True if all numbers are finite. A finite sum shows it in half the time."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(array.sum()) or np.isfinite(array).all())


def write_tensors(path: Path, tensors: Mapping[str, Array], metadata: dict[str, str]) -> None:
    """Write a .safetensors file with the tensors and, in its header, `metadata`.

    Raises: OSError if the disk is full or not writable.
    """
    library = import_extra("safetensors.numpy", extra="hf")
    contiguous = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    try:
        library.save_file(contiguous, path, metadata=metadata)
    except import_extra("safetensors", extra="hf").SafetensorError as error:
        raise OSError(errno.EIO, f"writing failed: {error}", str(path)) from error
