"""The names that npbert and Hugging Face have for a tensor: the one table, and how each parameter is kept in a file.

A model with a head calls its BERT `bert` on both sides, and so puts `bert.` before the names of the first two groups.
"""

import re
from typing import Any, NamedTuple

from npbert.compute import Array
from npbert.core import Layer, Parameter, named_parts
from npbert.layers import LayerNorm, Linear

# A row a layer, or a single parameter; {} is the number of the BERT layer.
# linear: a weight and a bias. Hugging Face keeps the weight as (out, in), the transpose of npbert's.
# norm: npbert's gamma and beta, which are weight and bias there. table: a weight alone.
_TABLE = """
    table   embeddings.word_embeddings                 embeddings.word_embeddings
    table   embeddings.position_embeddings             embeddings.position_embeddings
    table   embeddings.token_type_embeddings           embeddings.token_type_embeddings
    norm    embeddings.layer_norm                      embeddings.LayerNorm
    linear  encoder.layers.{}.attention.query          encoder.layer.{}.attention.self.query
    linear  encoder.layers.{}.attention.key            encoder.layer.{}.attention.self.key
    linear  encoder.layers.{}.attention.value          encoder.layer.{}.attention.self.value
    linear  encoder.layers.{}.attention.output         encoder.layer.{}.attention.output.dense
    norm    encoder.layers.{}.attention_norm           encoder.layer.{}.attention.output.LayerNorm
    linear  encoder.layers.{}.feed_forward.intermediate  encoder.layer.{}.intermediate.dense
    linear  encoder.layers.{}.feed_forward.output      encoder.layer.{}.output.dense
    norm    encoder.layers.{}.output_norm              encoder.layer.{}.output.LayerNorm

    linear  pooler.dense                               pooler.dense
    linear  predictions.dense                          cls.predictions.transform.dense
    norm    predictions.layer_norm                     cls.predictions.transform.LayerNorm
    bias    predictions                                cls.predictions
    linear  seq_relationship                           cls.seq_relationship
    linear  classifier                                 classifier
    linear  qa_outputs                                 qa_outputs
"""
_PARAMETERS = {  # of each kind: npbert's name, Hugging Face's, and whether the axes are swapped
    "table": [("weight", "weight", False)],
    "bias": [("bias", "bias", False)],
    "linear": [("weight", "weight", True), ("bias", "bias", False)],
    "norm": [("gamma", "weight", False), ("beta", "bias", False)],
}
_NUMBER = re.compile(r"(?<=\.)\d+(?=\.)")


class TensorName(NamedTuple):
    """A tensor's name in a Hugging Face file, and whether its axes are swapped there."""

    name: str
    transposed: bool


NAMES = {
    f"{ours}.{name}": TensorName(f"{theirs}.{their_name}", transposed)
    for kind, ours, theirs in filter(None, map(str.split, _TABLE.splitlines()))
    for name, their_name, transposed in _PARAMETERS[kind]
}

TIED = {
    "cls.predictions.decoder.weight": "embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}
"""Tensors that some files hold a second time."""

IN_TORCH = {"gamma": "weight", "beta": "bias"}
"""Torch's names of the parameters of a LayerNorm; files of the first years call them as npbert does."""


def to_hugging_face(name: str) -> TensorName:
    """The Hugging Face name of the parameter that npbert calls `name`. Raises: KeyError when the table lacks it."""
    bare = name.removeprefix("bert.")
    row = NAMES[_NUMBER.sub("{}", bare)]
    number = _NUMBER.search(bare)
    prefix = "bert." if bare != name else ""
    return row._replace(name=prefix + row.name.format(number and number.group()))


def plain_name(name: str) -> str:
    """A name from a file without `bert.`, and with `weight` and `bias` for the `gamma` and `beta` of old files."""
    owner, _, last = name.removeprefix("bert.").rpartition(".")
    if owner.rpartition(".")[2] == "LayerNorm":
        last = IN_TORCH.get(last, last)
    return f"{owner}.{last}" if owner else last


def head_of(name: str) -> str | None:
    """The head that a parameter is part of (`pooler`, `classifier`, or one of one's own), or None for BERT itself.

    name: npbert's, or a plain one of a file.
    """
    first = name.removeprefix("bert.").removeprefix("cls.").partition(".")[0]
    return None if first in ("embeddings", "encoder") else first


HEAD_TENSORS = {row.name for name, row in NAMES.items() if head_of(name)} | set(TIED)
"""The plain names of all tensors of all heads."""


class Stored(NamedTuple):
    """A parameter, the head that it is part of (None for BERT itself), its name in the file, and whether its axes are
    swapped there."""

    parameter: Parameter
    head: str | None
    name: str
    transposed: bool

    @property
    def tensor(self) -> Array:
        """The values as the file has them: a view, into which they can be read."""
        return self.parameter.value.T if self.transposed else self.parameter.value


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
