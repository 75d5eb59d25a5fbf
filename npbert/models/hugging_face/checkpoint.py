"""Hugging Face's checkpoints: reads and writes parameters in a model.safetensors."""

import math
import shlex
from pathlib import Path
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Layer, named_parts
from npbert.io import LOGGER, FileError, model_file
from npbert.layers import SinusoidalPositions
from npbert.models.hugging_face.names import Names, Stored, root_of, stored_parameters
from npbert.models.hugging_face.tensors import TensorFile

WEIGHTS_FILE = "model.safetensors"
SMALL = 10_000_000
"""A missing part of this size takes little memory, such as a head of your own, or computed positions."""
PRETRAINING_HEADS = ("pooler", "predictions", "seq_relationship")
_KINDS = {
    "BertModel": "a BERT without a head",
    "BertForPreTraining": "a pre-trained BERT with a masked-LM head",
    "BertForMaskedLM": "a pre-trained BERT with a masked-LM head",
    "BertForSequenceClassification": "a text classifier",
    "BertForTokenClassification": "a tagger",
    "BertForQuestionAnswering": "a question-answering model",
    "BertForMultipleChoice": "a model for multiple choice",
}
_PRETRAINED = ("BertModel", "BertForPreTraining", "BertForMaskedLM")
_CONVERT = (
    'python -c "import torch, sys, safetensors.torch as s; s.save_file({k: v.clone().contiguous() for k, v in '
    "torch.load(sys.argv[1], weights_only=True, map_location='cpu').items()}, sys.argv[2])\""
)


def open_weights(folder: str | Path, config: Any) -> TensorFile:
    """Return the tensors of `folder`/model.safetensors, for a model of this BertConfig.

    Raises: FileNotFoundError if it is missing; FileError, with the command to convert it, for a pytorch_model.bin, as
    reading a pickle can run any code; as TensorFile; FileError if it has fewer numbers than the table of words,
    attention's matrices and a classifier, as to build the model of a wrong configuration could need more than the
    memory.
    """
    path = model_file(folder, WEIGHTS_FILE, "pytorch_model.bin")
    if path.name != WEIGHTS_FILE:
        raise FileError(
            f"{path} is a pickle, wanted safetensors, as reading a pickle can run any code; to convert it, with torch: "
            f"{_CONVERT} {shlex.quote(str(path))} {shlex.quote(str(path.with_name(WEIGHTS_FILE)))}"
        )
    file, architecture, features = TensorFile(path), config.architecture, config.hidden_size
    width, layers = architecture.embedding_size or features, architecture.groups or config.num_hidden_layers
    least = int(config.vocab_size * width + layers * 4 * features**2 + features * config.num_labels)
    held = sum(math.prod(shape) for shape in file.shapes.values())
    if least > held + SMALL:
        raise FileError(f"{path} has {held:,} numbers, wanted at least {least:,}, as in its config.json")
    return file


def fill_model(model: Layer, file: TensorFile, *, new_head: bool | None) -> None:
    """Read the parameters of a model from the file, and draw those of a new head.

    new_head, and the message on a missing head: as PreTrainedModel.from_pretrained.

    The prefix `bert.` is optional, and a LayerNorm's `gamma` and `beta` are `weight` and `bias`. Integers and heads
    that the model does not have are ignored. A new head is drawn after the rest is read, in the order of definition.

    Raises: FileError for a checkpoint of another kind; with every tensor that is missing, unknown, of another shape or
    different from its tied tensor, or with one that is not finite, or too large for the model's dtype; ValueError for a
    model with two parameters of one name.
    """
    if new_head is False:
        _check_kind(model, file.path.parent)
    names, wanted = Names(model), stored_parameters(model)
    in_file = _plain_names(file, names)
    # The heads that are read: those in the file, and all if none may be new.
    kept = {stored.head for plain, stored in wanted.items() if plain in in_file or new_head is False}
    if new_head:
        kept &= {*PRETRAINING_HEADS}
    new = [plain for plain, stored in wanted.items() if stored.head not in (None, *kept)]
    old = {plain: stored for plain, stored in wanted.items() if plain not in new}
    for stored in old.values():
        for _, parameter in stored.parameters.values():
            parameter.start = None
    problems = _misfits(file, in_file, old, names)
    if problems:
        raise FileError(f"{file.path} does not fit {type(model).__name__}:\n  " + "\n  ".join(problems))
    for plain, stored in old.items():
        name = in_file[plain]
        stored.fill(file.read(name))
        values = stored.tensor
        if not np.isfinite(values).all():
            what = f"a number that is not finite, or too large for {values.dtype}"
            raise FileError(f"{file.path}: {name} holds {what}")
    for plain in new:
        _ = wanted[plain].tensor  # is drawn now
    if new:
        LOGGER.info("the head is new and needs training: %s (not from %s)", ", ".join(new), file.path)


def _check_kind(model: Any, folder: Path) -> None:
    """Raise FileError, with the kind of the checkpoint in `folder`, if the `architectures` of its config.json name
    another class of npbert's. BertModel reads every checkpoint."""
    names, wanted = model.config.architecture.file.get("architectures"), type(model).__name__
    held = str(names[0]) if isinstance(names, list) and names else wanted
    has, wants = _KINDS.get(held), _KINDS.get(wanted)
    if has and wants and has != wants and wanted != "BertModel":
        hint = "; npbert finetune makes one from it" if held in _PRETRAINED else ""
        raise FileError(f"{folder} has {has}, wanted {wants}{hint}")


def _plain_names(file: TensorFile, names: Names) -> dict[str, str]:
    """Return the names of the file by their plain names."""
    found: dict[str, str] = {}
    for name in file.shapes:
        plain = names.plain(name)
        if plain in found:
            raise FileError(f"{file.path} has both {found[plain]} and {name}")
        found[plain] = name
    return found


def _misfits(file: TensorFile, in_file: dict[str, str], wanted: dict[str, Stored], names: Names) -> list[str]:
    """Return a line for each tensor that does not fit. An unused tensor is a mistake in a part that the model has;
    otherwise it may be the head of another model."""
    shapes = {plain: stored.tensor.shape for plain, stored in wanted.items()}
    problems = [f"missing: {plain} {shape}" for plain, shape in shapes.items() if plain not in in_file]
    parts = {root_of(plain) for plain in wanted}
    for plain, name in in_file.items():
        shape = file.shapes[name]
        if plain in shapes and shape != shapes[plain]:
            hint = "" if wanted[plain].head in (None, *PRETRAINING_HEADS) else "; for a new head, give new_head=True"
            problems.append(f"of another shape: {name} {shape}, wanted {shapes[plain]}{hint}")
        elif plain not in shapes and plain not in names.family["decoder"] and root_of(plain) in parts:
            problems.append(f"unknown: {name} {shape}")
    if problems or "predictions" not in {stored.head for stored in wanted.values()}:
        return problems
    for twin, name in names.family["decoder"].items():
        if twin in in_file and not np.array_equal(file.read(in_file[twin]), file.read(in_file[name])):
            problems.append(f"not tied: {in_file[twin]} differs from {in_file[name]}, wanted the same")
    return problems


def hugging_face_tensors(model: Layer) -> dict[str, Array]:
    """Return the values of the parameters with their names and shapes in a file. Raises: as stored_parameters.

    Hugging Face has no sinusoidal positions, so they are written as a table of positions.
    """
    tensors = {stored.name: stored.tensor for stored in stored_parameters(model).values()}
    for name, part in named_parts(model):
        if isinstance(part, SinusoidalPositions):
            tensors[f"{name}.weight"] = part.weight.value
    return tensors
