"""The data of the page: the model's numbers, its network as formulas, masked sentences, and the lines of npbert."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from npbert.core import IGNORED
from npbert.data import SPECIAL, Dialogue, Example, collate, join_pair
from npbert.gradcheck import LossOf, prove
from npbert.inference import FillMask
from npbert.io import counted, one_of
from npbert.layers import SinusoidalPositions
from npbert.models import BertForMaskedLM, BertForPreTraining
from npbert.pages.number.network import ACTIVATIONS, formulas, network, source_lines

Model = BertForMaskedLM | BertForPreTraining
LARGEST = {"hidden_size": 32, "num_hidden_layers": 4, "intermediate_size": 128}
"""A model beyond these sizes does not fit on a screen."""
MOST_TOKENS = 16
MOST_NUMBERS = 30_000
"""They are about 600 kB of text, so the page stays under 1 MB."""
OPTIMIZER = {"lr": 3e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.01, "max_grad_norm": 1.0}
"""AdamW's defaults, the Trainer's clipping, and a learning rate at which the next step of a trained model still lowers
the loss of the batch."""
MASK = SPECIAL["mask_token"]
LENGTH = 5
"""The number of words of a dialogue's line that fit on a screen."""
LISTS = ("input_ids", "token_type_ids", "labels")
"""What the page needs of an example."""
HEADS = ("bert.pooler.", "seq_relationship.")
"""The parts for the next-sentence loss alone, which the page leaves out."""


def export(model: Model, examples: Sequence[Example], vocabulary: Sequence[str]) -> dict[str, Any]:
    """Return the data of the page, as an object for JSON: `config`, `vocabulary`, `parameters` (those in the loss of
    the masked words, a tied one once), `constants` (the fixed positions of a model without learned ones), `network`,
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
    for name, largest in LARGEST.items():
        if getattr(config, name) > largest:
            raise ValueError(f"{name} is {getattr(config, name)}, wanted at most {largest} for the page")
    parameters = {name: each.value for name, each in model.named_parameters() if not name.startswith(HEADS)}
    positions, constants = model.bert.embeddings.position_embeddings, {}
    if isinstance(positions, SinusoidalPositions):
        constants["bert.embeddings.position_embeddings.weight"] = positions.weight.value
    count = sum(value.size for value in (parameters | constants).values())
    if count > MOST_NUMBERS:
        raise ValueError(f"the model has {count:,} numbers, wanted at most {MOST_NUMBERS:,} for the page")
    sentences = [_sentence(model, example, vocabulary) for example in examples]
    steps = network(config)
    return {
        "config": asdict(config),
        "vocabulary": vocabulary,
        "parameters": _numbers(parameters),
        "constants": _numbers(constants),
        "network": steps,
        "formulas": formulas(),
        "proof": prove(LossOf(model), collate([examples[0]], pad_id=0)).verdict,
        "examples": sentences,
        "source": source_lines(model, steps),
        "optimizer": OPTIMIZER,
    }


def _sentence(model: Model, example: Example, vocabulary: Sequence[str]) -> dict[str, Any]:
    """Return an example, which the model has checked: its lists, and its text. Two sentences are separated by |."""
    model.loss(collate([example], pad_id=0))
    words = " ".join(vocabulary[index] for index in example.input_ids)
    text = words.removeprefix("[CLS] ").removesuffix(" [SEP]").replace(" [SEP] ", " | ")
    if len(example.input_ids) > MOST_TOKENS:
        raise ValueError(f"{text[:60]!r} has {len(example.input_ids)} tokens, wanted at most {MOST_TOKENS}")
    lists = {name: [int(number) for number in getattr(example, name)] for name in LISTS}
    return {"text": text, **lists}


def _numbers(arrays: dict[str, Any]) -> dict[str, Any]:
    """Return each array as its shape and its numbers, row by row. (JSON keeps every digit of a float64.)"""
    return {name: {"shape": x.shape, "values": x.astype(np.float64).ravel().tolist()} for name, x in arrays.items()}


def masked_sentences(task: FillMask, texts: Sequence[str], answers: Sequence[str] = ()) -> list[Example]:
    """Return an example for each text, with the answers as the targets of its [MASK]s, in order.

    answers: a token for every [MASK] of all texts; by default the model's best guesses.

    Raises: ValueError for a text without [MASK] or too long for the model, for another number of answers, and for an
    answer that is not in the vocabulary.
    """
    tokenizer = task.tokenizer
    encodings = tokenizer.encode(texts)
    guesses = [guess.token for masks in task(list(texts), top_k=1) for (guess,) in masks]
    if answers and len(answers) != len(guesses):
        raise ValueError(f"{counted(len(answers), 'answer')} for {len(guesses)} {MASK}: wanted one for each, or none")
    right = iter(tokenizer.ids(answers or guesses))
    examples = []
    for encoding in encodings:
        labels = [next(right) if index == tokenizer.mask_id else IGNORED for index in encoding.ids]
        examples.append(Example(encoding.ids, encoding.type_ids, labels, 0))
    return examples


def dialogue_data(model: Model, dialogue: Dialogue, rng: np.random.Generator) -> dict[str, Any]:
    """Return the data of `export`, with an example for each line of the dialogue, with one word masked, and two in the
    last line. The first is a line of about five words, which fits on a screen. Raises: as export.
    """
    examples = []
    lines = sorted(dialogue.lines, key=lambda line: abs(len(line) - LENGTH))
    for line in lines:
        whole = join_pair(line, None, dialogue.vocabulary)
        ids, labels = np.array(whole.input_ids), np.array(whole.labels)
        count = 2 if line is lines[-1] else 1  # two, for a mean over several masked words
        hidden = 1 + rng.choice(len(line), count, replace=False)
        labels[hidden], ids[hidden] = ids[hidden], dialogue.vocabulary.mask_id
        examples.append(replace(whole, input_ids=ids.tolist(), labels=labels.tolist()))
    return export(model, examples, dialogue.vocabulary.tokens)
