"""Stored: how each parameter of a model is kept in a file, those of BERT and those of one's own."""

from __future__ import annotations

from typing import Any, NamedTuple

from npbert.compute import Array
from npbert.core import Layer, Parameter, named_parts
from npbert.layers import LayerNorm, Linear
from npbert.models.hugging_face.names import IN_TORCH, TensorName, head_of, plain_name, to_hugging_face


class Stored(NamedTuple):
    """A parameter, the head that it is part of (None for BERT itself), what the file calls it, and whether its axes are
    swapped there."""

    parameter: Parameter
    head: str | None
    name: str
    transposed: bool

    @property
    def tensor(self) -> Array:
        """The values as the file has them."""
        return self.parameter.value.T if self.transposed else self.parameter.value

    def fill(self, tensor: Array) -> None:
        """Take over the values of the file."""
        self.tensor[...] = tensor


def stored_parameters(model: Layer) -> dict[str, Stored]:
    """Every parameter of the model, by its plain name in a file.

    BERT and its published heads are called as in Hugging Face's table (names.py). Every other parameter keeps its own
    name and shape, with one exception: what a Linear, a LayerNorm or an Embedding holds is stored as torch has it, as
    `weight` (out, in) and `bias`. So a torch module with attributes of the same names can load it.

    Raises: ValueError that names two parameters which would have one name in the file.
    """
    parts: dict[str, Any] = dict(named_parts(model))
    ours: dict[str, str] = {}
    stored: dict[str, Stored] = {}
    for name, parameter in model.named_parameters():
        owner, _, attribute = name.rpartition(".")
        in_file = _name_in_file(name, parts.get(owner), attribute)
        plain = plain_name(in_file.name)
        if plain in stored:
            raise ValueError(
                f"{type(model).__name__}: {ours[plain]} and {name} would both be called {plain} in a file, so one of "
                "them needs another name"
            )
        ours[plain], stored[plain] = name, Stored(parameter, head_of(name), *in_file)
    return stored


def _name_in_file(name: str, owner: Any, attribute: str) -> TensorName:
    try:
        return to_hugging_face(name)
    except KeyError:
        if isinstance(owner, LayerNorm):
            name = name.removesuffix(attribute) + IN_TORCH.get(attribute, attribute)
        return TensorName(name, transposed=isinstance(owner, Linear) and attribute == "weight")
