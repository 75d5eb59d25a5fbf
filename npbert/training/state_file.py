"""The file of a state: a JSON header, tensors, and a checksum of both, which detects a single changed bit."""

import json
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from npbert.compute import Array
from npbert.io.files import FileError, atomic_write
from npbert.models.hugging_face.tensors import TensorFile, write_tensors

_KEY, _CHECKSUM = "npbert", "sha256"


def write_state(path: Path, head: Mapping[str, object], tensors: Mapping[str, Array]) -> None:
    """Write a state, whole or not at all: a crash leaves the previous one."""
    checksum = _checksum(head, tensors, tensors.__getitem__)
    with atomic_write(path) as written:
        write_tensors(written, tensors, {_KEY: json.dumps({**head, _CHECKSUM: checksum})})


def read_state(path: Path) -> tuple[TensorFile, dict[str, Any]]:
    """Return the tensors and the header of a state.

    Raises: FileNotFoundError; FileError if it is damaged or not a state.
    """
    file = TensorFile(path)
    try:
        head = json.loads(file.metadata[_KEY])
        checksum = head.pop(_CHECKSUM)
    except (LookupError, TypeError, ValueError) as error:
        raise FileError(f"{path} is not a training state of npbert") from error
    if checksum != _checksum(head, file.shapes, file.read):
        raise FileError(f"{path} is damaged: its checksum is wrong")
    return file, head


def _checksum(head: Mapping[str, object], names: Iterable[str], read: Callable[[str], Array]) -> str:
    found = sha256(json.dumps(head).encode())
    for name in sorted(names):
        found.update(name.encode())
        found.update(read(name).data)
    return found.hexdigest()
