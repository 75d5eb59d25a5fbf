"""What npbert calls a tensor, and what Hugging Face calls it: the one table, read in both directions.

A model with a head calls its BERT `bert` on both sides, and so puts `bert.` before the names of the first two groups.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# A row a tensor; {} is the number of the layer.
# T: Hugging Face keeps the weight of a Linear as (out, in), the transpose of npbert's.
_TABLE = """
    embeddings.word_embeddings.weight            embeddings.word_embeddings.weight
    embeddings.position_embeddings.weight        embeddings.position_embeddings.weight
    embeddings.token_type_embeddings.weight      embeddings.token_type_embeddings.weight
    embeddings.layer_norm.gamma                  embeddings.LayerNorm.weight
    embeddings.layer_norm.beta                   embeddings.LayerNorm.bias
    encoder.layers.{}.attention.query.weight     encoder.layer.{}.attention.self.query.weight           T
    encoder.layers.{}.attention.query.bias       encoder.layer.{}.attention.self.query.bias
    encoder.layers.{}.attention.key.weight       encoder.layer.{}.attention.self.key.weight             T
    encoder.layers.{}.attention.key.bias         encoder.layer.{}.attention.self.key.bias
    encoder.layers.{}.attention.value.weight     encoder.layer.{}.attention.self.value.weight           T
    encoder.layers.{}.attention.value.bias       encoder.layer.{}.attention.self.value.bias
    encoder.layers.{}.attention.output.weight    encoder.layer.{}.attention.output.dense.weight         T
    encoder.layers.{}.attention.output.bias      encoder.layer.{}.attention.output.dense.bias
    encoder.layers.{}.attention_norm.gamma       encoder.layer.{}.attention.output.LayerNorm.weight
    encoder.layers.{}.attention_norm.beta        encoder.layer.{}.attention.output.LayerNorm.bias
    encoder.layers.{}.feed_forward.intermediate.weight  encoder.layer.{}.intermediate.dense.weight      T
    encoder.layers.{}.feed_forward.intermediate.bias    encoder.layer.{}.intermediate.dense.bias
    encoder.layers.{}.feed_forward.output.weight        encoder.layer.{}.output.dense.weight            T
    encoder.layers.{}.feed_forward.output.bias          encoder.layer.{}.output.dense.bias
    encoder.layers.{}.output_norm.gamma          encoder.layer.{}.output.LayerNorm.weight
    encoder.layers.{}.output_norm.beta           encoder.layer.{}.output.LayerNorm.bias

    pooler.dense.weight                          pooler.dense.weight                                    T
    pooler.dense.bias                            pooler.dense.bias

    predictions.dense.weight                     cls.predictions.transform.dense.weight                 T
    predictions.dense.bias                       cls.predictions.transform.dense.bias
    predictions.layer_norm.gamma                 cls.predictions.transform.LayerNorm.weight
    predictions.layer_norm.beta                  cls.predictions.transform.LayerNorm.bias
    predictions.bias                             cls.predictions.bias

    seq_relationship.weight                      cls.seq_relationship.weight                            T
    seq_relationship.bias                        cls.seq_relationship.bias

    classifier.weight                            classifier.weight                                      T
    classifier.bias                              classifier.bias

    qa_outputs.weight                            qa_outputs.weight                                      T
    qa_outputs.bias                              qa_outputs.bias
"""
_NUMBER = re.compile(r"(?<=\.)\d+(?=\.)")


class TensorName(NamedTuple):
    """A tensor's name in a Hugging Face file, and whether its axes are swapped there."""

    name: str
    transposed: bool


NAMES = {row[0]: TensorName(row[1], row[2:] == ["T"]) for row in map(str.split, _TABLE.splitlines()) if row}

TIED = {
    "cls.predictions.decoder.weight": "embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}
"""Tensors that some files hold a second time."""

IN_TORCH = {"gamma": "weight", "beta": "bias"}
"""What torch calls the parameters of a LayerNorm; files of the first years call them as npbert does."""


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
