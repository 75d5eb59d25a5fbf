"""The data of the page: the model's numbers, its network as formulas, masked sentences, and the lines of npbert."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from npbert.core import IGNORED
from npbert.data import Batch, Example
from npbert.gradcheck import LossOf, prove
from npbert.layers import SinusoidalPositions
from npbert.models import BertForMaskedLM, BertForPreTraining
from npbert.pages.number.network import formulas, network
from npbert.pages.number.source import source_lines

TITLE = "Follow one number back"
LARGEST = {"hidden_size": 32, "num_hidden_layers": 4, "intermediate_size": 128}
"""A model beyond these sizes does not fit on a screen."""
MOST_TOKENS = 16
MOST_NUMBERS = 30_000
"""As text they are about 600 kB: with them the page stays under 1 MB."""
CONFIG = (
    *("hidden_size", "num_attention_heads", "intermediate_size", "vocab_size"),
    *("max_position_embeddings", "layer_norm_eps", "initializer_range"),
)
OPTIMIZER = {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.01, "max_grad_norm": 1.0}
"""AdamW as npbert.optim has it when it is given nothing else, and the clipping of its trainer."""
HEADS = ("bert.pooler.", "seq_relationship.")
"""The parts that only the loss of the next sentence reads, and so the page does not."""


def export(
    model: BertForMaskedLM | BertForPreTraining,
    examples: Sequence[Example],
    vocabulary: Sequence[str],
    *,
    title: str = TITLE,
    optimizer: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """All that the page knows, as an object for JSON: `title`, `config`, `vocabulary`, `parameters`, `constants`,
    `network`, `formulas`, `proof` (what `prove` says of the first example), `examples`, `source` and `optimizer`.

    model: with a masked-LM head. Its loss is that of the masked words alone: a next-sentence head is left out, and
    there is no dropout. Numbers are written as float64, of which every digit comes back.
    examples: the first is what the page shows when it opens; the others are for training, and to be chosen.
    vocabulary: the V tokens by id. optimizer: `lr`, `betas`, `eps` and `weight_decay` of AdamW in the page, and
    `max_grad_norm`, to which gradients are clipped, where they are not npbert's own.

    Raises: TypeError for a model without a masked-LM head; ValueError for one that is too large for a page, for no
    examples, one that is too long or predicts nothing, ids that do not fit, or a vocabulary of another size.
    """
    if not isinstance(model, BertForMaskedLM | BertForPreTraining):
        wanted = "a masked-LM head (BertForMaskedLM or BertForPreTraining)"
        raise TypeError(
            f"the page shows how a model fills in masked words: it wants {wanted}, got {type(model).__name__}"
        )
    config = model.config
    _check_size(model)
    if len(vocabulary) != config.vocab_size:
        raise ValueError(f"the vocabulary has {len(vocabulary)} tokens, but vocab_size is {config.vocab_size}")
    if not examples:
        raise ValueError("the page needs at least one sentence with a masked word, got none")
    sentences = [_sentence(model, example, vocabulary) for example in examples]
    unknown = set(optimizer or {}) - set(OPTIMIZER)
    if unknown:
        raise ValueError(f"optimizer has {', '.join(sorted(unknown))}, wanted only {', '.join(OPTIMIZER)}")
    settings = {**OPTIMIZER, **(optimizer or {})}
    net = network(config)
    return {
        "title": title,
        "config": {name: getattr(config, name) for name in CONFIG},
        "vocabulary": list(vocabulary),
        "parameters": {name: _numbers(value) for name, value in parameters_of(model).items()},
        "constants": {name: _numbers(value) for name, value in _constants(model).items()},
        "network": net,
        "formulas": formulas(),
        "proof": _proof(model, sentences[0]),
        "examples": sentences,
        "source": source_lines(model, net["steps"]),
        "optimizer": {**settings, "betas": list(settings["betas"])},
    }


def _proof(model: BertForMaskedLM | BertForPreTraining, example: dict[str, Any]) -> dict[str, Any]:
    """What `prove` says of the whole model on this example: `verdict`, and how many `derivatives` there are."""
    targets = {name: [example[name]] for name in ("input_ids", "token_type_ids", "labels")}
    batch = Batch(**targets, next_sentence_label=[0])  # type: ignore[arg-type]  # lists become arrays
    found = prove(LossOf(model), batch)
    return {"verdict": found.verdict, "derivatives": found.derivatives}


def parameters_of(model: BertForMaskedLM | BertForPreTraining) -> dict[str, Any]:
    """By name, the values of the parameters that the loss of the masked words reads; a tied one once."""
    return {name: parameter.value for name, parameter in model.named_parameters() if not name.startswith(HEADS)}


def _constants(model: BertForMaskedLM | BertForPreTraining) -> dict[str, Any]:
    """Fixed positions, where a model has them in place of learned ones."""
    positions = model.bert.embeddings.position_embeddings
    name = "bert.embeddings.position_embeddings.table"
    return {name: positions.table} if isinstance(positions, SinusoidalPositions) else {}


def _check_size(model: BertForMaskedLM | BertForPreTraining) -> None:
    for name, largest in LARGEST.items():
        if getattr(model.config, name) > largest:
            raise ValueError(f"{name} is {getattr(model.config, name)}, too large for the page: at most {largest}")
    numbers = parameters_of(model) | _constants(model)
    count = sum(value.size for value in numbers.values())
    if count > MOST_NUMBERS:
        raise ValueError(f"the model has {count:,} numbers, too many for the page: at most {MOST_NUMBERS:,}")
    for name, value in numbers.items():
        if not np.isfinite(value).all():
            raise ValueError(f"{name} holds numbers that are not finite")


def _sentence(
    model: BertForMaskedLM | BertForPreTraining, example: Example, vocabulary: Sequence[str]
) -> dict[str, Any]:
    """One example: its lists, checked, and its text. Two sentences stand beside each other with | between them."""
    config = model.config
    limits = {"input_ids": config.vocab_size, "token_type_ids": config.type_vocab_size, "labels": config.vocab_size}
    lists = {name: [int(number) for number in getattr(example, name)] for name in limits}
    ids, types, labels = lists.values()
    if not len(ids) == len(types) == len(labels):
        lengths = f"{len(ids)}, {len(types)} and {len(labels)}"
        raise ValueError(f"input_ids, token_type_ids and labels have {lengths} tokens, wanted one length")
    longest = min(MOST_TOKENS, config.max_position_embeddings)
    if not 0 < len(ids) <= longest:
        raise ValueError(f"a sentence has {len(ids)} tokens, wanted 1 to {longest}")
    for name, size in limits.items():
        wrong = set(lists[name]) - set(range(size)) - ({IGNORED} if name == "labels" else set())
        if wrong:
            raise ValueError(f"{name} has {wrong.pop()}, wanted 0 to {size - 1}")
    words = " ".join(vocabulary[index] for index in ids)
    if set(labels) == {IGNORED}:
        raise ValueError(f"nothing is to be predicted in {words!r}: all its labels are {IGNORED}")
    text = words.removeprefix("[CLS] ").removesuffix(" [SEP]").replace(" [SEP] ", " | ")
    return {"text": text, **lists}


def _numbers(value: Any) -> dict[str, Any]:
    """An array as its shape and its numbers, row by row. (JSON writes a float64 so that every digit comes back.)"""
    return {"shape": list(value.shape), "values": value.astype(np.float64).ravel().tolist()}
