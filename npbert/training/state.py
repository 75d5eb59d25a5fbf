"""The state of a training run in one file, from which it goes on as if it had never stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from npbert.compute import Array
from npbert.core import Layer
from npbert.files import FileError, atomic_write
from npbert.models.hugging_face.tensors import TensorFile, is_finite, write_tensors
from npbert.optim import Optimizer

STATE_FILE = "state.safetensors"
_KEY = "npbert"


def save_state(path: Path, model: Layer, optimizer: Optimizer, progress: dict[str, Any]) -> None:
    """Write the parameters, what the optimiser remembers, and `progress` (numbers, strings, lists and dicts of them).

    The file is whole or not there at all: a crash leaves the one before it.
    """
    tensors = dict(_tensors(model, optimizer))
    with atomic_write(path) as written:
        write_tensors(written, tensors, {_KEY: json.dumps({"steps": optimizer.steps, "progress": progress})})


def drop_tensors(path: Path) -> None:
    """Keep of the state only how far the run is: a finished run needs no more, and nearly all of the file is free."""
    metadata = TensorFile(path).metadata
    with atomic_write(path) as written:
        write_tensors(written, {}, metadata)


def has_tensors(path: Path) -> bool:
    """Whether the state is whole, and not what drop_tensors has left of it."""
    return bool(TensorFile(path).shapes)


def load_state(path: Path, model: Layer, optimizer: Optimizer) -> dict[str, Any]:
    """Fill the model and the optimiser from the file, bit for bit, and return the progress that was saved with them.
    Where drop_tensors has left nothing to fill them with, the progress is returned all the same.

    Raises: FileNotFoundError; FileError that names the file when it is damaged, no state, or that of another model or
    optimiser; nothing is loaded then.
    """
    file = TensorFile(path)
    steps, progress = _head(file)
    tensors = dict(_tensors(model, optimizer)) if file.shapes else {}
    found = {name: f"{file.dtypes[name]} {shape}" for name, shape in file.shapes.items()}
    wanted = {name: f"F{8 * array.itemsize} {array.shape}" for name, array in tensors.items()}
    if wanted != found:
        name = next(name for name in {**wanted, **found} if wanted.get(name) != found.get(name))
        raise FileError(
            f"{path} is the state of another model or optimiser: {name} is {found.get(name, 'missing')} there, "
            f"and {wanted.get(name, 'missing')} here"
        )
    for name in tensors:
        if not is_finite(file.read(name)):
            raise FileError(f"{path} is damaged: {name} holds a number that is not finite")
    for name, array in tensors.items():
        array[...] = file.read(name)
    optimizer.steps = steps
    return progress


def read_progress(path: Path) -> dict[str, Any]:
    """The progress alone, so that it can be looked at before anything is loaded. Raises: as load_state."""
    return _head(TensorFile(path))[1]


def _head(file: TensorFile) -> tuple[int, dict[str, Any]]:
    try:
        stored = json.loads(file.metadata[_KEY])
        steps, progress = stored["steps"], stored["progress"]
        if type(steps) is not int or steps < 0 or not isinstance(progress, dict):
            raise ValueError("steps or progress of another type")
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise FileError(f"{file.path} is no training state of npbert") from error
    return steps, progress


def _tensors(model: Layer, optimizer: Optimizer) -> Iterator[tuple[str, Array]]:
    """Every array of the state by name, as it is in memory."""
    names = {}
    for name, parameter in model.named_parameters():
        names[parameter] = name
        yield f"value.{name}", parameter.value
    for kind, arrays in optimizer.moments().items():
        for parameter, array in zip(optimizer.parameters, arrays, strict=True):
            yield f"{kind}.{names[parameter]}", array
