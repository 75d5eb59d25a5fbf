"""The state of a training run in one file, from which it goes on as if it had never stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from npbert.compute import Array
from npbert.core import Layer
from npbert.files import FileError, atomic_write
from npbert.models.hugging_face.tensors import TensorFile, is_finite, write_tensors
from npbert.optim import Optimizer
from npbert.training.parallel.communicator import ALONE
from npbert.training.parallel.shares import Shares

STATE_FILE = "state.safetensors"
_KEY = "npbert"


def save_state(
    path: Path, model: Layer, optimizer: Optimizer, progress: dict[str, Any], shares: Shares | None = None
) -> None:
    """Write the parameters, what the optimiser remembers, and `progress` (numbers, strings, lists and dicts of them).

    The file is whole or not there at all: a crash leaves the one before it. shares: where several processes keep what
    the optimiser remembers; all call this, and process 0 writes what one process by itself would.
    """
    moments = (shares or Shares(model, ALONE)).moments(optimizer)
    if moments is None:
        return
    tensors = {**_values(model), **moments}
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


def load_state(path: Path, model: Layer, optimizer: Optimizer, shares: Shares | None = None) -> dict[str, Any]:
    """Fill the model and the optimiser from the file, bit for bit, and return the progress that was saved with them.
    Where drop_tensors has left nothing to fill them with, the progress is returned all the same. shares: of which
    parameters this optimiser remembers something.

    Raises: FileNotFoundError; FileError that names the file when it is damaged, no state, or that of another model or
    optimiser; nothing is loaded then.
    """
    file = TensorFile(path)
    steps, progress = _head(file)
    shares, values = shares or Shares(model, ALONE), _values(model)
    pieces = {piece.parameter: piece for piece in shares.own}
    own = {
        f"{kind}.{pieces[parameter].name}": (pieces[parameter].rows, array)
        for kind, arrays in optimizer.moments().items()
        for parameter, array in zip(optimizer.parameters, arrays, strict=True)
    }
    found = {name: f"{file.dtypes[name]} {shape}" for name, shape in file.shapes.items()}
    like = {**values, **shares.like_moments(optimizer)} if file.shapes else {}
    wanted = {name: f"F{8 * array.itemsize} {array.shape}" for name, array in like.items()}
    if wanted != found:
        name = next(name for name in {**wanted, **found} if wanted.get(name) != found.get(name))
        raise FileError(
            f"{path} is the state of another model or optimiser: {name} is {found.get(name, 'missing')} there, "
            f"and {wanted.get(name, 'missing')} here"
        )
    places = {name: (..., array) for name, array in values.items()} | own if found else {}
    for name in places:
        if not is_finite(file.read(name)):
            raise FileError(f"{path} is damaged: {name} holds a number that is not finite")
    for name, (rows, array) in places.items():
        array[...] = file.read(name)[rows]
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


def _values(model: Layer) -> dict[str, Array]:
    return {f"value.{name}": parameter.value for name, parameter in model.named_parameters()}
