"""demo: trains a small BERT on the toy dialogue, with a learner's layers instead of the library's."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from npbert.core import IGNORED, Layer, Tape, named_parts
from npbert.data import (
    Dialogue,
    Example,
    collate,
    draw_pairs,
    join_lines,
    join_pair,
    load_dialogue,
    mask_each_word,
    mask_words,
)
from npbert.io.files import read_text
from npbert.learn.exercise import Exercise
from npbert.learn.failure import Failure, load
from npbert.models import BertConfig, BertForPreTraining
from npbert.optim import AdamW, clip_by_global_norm, linear_warmup_decay

STEPS, BATCH, LINE_EVERY = 600, 16, 60
SLOW = 120  # seconds; a longer training prints the reason
OTHERS = {"AdamW": AdamW, "clip_by_global_norm": clip_by_global_norm, "mask_words": mask_words}
"""The other parts of training, by name."""


class Own:
    """The learner's classes of layers and `OTHERS`, by the library's names."""

    def __init__(self, files: list[tuple[Exercise, Path]]) -> None:
        """Load the files. Raises: ValueError for a file with an error."""
        self.things: dict[str, Any] = {}
        self.paths = [str(path) for _, path in files]
        for exercise, path in files:
            module = load(path, read_text(path))
            if isinstance(module, Failure):
                raise ValueError(f"{path}: {module.verdict.says}")
            self.things.update({part.name: getattr(module, part.name) for part in exercise.parts})

    def other(self, name: str) -> Any:
        """Return one of `OTHERS`: the learner's, or the library's."""
        return self.things.get(name, OTHERS[name])

    def put_into(self, model: Any) -> list[str]:
        """Replace each layer by the learner's class, if there is one. Returns the names of these classes."""
        names = set()
        for _, part in named_parts(model):
            own = self.things.get(type(part).__name__)
            if isinstance(part, Layer) and own is not None:
                part.__class__ = own
                names.add(own.__name__)
        return sorted(names)

    def taking_part(self, layers: list[str]) -> list[str]:
        """Return the names of all learner's parts in the training."""
        return [name for name in self.things if name in layers or name in OTHERS]


def make_model(dialogue: Dialogue, rng: np.random.Generator) -> BertForPreTraining:
    """Return a BERT with one layer, in float64, so that a NumPy scalar in a backward does not matter."""
    config = BertConfig(
        vocab_size=len(dialogue.vocabulary),
        hidden_size=48,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=96,
        max_position_embeddings=30,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return BertForPreTraining(config, rng=rng, dtype=np.float64)


def train(
    model: Any,
    own: Own,
    rng: np.random.Generator,
    say: Callable[[str], None],
    *,
    steps: int | None = None,
    lr: float = 5e-3,
) -> None:
    """Train for `steps` steps, up to a learning rate of `lr`, with a line every LINE_EVERY steps.

    Raises: errors of the learner's code; TapeError.
    """
    dialogue, parameters, steps = load_dialogue(9), model.parameters(), steps or STEPS
    optimizer, clip = own.other("AdamW")(parameters), own.other("clip_by_global_norm")
    losses: list[float] = []
    start = time.perf_counter()
    for step in range(steps):
        batch = collate(list(_examples(dialogue, own.other("mask_words"), rng)), pad_id=dialogue.vocabulary.pad_id)
        model.zero_grad()
        tape = Tape(rng)
        losses.append(model.loss(batch, tape).mlm_loss)
        model.loss_backward(1.0, tape)
        tape.check_empty()
        clip(parameters, 1.0)
        optimizer.lr = linear_warmup_decay(step, lr=lr, warmup_steps=steps // 10, total_steps=steps)
        optimizer.step()
        elapsed = time.perf_counter() - start
        if step == 0 and elapsed * steps > SLOW:
            say(f"This takes about {elapsed * steps / 60:.0f} minutes, as loops over single numbers are slow.")
            say("Whole arrays are faster (for an example: npbert learn show 02). Stop with Ctrl-C.")
        if (step + 1) % LINE_EVERY == 0:
            left = elapsed / (step + 1) * (steps - step - 1)
            say(f"step {step + 1:3}/{steps}   loss {np.mean(losses):.3f}   {elapsed:3.0f} s, {left:3.0f} s left")
            losses.clear()


def _examples(dialogue: Dialogue, mask: Any, rng: np.random.Generator) -> Iterator[Example]:
    for pair in draw_pairs(len(dialogue.lines), BATCH, rng):
        example = join_lines(dialogue, pair)
        masked, labels = mask(example.input_ids, dialogue.vocabulary, rng)
        yield replace(example, input_ids=masked, labels=labels)


def judged(model: Any) -> tuple[int, int, list[str]]:
    """Return how many words are guessed, with each word masked in turn; the number of words; and a guess of each
    line."""
    dialogue, right, total, shown = load_dialogue(9), 0, 0, []
    vocabulary = dialogue.vocabulary
    for line in dialogue.lines:
        ids, types = join_pair(line, None, vocabulary)
        examples = mask_each_word(Example(ids, types, [IGNORED] * len(ids), 0), vocabulary)
        guesses = model(collate(examples, pad_id=vocabulary.pad_id)).prediction_logits.argmax(axis=-1)
        right, total = right + int((guesses == ids[1:-1]).sum()), total + len(guesses)
        words = vocabulary.decode(line)
        shown.append(f"{' '.join([*words[:-1], '[MASK]'])} → {vocabulary.decode(guesses[-1:])[0]}")
    return right, total, shown
