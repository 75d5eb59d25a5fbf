"""The name and layout of each parameter in a Hugging Face file, by the tables of tables.py."""

import re
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import Layer, Parameter, named_parts
from npbert.layers import LayerNorm, Linear
from npbert.models.hugging_face.families import FAMILIES

_PARAMETERS = {  # for each kind: npbert's name, Hugging Face's, and whether the axes are swapped
    "table": [("weight", "weight", False)],
    "bias": [("bias", "bias", False)],
    "linear": [("weight", "weight", True), ("bias", "bias", False)],
    "norm": [("gamma", "weight", False), ("beta", "bias", False)],
}
_NUMBER = re.compile(r"(?<=\.)\d+(?=\.)")


class TensorName(NamedTuple):
    """A tensor's name in a Hugging Face file, whether its axes are swapped there, and the part of it, if it holds
    several parameters."""

    name: str
    transposed: bool
    part: tuple[int, int] = (0, 1)


IN_TORCH = {"gamma": "weight", "beta": "bias"}
"""Torch's names of LayerNorm's parameters; early files use npbert's names."""


class Stored(NamedTuple):
    """A parameter, its head (None: the model without a head), and its tensor in the file: see TensorName."""

    parameter: Parameter
    head: str | None
    name: str
    transposed: bool
    part: tuple[int, int]

    @property
    def tensor(self) -> Array:
        """The values in the layout of the file: a view to read into."""
        return self.parameter.value.T if self.transposed else self.parameter.value

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its tensor in the file."""
        shape = self.tensor.shape
        return (shape[0] * self.part[1], *shape[1:]) if shape else ()

    def fill(self, tensor: Array) -> None:
        """Read the values from the tensor of the file. Numbers too large for the dtype become infinite."""
        number, count = self.part
        with np.errstate(over="ignore"):
            self.tensor[...] = np.split(tensor, count)[number] if count > 1 else tensor


class Names:
    """The names of a model's tensors in a Hugging Face file, by its family and its class.

    tied: tensors that some files repeat, with their originals. heads: the tensors of all heads of the family. roots:
    the first words of the tensors of the embeddings and the encoder. All are plain names.
    """

    def __init__(self, model: Any) -> None:
        config = getattr(model, "config", None)
        self.family = FAMILIES[config.architecture.model_type if config else "bert"]
        self.tied = {twin: name.removeprefix("@") for twin, name in self.family.decoder.items()}
        self.heads, self.roots = set(self.tied), set[str]()
        self._is_whole = not hasattr(model, "bert")
        groups = config.architecture.groups if config else 0
        self._layers_of_a_group = config.num_hidden_layers / groups if config and groups else 0
        self._rows: dict[str, TensorName] = {}
        classes = {"", *(kind.__name__ for kind in type(model).__mro__)}
        section = ""
        for line in filter(None, map(str.strip, self.family.table.splitlines())):
            if line.startswith("["):
                section = line.strip("[]")
                continue
            rows = _tensors(*line.split())
            plain = {row.name.removeprefix("@") for row in rows.values()}
            if next(iter(rows)).startswith(("@embeddings", "@encoder")):
                self.roots |= set(map(root_of, plain))
            else:
                self.heads |= plain
            if section in classes:
                self._rows |= rows

    def of(self, name: str) -> TensorName | None:
        """Return the tensor of npbert's parameter `name`, or None if the table has none."""
        bare = name.removeprefix("bert.")
        at = "@" if self._is_whole or bare != name else ""
        row, number = self._rows.get(at + _NUMBER.sub("{}", bare)), _NUMBER.search(bare)
        if row is None:
            return None
        prefix = "" if self._is_whole else f"{self.family.prefix}."
        layer = number and int(number.group())
        if layer and self._layers_of_a_group:
            layer = int(layer / self._layers_of_a_group)
        return row._replace(name=row.name.format(layer).replace("@", prefix))

    def plain(self, name: str) -> str:
        """Return the `plain_name`, without the family's prefix."""
        return plain_name(name, self.family.prefix)


def _tensors(kind: str, ours: str, theirs: str) -> dict[str, TensorName]:
    """Return the tensors of a row of a table, by npbert's names of the parameters."""
    owner, dot, last = ours.rpartition(".")
    parts = last.split("|")
    return {
        f"{owner}{dot}{part}.{name}": TensorName(f"{theirs}.{their_name}", transposed, (number, len(parts)))
        for number, part in enumerate(parts)
        for name, their_name, transposed in _PARAMETERS[kind]
    }


def plain_name(name: str, prefix: str = "bert") -> str:
    """Return a file's name without the prefix, and with `weight` and `bias` for the `gamma` and `beta` of old files."""
    owner, _, last = name.removeprefix(f"{prefix}.").rpartition(".")
    if owner.rpartition(".")[2] == "LayerNorm":
        last = IN_TORCH.get(last, last)
    return f"{owner}.{last}" if owner else last


def root_of(plain: str) -> str:
    """Return the first word of a plain name, a part of the model."""
    return plain.removeprefix("cls.").partition(".")[0]


def head_of(name: str) -> str | None:
    """Return the head of a parameter (`pooler`, `classifier`, or your own), or None for the model without a head.

    name: npbert's.
    """
    first = name.removeprefix("bert.").partition(".")[0]
    return None if first in ("embeddings", "encoder") else first


def stored_parameters(model: Layer) -> dict[str, Stored]:
    """Return every parameter of the model, by its plain name in a file; `name[1]` for the second one in a tensor.

    A family's models and heads have Hugging Face's names (tables.py). Every other parameter keeps its name and shape,
    with one exception: the parameters of a Linear, a LayerNorm or an Embedding are stored as in torch, as `weight`
    (out, in) and `bias`. So a torch module with attributes of the same names can load it.

    Raises: ValueError for two parameters with the same name in the file.
    """
    names, parts = Names(model), dict(named_parts(model))
    ours: dict[str, str] = {}
    stored: dict[str, Stored] = {}
    for name, parameter in model.named_parameters():
        owner, _, attribute = name.rpartition(".")
        in_file = names.of(name) or _name_of_its_own(name, parts.get(owner), attribute)
        plain = names.plain(in_file.name) + (f"[{in_file.part[0]}]" if in_file.part[0] else "")
        if plain in stored:
            raise ValueError(
                f"{type(model).__name__}: {ours[plain]} and {name} would both be {plain} in a file; rename one"
            )
        ours[plain], stored[plain] = name, Stored(parameter, head_of(name), *in_file)
    return stored


def _name_of_its_own(name: str, owner: Any, attribute: str) -> TensorName:
    if isinstance(owner, LayerNorm):
        name = name.removesuffix(attribute) + IN_TORCH.get(attribute, attribute)
    return TensorName(name, transposed=isinstance(owner, Linear) and attribute == "weight")
