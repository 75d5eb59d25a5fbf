"""TensorFile: the tensors of a .safetensors file, read one by one as NumPy arrays."""

import errno
import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from npbert.compute import Array
from npbert.io import LARGEST_OBJECT, LOGGER, FileError, as_file_error, import_extra

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
        safetensors = import_extra("safetensors")
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            if LARGEST_OBJECT < size <= path.stat().st_size:
                wanted = f"wanted at most {LARGEST_OBJECT / 2**20:.0f}"
                raise FileError(f"{path} has a header of {size / 2**20:.0f} MiB, {wanted}")
            kinds = safetensors.SafetensorError, TypeError
            with as_file_error(f"{path} is damaged, truncated, or not a safetensors file", kinds):
                safetensors.safe_open(path, "numpy")  # checks the header and the size of the file
                head = json.loads(file.read(size))
                self.metadata: dict[str, str] = head.pop("__metadata__", None) or {}
                floats = {name: of for name, of in head.items() if not of["dtype"].startswith(("I", "U", "BOOL"))}
        self.shapes = {name: tuple(of["shape"]) for name, of in floats.items()}
        self.dtypes: dict[str, str] = {name: of["dtype"] for name, of in floats.items()}
        self._starts = {name: 8 + size + of["data_offsets"][0] for name, of in floats.items()}
        for name, kind in self.dtypes.items():
            if kind not in FLOATS:
                raise FileError(f"{path}: {name} is {kind}, wanted one of {', '.join(FLOATS)}")

    def read(self, name: str) -> Array:
        """Return the tensor `name` in its dtype, float16, float32 or float64; bfloat16 as float32."""
        kind, shape = self.dtypes[name], self.shapes[name]
        # Not by the library, which maps the file into memory and would hold the whole model twice.
        array = np.fromfile(self.path, FLOATS[kind], math.prod(shape), offset=self._starts[name])
        if kind == "BF16":
            array = (array.astype(np.uint32) << 16).view(np.float32)
        return array.reshape(shape)


def write_tensors(path: Path, tensors: Mapping[str, Array], metadata: dict[str, str]) -> None:
    """Write a .safetensors file with the tensors and, in its header, `metadata`, to a path of atomic_write.

    Raises: OSError if the disk is full or not writable; atomic_write adds the name of the file.
    """
    library = import_extra("safetensors.numpy")
    contiguous = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    try:
        library.save_file(contiguous, path, metadata=metadata)
    except import_extra("safetensors").SafetensorError as error:
        raise OSError(errno.EIO, f"writing failed: {error}") from error
