"""The name and layout of each parameter in a Hugging Face file, by the tables of names.json.

npbert's path of a layer is looked up in its family's tables; in the name found, `@` becomes the prefix and `{}` the
number of the layer; the name of the parameter, as weight or bias, comes last. CONTRIBUTING, "Add a descendant of BERT",
tells how to support another.
"""

import re
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import Layer, Parameter, named_parts
from npbert.layers import LayerNorm, Linear
from npbert.models.hugging_face.families import FAMILIES

_NUMBER = re.compile(r"\.(\d+)(?:\.|$)")

IN_TORCH = {"gamma": "weight", "beta": "bias"}
"""Torch's names of LayerNorm's parameters; early files use npbert's names."""


class Stored(NamedTuple):
    """A parameter and its tensor in a Hugging Face file.

    head: its part of the model, or None for the model without a head. name, plain: of the tensor, and without prefixes.
    transposed: whether its axes are swapped there. part: the number of this parameter in the tensor, and how many it
    holds.
    """

    parameter: Parameter
    head: str | None
    name: str
    plain: str
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
    """The names of a model's parts in a Hugging Face file, by its family and its class."""

    def __init__(self, model: Any) -> None:
        architecture = model.config.architecture
        self.family = FAMILIES[architecture.model_type]
        self._is_whole = not hasattr(model, "bert")
        layers = model.config.num_hidden_layers
        self._layers_of_a_group = layers / (architecture.groups or layers)
        self._parts: dict[str, tuple[str, tuple[int, int]]] = {}
        classes = [kind.__name__ for kind in type(model).__mro__]
        for ours, theirs in self.family.names(classes).items():
            *owner, last = ours.split(".")
            parts = last.split("|")
            for number, part in enumerate(parts):
                self._parts[".".join([*owner, part])] = theirs, (number, len(parts))

    def of(self, part: str) -> tuple[str, tuple[int, int]]:
        """Return the name of npbert's `part` in the file, and its place in the tensors: see Stored. A part that no
        table has keeps its name."""
        bare = part.removeprefix("bert.")
        at = "@" if self._is_whole or bare != part else ""
        name, place = self._parts.get(at + _NUMBER.sub(".{}.", bare), (part, (0, 1)))
        if number := _NUMBER.search(bare):
            name = name.replace("{}", str(int(int(number[1]) / self._layers_of_a_group)))
        return name.replace("@", "" if self._is_whole else f"{self.family.prefix}."), place

    def plain(self, name: str) -> str:
        """Return a file's name without the family's prefix, and with `weight` and `bias` for the `gamma` and `beta` of
        old files."""
        owner, dot, last = name.removeprefix(f"{self.family.prefix}.").rpartition(".")
        return f"{owner}{dot}{IN_TORCH.get(last, last) if owner.endswith('LayerNorm') else last}"


def root_of(plain: str) -> str:
    """Return the first word of a plain name, a part of the model."""
    return plain.removeprefix("cls.").partition(".")[0]


def stored_parameters(model: Layer) -> list[Stored]:
    """Return every parameter of the model, with its tensor.

    A family's models and heads have Hugging Face's names (names.json). Every other part keeps its name. The parameters
    of a Linear, a LayerNorm or an Embedding are stored as in torch, as `weight` (out, in) and `bias`. So a torch module
    with attributes of the same names can load it.

    Raises: ValueError for two parameters with the same name in the file.
    """
    names, parts = Names(model), dict(named_parts(model))
    ours: dict[tuple[str, int], str] = {}
    stored = []
    for name, parameter in model.named_parameters():
        path, dot, attribute = name.rpartition(".")
        owner, (in_file, place) = parts.get(path), names.of(path)
        if isinstance(owner, LayerNorm):
            attribute = IN_TORCH.get(attribute, attribute)
        in_file += dot + attribute
        key = plain, _ = names.plain(in_file), place[0]
        if key in ours:
            raise ValueError(
                f"{type(model).__name__}: {ours[key]} and {name} would both be {plain} in a file; rename one"
            )
        root = name.removeprefix("bert.").partition(".")[0]
        head = None if root in ("embeddings", "encoder") else root
        transposed = isinstance(owner, Linear) and attribute == "weight"
        ours[key] = name
        stored.append(Stored(parameter, head, in_file, plain, transposed, place))
    return stored
