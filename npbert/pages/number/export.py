"""The data of the page: the model's numbers, its network as formulas, masked sentences, and the lines of npbert."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from npbert.data import Example, collate
from npbert.gradcheck import LossOf, prove
from npbert.io import one_of
from npbert.layers import SinusoidalPositions
from npbert.models import BertForMaskedLM, BertForPreTraining
from npbert.pages.number.network import ACTIVATIONS, formulas, network
from npbert.pages.number.source import source_lines

LARGEST = {"hidden_size": 32, "num_hidden_layers": 4, "intermediate_size": 128}
"""A model beyond these sizes does not fit on a screen."""
MOST_TOKENS = 16
MOST_NUMBERS = 30_000
"""They are about 600 kB of text, so the page stays under 1 MB."""
OPTIMIZER = {"lr": 3e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.01, "max_grad_norm": 1.0}
"""AdamW's defaults, the Trainer's clipping, and a learning rate at which the next step of a trained model still lowers
the loss of the batch."""
LISTS = ("input_ids", "token_type_ids", "labels")
"""What the page needs of an example."""
HEADS = ("bert.pooler.", "seq_relationship.")
"""The parts for the next-sentence loss alone, which the page leaves out."""


def export(
    model: BertForMaskedLM | BertForPreTraining, examples: Sequence[Example], vocabulary: Sequence[str]
) -> dict[str, Any]:
    """Return the data of the page, as an object for JSON: `config`, `vocabulary`, `parameters`, `constants`, `network`,
    `formulas`, `proof` (the verdict on the whole model with the first example), `examples`, `source` and `optimizer`.

    model: its loss is only over the masked words, without dropout. Numbers are float64, with every digit.
    examples: at least one; the page opens with the first, offers the others, and trains on all.
    vocabulary: the V tokens by id.

    Raises: ValueError for a descendant of BERT or an activation that formulas.ini does not have, a model too large for
    the page, or an example that is too long; the errors of the model's `loss`.
    """
    config = model.config
    one_of(["bert"]).check("model_type", config.architecture.model_type)
    one_of(ACTIVATIONS).check("hidden_act", config.hidden_act)
    _check_size(model)
    sentences = [_sentence(model, example, vocabulary) for example in examples]
    steps = network(config)
    return {
        "config": asdict(config),
        "vocabulary": vocabulary,
        "parameters": {name: _numbers(value) for name, value in parameters_of(model).items()},
        "constants": {name: _numbers(value) for name, value in _constants(model).items()},
        "network": steps,
        "formulas": formulas(),
        "proof": prove(LossOf(model), collate([examples[0]], pad_id=0)).verdict,
        "examples": sentences,
        "source": source_lines(model, steps),
        "optimizer": OPTIMIZER,
    }


def parameters_of(model: BertForMaskedLM | BertForPreTraining) -> dict[str, Any]:
    """Return the values of the parameters in the loss of the masked words, by name; a tied one once."""
    return {name: parameter.value for name, parameter in model.named_parameters() if not name.startswith(HEADS)}


def _constants(model: BertForMaskedLM | BertForPreTraining) -> dict[str, Any]:
    """Return the fixed positions of a model without learned ones."""
    positions = model.bert.embeddings.position_embeddings
    name = "bert.embeddings.position_embeddings.weight"
    return {name: positions.weight.value} if isinstance(positions, SinusoidalPositions) else {}


def _check_size(model: BertForMaskedLM | BertForPreTraining) -> None:
    for name, largest in LARGEST.items():
        if getattr(model.config, name) > largest:
            raise ValueError(f"{name} is {getattr(model.config, name)}, wanted at most {largest} for the page")
    count = sum(value.size for value in (parameters_of(model) | _constants(model)).values())
    if count > MOST_NUMBERS:
        raise ValueError(f"the model has {count:,} numbers, wanted at most {MOST_NUMBERS:,} for the page")


def _sentence(
    model: BertForMaskedLM | BertForPreTraining, example: Example, vocabulary: Sequence[str]
) -> dict[str, Any]:
    """Return an example, which the model has checked: its lists, and its text. Two sentences are separated by |."""
    model.loss(collate([example], pad_id=0))
    words = " ".join(vocabulary[index] for index in example.input_ids)
    text = words.removeprefix("[CLS] ").removesuffix(" [SEP]").replace(" [SEP] ", " | ")
    if len(example.input_ids) > MOST_TOKENS:
        raise ValueError(f"{text[:60]!r} has {len(example.input_ids)} tokens, wanted at most {MOST_TOKENS}")
    lists = {name: [int(number) for number in getattr(example, name)] for name in LISTS}
    return {"text": text, **lists}


def _numbers(value: Any) -> dict[str, Any]:
    """Return an array as its shape and its numbers, row by row. (JSON keeps every digit of a float64.)"""
    return {"shape": value.shape, "values": value.astype(np.float64).ravel().tolist()}
