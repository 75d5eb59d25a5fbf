"""demo: trains a small BERT on the toy dialogue, with a learner's layers instead of the library's."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from npbert.compute import DTypeLike
from npbert.core import Tape, named_parts
from npbert.data import (
    collate,
    draw_pairs,
    join_lines,
    join_pair,
    load_dialogue,
    mask_each_word,
    mask_words,
)
from npbert.io import read_text
from npbert.learn.exercise import Exercise
from npbert.learn.failure import attempt, load
from npbert.learn.printing import indented
from npbert.models import BertConfig, BertForPreTraining
from npbert.optim import AdamW, clip_by_global_norm, linear_warmup_decay

STEPS, BATCH, LINE_EVERY = 600, 16, 60
DIALOGUE = load_dialogue(9)
OTHERS = {"AdamW": AdamW, "clip_by_global_norm": clip_by_global_norm, "mask_words": mask_words}
"""The parts of training that are not layers, by name."""


def run(right: list[tuple[Exercise, Path]], say: Callable[[str], None]) -> int:
    """Train with the parts in these right files, and say how it goes. Returns 1 if no part is used or one fails."""
    own, rng = load_parts(right), np.random.default_rng(0)
    model = make_model(rng)
    used = put_into(model, own)
    if not used:
        say("None of your layers is right yet. Begin with 02 Linear.")
        return 1
    say(indented(f"Your layers in this BERT: {', '.join(used)}. The others are the library's.", ""))
    say(f"Random guessing has loss {np.log(model.config.vocab_size):.3f}.\n")
    stopped = attempt(lambda: train(model, own, rng, say, steps=STEPS), *(str(path) for _, path in right))
    if stopped is not None:
        say(indented(f"{stopped.says}\n\n{stopped.because}"))
        return 1
    count, total = count_guessed(model)
    say(f"\nWith each word masked in turn, {count} of {total} were guessed.")
    return 0


def load_parts(files: list[tuple[Exercise, Path]]) -> dict[str, Any]:
    """Return the learner's classes and functions by name, each from a module of its own, of files without errors."""
    return {
        blank.name: getattr(load(path, read_text(path)), blank.name)
        for exercise, path in files
        for blank in exercise.blanks
    }


def put_into(model: Any, own: Mapping[str, Any]) -> list[str]:
    """Replace each layer by the learner's class, if there is one. Returns the names of all parts that are in use."""
    used = own.keys() & OTHERS.keys()
    for _, part in named_parts(model):
        name = type(part).__name__
        if name in own:
            part.__class__ = own[name]
            used.add(name)
    return [name for name in own if name in used]


def make_model(
    rng: np.random.Generator, width: int = 48, layers: int = 1, dtype: DTypeLike = np.float64
) -> BertForPreTraining:
    """Return a small BERT for the toy dialogue. In float64 a NumPy scalar in a learner's backward does not matter."""
    config = BertConfig(
        vocab_size=len(DIALOGUE.vocabulary),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=2 * width,
        max_position_embeddings=30,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return BertForPreTraining(config, rng=rng, dtype=dtype)


def train(
    model: Any,
    own: Mapping[str, Any],
    rng: np.random.Generator,
    say: Callable[[str], None],
    *,
    steps: int,
    lr: float = 5e-3,
) -> None:
    """Train for so many steps, up to a learning rate of `lr`, with a line every LINE_EVERY steps.

    own: the learner's parts by name, instead of OTHERS. Raises: errors of the learner's code; TapeError.
    """
    parts, parameters = {**OTHERS, **own}, model.parameters()
    optimizer, losses = parts["AdamW"](parameters), list[float]()
    for step in range(steps):
        examples = []
        for pair in draw_pairs(len(DIALOGUE.lines), BATCH, rng):
            whole = join_lines(DIALOGUE, pair)
            masked, labels = parts["mask_words"](whole.input_ids, DIALOGUE.vocabulary, rng)
            examples.append(replace(whole, input_ids=masked, labels=labels))
        batch = collate(examples, pad_id=DIALOGUE.vocabulary.pad_id)
        model.zero_grad()
        tape = Tape(rng)
        losses.append(model.loss(batch, tape).mlm_loss)
        model.loss_backward(1.0, tape)
        tape.check_empty()
        parts["clip_by_global_norm"](parameters, 1.0)
        optimizer.lr = linear_warmup_decay(step, lr=lr, warmup_steps=steps // 10, total_steps=steps)
        optimizer.step()
        if (step + 1) % LINE_EVERY == 0:
            say(f"step {step + 1:3}/{steps}   loss {np.mean(losses):.3f}")
            losses.clear()


def count_guessed(model: Any) -> tuple[int, int]:
    """Return how many words of the dialogue are guessed, with each word masked in turn; and the number of words."""
    lines = (join_pair(line, None, DIALOGUE.vocabulary) for line in DIALOGUE.lines)
    examples = [example for line in lines for example in mask_each_word(line, DIALOGUE.vocabulary)]
    guessed, _ = model.loss(collate(examples, pad_id=DIALOGUE.vocabulary.pad_id)).counts_right
    return guessed, len(examples)
