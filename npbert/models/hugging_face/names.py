"""The name and layout of each parameter in a Hugging Face file, by the tables of names.json.

npbert's path of a layer is looked up in its family's tables; in the name found, `@` becomes the prefix and `{}` the
number of the layer, and `|1` is a number within a tensor of several parameters; the name of the parameter, as weight or
bias, comes last. So BERT's `encoder.layers.0.attention.query.weight` is
`bert.encoder.layer.0.attention.self.query.weight` in the file, with its axes swapped. CONTRIBUTING, "Add a
descendant of BERT", tells how to support another.
"""

import re
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import Layer, Parameter, named_parts
from npbert.layers import LayerNorm, Linear
from npbert.models.hugging_face.families import FAMILIES, TABLES

_NUMBER = re.compile(r"\.(\d+)(?=\.|$)")

IN_TORCH = {"gamma": "weight", "beta": "bias"}
"""Torch's names of LayerNorm's parameters; early files use npbert's names."""


class Stored(NamedTuple):
    """A tensor in a Hugging Face file, with its parameters: one, or several of one shape, one after another.

    name: of the tensor. head: its part of the model, or None for the model without a head. transposed: whether axes are
    swapped there. parameters: by their numbers in the tensor, each with npbert's name.
    """

    name: str
    head: str | None
    transposed: bool
    parameters: dict[str, tuple[str, Parameter]]

    @property
    def tensor(self) -> Array:
        """The values in the layout of the file."""
        values = self._views()
        return np.concatenate(values) if len(values) > 1 else values[0]

    def fill(self, tensor: Array) -> None:
        """Read the values from the tensor of the file. Numbers too large for the dtype become infinite."""
        views = self._views()
        with np.errstate(over="ignore"):
            for view, values in zip(views, tensor.reshape(len(views), *views[0].shape), strict=True):
                view[...] = values

    def _views(self) -> list[Array]:
        values = [parameter.value for _, parameter in self.parameters.values()]
        return [value.T for value in values] if self.transposed else values


class Names:
    """The names of a model's parts in a Hugging Face file, by its family and its class."""

    def __init__(self, model: Any) -> None:
        architecture = model.config.architecture
        self.family = FAMILIES[architecture.model_type]
        self._is_whole = not hasattr(model, "bert")
        layers = model.config.num_hidden_layers
        self._layers_of_a_group = layers / (architecture.groups or layers)
        self._in_file: dict[str, str] = {}
        for table in self.family["tables"]:
            for kind in ("all", *(each.__name__ for each in type(model).__mro__)):
                self._in_file |= TABLES[table].get(kind, {})

    def of(self, part: str) -> str:
        """Return the name of npbert's `part` in the file: its own, unless a table has another one."""
        bare = part.removeprefix("bert.")
        name = f"@{bare}" if self._is_whole or bare != part else bare
        name = self._in_file.get(_NUMBER.sub(".{}", name), name)
        if number := _NUMBER.search(bare):
            name = name.replace("{}", str(int(int(number[1]) / self._layers_of_a_group)))
        return name.replace("@", "" if self._is_whole else f"{self.family['prefix']}.")

    def plain(self, name: str) -> str:
        """Return a file's name without the family's prefix, and with `weight` and `bias` for the `gamma` and `beta` of
        old files."""
        owner, dot, last = name.removeprefix(f"{self.family['prefix']}.").rpartition(".")
        return f"{owner}{dot}{IN_TORCH.get(last, last) if owner.endswith('LayerNorm') else last}"


def root_of(plain: str) -> str:
    """Return the first word of a plain name, a part of the model."""
    return plain.removeprefix("cls.").partition(".")[0]


def stored_parameters(model: Layer) -> dict[str, Stored]:
    """Return the tensors of all parameters of the model, by their plain names.

    A family's models and heads have Hugging Face's names (names.json). Every other part keeps its name. The parameters
    of a Linear, a LayerNorm or an Embedding are stored as in torch, as `weight` (out, in) and `bias`. So a torch module
    with attributes of the same names can load it.

    Raises: ValueError for two parameters with the same name in the file.
    """
    names, parts = Names(model), dict(named_parts(model))
    found: dict[str, Stored] = {}
    for name, parameter in model.named_parameters():
        path, dot, attribute = name.rpartition(".")
        owner, (in_file, _, number) = parts.get(path), names.of(path).partition("|")
        if isinstance(owner, LayerNorm):
            attribute = IN_TORCH.get(attribute, attribute)
        in_file += dot + attribute
        plain = names.plain(in_file)
        root = name.removeprefix("bert.").partition(".")[0]
        head = None if root in ("embeddings", "encoder") else root
        transposed = isinstance(owner, Linear) and attribute == "weight"
        stored = found.setdefault(plain, Stored(in_file, head, transposed, {}))
        if number in stored.parameters:
            other, _ = stored.parameters[number]
            raise ValueError(f"{type(model).__name__}: {other} and {name} would both be {plain} in a file; rename one")
        stored.parameters[number] = name, parameter
    return found
