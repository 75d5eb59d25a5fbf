"""Checkpoints as Hugging Face has them: parameters into a model.safetensors and out of one."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import Layer, Parameter
from npbert.files import FileError
from npbert.layers import SinusoidalPositions
from npbert.models.hugging_face.names import HEAD_TENSORS, TIED, head_of, plain_name, to_hugging_face
from npbert.models.hugging_face.tensors import TensorFile

WEIGHTS_FILE = "model.safetensors"
TASK_HEADS = ("classifier", "qa_outputs")
_CONVERT = (
    'python -c "import torch, safetensors.torch as s; '
    "s.save_file({{k: v.clone().contiguous() for k, v in torch.load('{0}', weights_only=True, map_location='cpu')"
    ".items()}}, '{1}')\""
)


def find_weights(folder: Path) -> Path:
    """The path of `folder`/model.safetensors.

    Raises: FileNotFoundError when it is not there; FileError when there is a pytorch_model.bin in its place: reading a
    pickle runs whatever code is in it, so npbert reads none, and says how to convert it.
    """
    path, pickle = folder / WEIGHTS_FILE, folder / "pytorch_model.bin"
    if path.is_file():
        return path
    if pickle.is_file():
        raise FileError(
            f"{pickle} is a pickle, which can run any code when it is read, so npbert does not read it. To convert it, "
            f"where torch is installed: {_CONVERT.format(pickle, path)}"
        )
    if (folder / f"{WEIGHTS_FILE}.index.json").is_file():
        raise FileError(f"{folder} holds a checkpoint in several files, wanted one {WEIGHTS_FILE}")
    raise FileNotFoundError(f"{folder} has no {WEIGHTS_FILE}")


class _Target(NamedTuple):
    """Where a tensor of the file goes."""

    parameter: Parameter
    transposed: bool
    head: str | None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape that the tensor must have in the file."""
        shape = self.parameter.value.shape
        return shape[::-1] if self.transposed else shape

    def fill(self, tensor: Array) -> None:
        self.parameter.value[...] = tensor.T if self.transposed else tensor


def load_parameters(
    model: Layer, path: Path, *, rng: np.random.Generator, initializer_range: float, new_head: bool | None = None
) -> None:
    """Fill the parameters of `model` from the file.

    The `bert.` before names may be there or not, and `gamma` and `beta` stand for `weight` and `bias`. Integers are
    ignored, and so are heads that the model does not have. A head that the file does not have starts anew from `rng`,
    with a warning. new_head: True starts the classifier anew even if the file has one; with False a head that the file
    does not have is missing like any other tensor.

    Raises: FileError that lists every tensor that is missing, unknown, of another shape or not what it is tied to;
    nothing is loaded then.
    """
    file = TensorFile(path)
    in_file = _plain_names(file)
    targets = _targets(model)
    heads = {target.head for target in targets.values() if target.head}
    new_heads = heads - {target.head for name, target in targets.items() if name in in_file}
    if new_head is False:
        new_heads = set()
    elif new_head:
        new_heads |= heads & set(TASK_HEADS)
    new = {name: target for name, target in targets.items() if target.head in new_heads}
    old = {name: target for name, target in targets.items() if name not in new}

    problems = _misfits(file, in_file, old)
    if problems:
        raise FileError(f"{path} does not fit {type(model).__name__}:\n  " + "\n  ".join(problems))
    for name, target in old.items():
        target.fill(file.read(in_file[name]))
    for target in new.values():
        value = target.parameter.value
        if value.ndim > 1:
            value[...] = rng.normal(0.0, initializer_range, value.shape)
    if new:
        warnings.warn(f"not from {path}, but new: {', '.join(new)}", stacklevel=3)


def _targets(model: Layer) -> dict[str, _Target]:
    """The parameters by their plain Hugging Face names."""
    targets = {}
    for name, parameter in model.named_parameters():
        stored = to_hugging_face(name)
        targets[plain_name(stored.name)] = _Target(parameter, stored.transposed, head_of(name))
    return targets


def _plain_names(file: TensorFile) -> dict[str, str]:
    """The names of the file by their plain names."""
    names: dict[str, str] = {}
    for name in file.shapes:
        plain = plain_name(name)
        if plain in names:
            raise FileError(f"{file.path} holds both {names[plain]} and {name}")
        names[plain] = name
    return names


def _misfits(file: TensorFile, in_file: dict[str, str], wanted: dict[str, _Target]) -> list[str]:
    """A line for each tensor that is not as wanted."""
    problems = [f"missing: {name} {target.shape}" for name, target in wanted.items() if name not in in_file]
    for plain, name in in_file.items():
        shape = file.shapes[name]
        if plain not in wanted and plain not in HEAD_TENSORS:
            problems.append(f"unknown: {name} {shape}")
        elif plain in wanted and shape != wanted[plain].shape:
            problems.append(f"of another shape: {name} {shape}, wanted {wanted[plain].shape}")
            if wanted[plain].head in TASK_HEADS:
                problems[-1] += " (new_head=True starts this head anew)"
    for twin, name in TIED.items():
        if problems or twin not in in_file or "cls.predictions.bias" not in wanted:
            continue
        if not np.array_equal(file.read(in_file[twin]), file.read(in_file[name])):
            problems.append(f"not tied: {in_file[twin]} differs from {in_file[name]}; in npbert they are one")
    return problems


def hugging_face_tensors(model: Layer) -> dict[str, Array]:
    """The values of the parameters by the names and in the shapes that Hugging Face has for them.

    Sinusoidal positions are unknown there, so they go out as the table of positions that they are.
    """
    tensors = {}
    for name, parameter in model.named_parameters():
        stored = to_hugging_face(name)
        tensors[stored.name] = parameter.value.T if stored.transposed else parameter.value
    bert: Any = getattr(model, "bert", model)
    positions = bert.embeddings.position_embeddings
    if isinstance(positions, SinusoidalPositions):
        prefix = "" if bert is model else "bert."
        tensors[f"{prefix}embeddings.position_embeddings.weight"] = positions.table
    return tensors
