# /// script
# dependencies = ["numpy>=2.0"]
# ///
"""Watch a BERT learn a toy dialogue, then try it: `python demo.py`."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

if not {"seed", "--size=seed"} & set(sys.argv):
    # The small model's products gain nothing from a second thread. NumPy's BLAS reads this once, when it is loaded.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

try:
    import numpy as np
except ModuleNotFoundError:
    sys.exit("the demo needs NumPy: install it with `pip install -e .`, or run the demo with `uv run demo.py`")

from npbert.cli import run
from npbert.cli.command import Command
from npbert.core import IGNORED, Tape
from npbert.data import DIALOGUES, IS_NEXT, Batch, Dialogue, collate, load_dialogue, split_words
from npbert.data.example import all_pairs, draw_pairs, join_lines, join_pair, make_example, mask_each_word
from npbert.inference import likely_words, save_dialogue_model
from npbert.io import POSITIVE, InputError, Wanted, at_least, check_writable, import_extra, one_of, setting
from npbert.io.messages import print_any_letter
from npbert.layers import Softmax
from npbert.models import BertConfig, BertForPreTraining
from npbert.optim import Adadelta, Adam, AdamW, clip_by_global_norm, linear_warmup_decay
from npbert.pages.number.export import dialogue_data
from npbert.pages.number.page import write_number_page

OPTIMIZERS = {"adam": Adam, "adamw": AdamW, "adadelta": Adadelta}
LINE_EVERY = 10  # epochs
SHORT = {"max_position_embeddings": 30}
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}  # the dialogue is to be known by heart


class Recipe(NamedTuple):
    """A size of model and how it is trained: an epoch is `steps` batches of `batch_size` pairs."""

    preset: str
    config: dict[str, Any]
    epochs: int
    steps: int
    batch_size: int
    learning_rate: float
    optimizer: str = "adamw"


RECIPES = {
    "small": Recipe("bert-tiny", {**SHORT, **NO_DROPOUT}, 100, 8, 16, 2e-3),
    "seed": Recipe("seed", NO_DROPOUT, 200, 1, 6, 2e-4),
    "page": Recipe("bert-tiny", {"hidden_size": 8, "intermediate_size": 16, **SHORT, **NO_DROPOUT}, 200, 8, 16, 1e-2),
}


def train(model: BertForPreTraining, dialogue: Dialogue, recipe: Recipe, rng: np.random.Generator) -> None:
    """Train for all epochs, with a line every 10 epochs: the mean losses since the line before.

    Raises: FloatingPointError when the loss is no longer a number.
    """
    steps = recipe.epochs * recipe.steps
    parameters = model.parameters()
    optimizer = OPTIMIZERS[recipe.optimizer](parameters)
    words, yes_or_no = math.log(len(dialogue.vocabulary)), math.log(2)
    losses: list[tuple[float, float]] = []
    start = time.perf_counter()
    for step in range(steps):
        pairs = draw_pairs(len(dialogue.lines), recipe.batch_size, rng)
        examples = [make_example(dialogue, pair, rng) for pair in pairs]
        batch = collate(examples, pad_id=dialogue.vocabulary.pad_id)
        model.zero_grad()
        tape = Tape(rng)
        loss = model.loss(batch, tape)
        model.loss_backward(1.0, tape)
        tape.check_empty()
        clip_by_global_norm(parameters, 1.0)
        optimizer.lr = linear_warmup_decay(step, lr=recipe.learning_rate, warmup_steps=steps // 10, total_steps=steps)
        optimizer.step()
        losses.append((loss.mlm_loss, loss.nsp_loss))
        if not np.isfinite(losses[-1]).all():
            raise FloatingPointError(f"the loss is {losses[-1]} in step {step + 1}: try a smaller --learning-rate")
        epoch, steps_into_epoch = divmod(step + 1, recipe.steps)
        if steps_into_epoch == 0 and (epoch % LINE_EVERY == 0 or epoch == recipe.epochs):
            mlm, nsp = np.mean(losses, axis=0)
            losses.clear()
            elapsed = time.perf_counter() - start
            print(
                f"epoch {epoch:4}/{recipe.epochs}   MLM {mlm:.3f} ({words:.3f})   NSP {nsp:.3f} ({yes_or_no:.3f})   "
                f"{elapsed:3.0f} s, {elapsed * (steps / (step + 1) - 1):3.0f} s left",
                flush=True,
            )


def show_example(model: BertForPreTraining, dialogue: Dialogue, rng: np.random.Generator) -> None:
    """Print a pair with its masked words as [MASK], and what the model makes of it."""
    vocabulary = dialogue.vocabulary
    example = make_example(dialogue, draw_pairs(len(dialogue.lines), 2, rng)[0], rng)
    labels = np.array(example.labels)
    is_masked = labels != IGNORED
    input_ids = np.where(is_masked, vocabulary.mask_id, example.input_ids)  # in training, 20 % are shown as a word
    batch = Batch(input_ids[None], np.array([example.token_type_ids]), labels=labels[None])
    word_logits, relationship_logits = model(batch)
    print("\na pair        ", " ".join(vocabulary.decode(input_ids)))
    print("masked words  ", ", ".join(vocabulary.decode(labels[is_masked])))
    print("predicted     ", ", ".join(vocabulary.decode(word_logits.argmax(axis=-1))))
    print("is next       ", example.next_sentence_label == IS_NEXT)
    print("predicted     ", relationship_logits[0].argmax() == IS_NEXT)


def judge(model: BertForPreTraining, dialogue: Dialogue) -> None:
    """Print how many single masked words, and how many ordered pairs, the model gets right: of all there are."""
    pairs = [join_lines(dialogue, pair) for pair in all_pairs(len(dialogue.lines))]
    masked = [example for pair in pairs for example in mask_each_word(pair, dialogue.vocabulary)]
    words = [max(example.labels) for example in masked]
    print(f"\njudged on {len(masked)} masked words, one at a time, and all {len(pairs)} pairs of lines ...", flush=True)
    for what, name, examples, answers in (
        ("masked words ", "prediction_logits", masked, words),
        ("next sentence", "seq_relationship_logits", pairs, [pair.next_sentence_label for pair in pairs]),
    ):
        pieces = [examples[i : i + 64] for i in range(0, len(examples), 64)]
        logits = [getattr(model(collate(piece, pad_id=dialogue.vocabulary.pad_id)), name) for piece in pieces]
        right = np.sum(np.concatenate(logits).argmax(axis=-1) == answers)
        commonest = np.bincount(answers).max() / len(answers)
        share = f"{right / len(answers):.1%}; always the commonest answer: {commonest:.1%}"
        print(f"{what}  {right} of {len(answers)} right ({share})")


def talk(model: BertForPreTraining, dialogue: Dialogue) -> None:
    """Answer each line that a person types, until an empty one, or that comes by a pipe."""
    if not sys.stdin.isatty():
        for line in filter(str.strip, sys.stdin):
            print(f"\n> {line.strip()}")
            answer(model, dialogue, line)
    elif sys.stdout.isatty():
        print("\nYour turn. Type a line, and the model says which one comes next. With [MASK] in")
        print("place of a word it says which word that is, and with | between two lines whether")
        print("the second follows the first. Whole lines work best. Enter alone ends.")
        with suppress(EOFError):  # Ctrl-D
            while text := input("> ").strip():
                answer(model, dialogue, text)


def replies(model: BertForPreTraining, dialogue: Dialogue, text: str) -> Iterator[str]:
    """Yield the model's answer to a text, in lines: the words for each [MASK]; for two lines with | between them, the
    probability that the second follows the first; for one line without [MASK], the line that follows it.

    Raises: ValueError for an unknown word, and for a line that is too long.
    """
    vocabulary, softmax = dialogue.vocabulary, Softmax()
    words = [["[MASK]" if word == "[mask]" else word for word in split_words(part)] for part in text.split("|", 1)]
    first, *second = map(vocabulary.ids, words)
    candidates: Sequence[list[int] | None] = second or ([None] if vocabulary.mask_id in first else dialogue.lines)
    batch = collate([join_pair(first, line, vocabulary) for line in candidates], pad_id=vocabulary.pad_id)
    batch.labels = np.where(batch.input_ids == vocabulary.mask_id, 0, IGNORED)  # 0 marks a word to predict
    output = model(batch)
    for probabilities in softmax(output.prediction_logits):
        best = likely_words(probabilities, vocabulary, 3)
        yield f"[MASK] is {', '.join(f'{word} ({share:.1%})' for word, share in best)}"
    follows = softmax(output.seq_relationship_logits)[:, IS_NEXT]
    if second:
        yield f"the second line follows the first: {follows[0]:.1%}"
    elif len(candidates) > 1:
        yield f"{dialogue.text[follows.argmax()]} ({follows.max():.1%})"


def answer(model: BertForPreTraining, dialogue: Dialogue, text: str) -> None:
    """Print what the model makes of a line."""
    try:
        for line in replies(model, dialogue, text):
            print(f"  {line}")
    except ValueError as error:  # a word that the model does not know, or a line that is too long for it
        print(f"  {error} (Enter alone ends)")


class DemoCommand(Command):
    """Watch a BERT learn a toy dialogue, then try it. Every epoch brings fresh pairs of lines with
    fresh masks. At the end the model is judged on each word, masked in turn, and on which line
    follows which. Then type, or give it lines by a pipe.

    examples:
      npbert demo --save toy"""

    size: str = setting("", "small (if not given): seconds; seed: minutes; page: 8 wide", wanted=one_of(("", *RECIPES)))
    page: str = setting("", "train the size page, and write a page that shows it", value="FILE")
    dialogue: int = setting(9, "which one, by its number of lines", wanted=Wanted("6 or 9", DIALOGUES.__contains__))
    seed: int = setting(0, "the same seed gives the same numbers", wanted=at_least(0))
    epochs: int | None = setting(None, "100 if not given, 200 for the sizes seed and page", wanted=at_least(1))
    optimizer: str = setting("adamw", f"one of {', '.join(OPTIMIZERS)}", wanted=one_of(OPTIMIZERS))
    learning_rate: float | None = setting(None, "the highest; chosen to suit if not given", wanted=POSITIVE)
    save: str = setting("", "keep the model there, for the npbert commands", value="FOLDER")

    def run(self) -> None:
        """Train, judge, save, and talk."""
        self.check_places()
        recipe = self.recipe()
        rng = np.random.default_rng(self.seed)
        dialogue = load_dialogue(self.dialogue)
        config = BertConfig.preset(recipe.preset, vocab_size=len(dialogue.vocabulary), **recipe.config)
        model = BertForPreTraining(config, rng=rng)
        print(*dialogue.text, sep="\n")
        print(f"\n{len(dialogue.lines)} lines, {config.vocab_size} words and special tokens; a BERT of", end=" ")
        print(f"{config.num_hidden_layers} layers, {config.hidden_size} wide,", end=" ")
        print(f"with {model.num_parameters():,} parameters")
        print("the loss of MLM (which word is masked?) and NSP (is it the next line?), beside that of", end=" ")
        print("knowing nothing:\n")
        try:
            train(model, dialogue, recipe, rng)
        except KeyboardInterrupt:
            print("\nstopped; this is what it has learned so far")
        show_example(model, dialogue, rng)
        judge(model, dialogue)
        if self.save:
            save_dialogue_model(model, dialogue, self.save)
            print(f'\nsaved in {self.save}; to try it: echo "how are [MASK]" | npbert fill-mask {self.save}')
        if self.page:
            write_number_page(dialogue_data(model, dialogue, np.random.default_rng(self.seed)), self.page)
            print(f"\n{self.page} is written: open it in a browser, and follow a number back")
        talk(model, dialogue)

    def recipe(self) -> Recipe:
        """How to train, as the options say."""
        if self.page and self.size:
            raise InputError("size", self.size, "none with --page, which trains the size page")
        recipe = RECIPES[self.size or ("page" if self.page else "small")]
        rate = self.learning_rate or (1.0 if self.optimizer == "adadelta" else recipe.learning_rate)
        return recipe._replace(epochs=self.epochs or recipe.epochs, learning_rate=rate, optimizer=self.optimizer)

    def check_places(self) -> None:
        """Refuse now, and not when all the work is done."""
        if self.save:
            import_extra("safetensors")
            Path(self.save).mkdir(parents=True, exist_ok=True)
            if Path(self.save, "config.json").exists():
                raise FileExistsError(f"{self.save} holds a model already; --save wants a folder for a new one")
        if self.page:
            check_writable(Path(self.page))


if __name__ == "__main__":
    print_any_letter()
    sys.exit(run(DemoCommand, "python demo.py", sys.argv[1:]))
