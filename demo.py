"""Watch a BERT learn a toy dialogue: `python demo.py`.

Every epoch brings fresh pairs of lines with fresh masks. At the end the model is judged on everything: each word of
each line of every pair masked in turn, and next-sentence prediction on all ordered pairs of lines.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

if not {"seed", "--size=seed"} & set(sys.argv):
    # The products of the small model gain nothing from a second thread, and on a busy machine they would wait for it.
    # NumPy's BLAS reads this once, when it is loaded.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from npbert import (
    IGNORED,
    Adadelta,
    Adam,
    AdamW,
    Batch,
    BertConfig,
    BertForPreTraining,
    Tape,
    clip_by_global_norm,
    linear_warmup_decay,
)
from npbert.compute import keep_freed_memory
from npbert.data import (
    DIALOGUES,
    IS_NEXT,
    Dialogue,
    Example,
    all_pairs,
    collate,
    draw_pairs,
    join_pair,
    load_dialogue,
    make_example,
)

OPTIMIZERS = {"adam": Adam, "adamw": AdamW, "adadelta": Adadelta}
LINE_EVERY = 10  # epochs
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}  # the dialogue is to be known by heart


@dataclass(frozen=True)
class Recipe:
    """A size of model and how it is trained: an epoch is `steps` batches of `batch_size` pairs.

    length: to how many tokens a batch is padded; None pads to its longest pair.
    """

    preset: str
    config: dict[str, Any]
    epochs: int
    steps: int
    batch_size: int
    length: int | None
    learning_rate: float


RECIPES = {
    "small": Recipe("bert-tiny", {"max_position_embeddings": 30, **NO_DROPOUT}, 100, 8, 16, None, 2e-3),
    "seed": Recipe("seed", NO_DROPOUT, 200, 1, 6, 30, 2e-4),
}


def train(
    model: BertForPreTraining, dialogue: Dialogue, recipe: Recipe, args: argparse.Namespace, rng: np.random.Generator
) -> None:
    """Train for the epochs asked for, with a line every 10 epochs: the mean losses since the line before.

    Raises: FloatingPointError when the loss is no longer a number.
    """
    total_steps = args.epochs * recipe.steps
    parameters = model.parameters()
    optimizer = OPTIMIZERS[args.optimizer](parameters)
    words, yes_or_no = math.log(len(dialogue.vocabulary)), math.log(2)
    losses: list[tuple[float, float]] = []
    start = time.perf_counter()
    for step in range(total_steps):
        pairs = draw_pairs(len(dialogue.lines), recipe.batch_size, rng)
        examples = [make_example(dialogue, pair, rng) for pair in pairs]
        batch = collate(examples, pad_id=dialogue.vocabulary.pad_id, length=recipe.length)

        model.zero_grad()
        tape = Tape(rng)
        loss = model.loss(batch, tape)
        model.loss_backward(1.0, tape)
        tape.check_empty()
        clip_by_global_norm(parameters, 1.0)
        optimizer.lr = linear_warmup_decay(
            step, lr=args.learning_rate, warmup_steps=total_steps // 10, total_steps=total_steps
        )
        optimizer.step()

        losses.append((loss.mlm_loss, loss.nsp_loss))
        if not np.isfinite(losses[-1]).all():
            raise FloatingPointError(f"the loss is {losses[-1]} in step {step + 1}: try a smaller --learning-rate")
        epoch, steps_into_epoch = divmod(step + 1, recipe.steps)
        if steps_into_epoch == 0 and (epoch % LINE_EVERY == 0 or epoch == args.epochs):
            mlm, nsp = np.mean(losses, axis=0)
            losses.clear()
            elapsed = time.perf_counter() - start
            remaining = elapsed / (step + 1) * (total_steps - step - 1)
            print(
                f"epoch {epoch:4}/{args.epochs}   MLM {mlm:.3f} ({words:.3f})   NSP {nsp:.3f} ({yes_or_no:.3f})   "
                f"{elapsed:3.0f} s, {remaining:3.0f} s left",
                flush=True,
            )


def show_example(model: BertForPreTraining, dialogue: Dialogue, rng: np.random.Generator) -> None:
    """Print a pair with its masked words as [MASK], and what the model makes of it."""
    vocabulary = dialogue.vocabulary
    example = make_example(dialogue, draw_pairs(len(dialogue.lines), 2, rng)[0], rng)
    labels = np.array(example.labels)
    is_masked = labels != IGNORED
    input_ids = np.where(is_masked, vocabulary.mask_id, example.input_ids)  # in training, 20 % are shown as a word
    word_logits, relationship_logits = model(
        Batch(input_ids[None], np.array([example.token_type_ids]), labels=labels[None])
    )
    print("a pair        ", " ".join(vocabulary.decode(input_ids)))
    print("masked words  ", ", ".join(vocabulary.decode(labels[is_masked])))
    print("predicted     ", ", ".join(vocabulary.decode(word_logits.argmax(axis=-1))))
    print("is next       ", example.next_sentence_label == IS_NEXT)
    print("predicted     ", relationship_logits[0].argmax() == IS_NEXT)


def judge(model: BertForPreTraining, dialogue: Dialogue) -> None:
    """Print how many single masked words, and how many ordered pairs, the model gets right: of all there are."""
    vocabulary = dialogue.vocabulary
    pairs, masked, words = [], [], []
    for first, second, next_sentence_label in all_pairs(len(dialogue.lines)):
        input_ids, token_type_ids = join_pair(dialogue.lines[first], dialogue.lines[second], vocabulary)
        no_labels = [IGNORED] * len(input_ids)
        pairs.append(Example(input_ids, token_type_ids, no_labels, next_sentence_label))
        for position in np.flatnonzero(np.isin(input_ids, vocabulary.word_ids)):
            words.append(input_ids[position])
            masked_ids, labels = list(input_ids), list(no_labels)
            masked_ids[position], labels[position] = vocabulary.mask_id, words[-1]
            masked.append(Example(masked_ids, token_type_ids, labels, next_sentence_label))

    print(f"judged on {len(masked)} masked words, one at a time, and all {len(pairs)} pairs of lines ...", flush=True)
    word_logits = [model(batch).prediction_logits for batch in batches(masked, vocabulary.pad_id)]
    pair_logits = [model(batch).seq_relationship_logits for batch in batches(pairs, vocabulary.pad_id)]
    for what, logits, answers in (
        ("masked words ", word_logits, words),
        ("next sentence", pair_logits, [pair.next_sentence_label for pair in pairs]),
    ):
        right = np.sum(np.concatenate(logits).argmax(axis=-1) == answers)
        commonest = np.bincount(answers).max() / len(answers)
        share = f"{right / len(answers):.1%}; always the commonest answer: {commonest:.1%}"
        print(f"{what}  {right} of {len(answers)} right ({share})")


def batches(examples: Sequence[Example], pad_id: int, size: int = 64) -> Iterator[Batch]:
    """The examples as batches of up to `size`."""
    for start in range(0, len(examples), size):
        yield collate(examples[start : start + size], pad_id=pad_id)


def parse_arguments() -> argparse.Namespace:
    def at_least(minimum: int) -> Callable[[str], int]:
        def integer(text: str) -> int:
            try:
                number = int(text)
            except ValueError:
                number = minimum - 1
            if number < minimum:
                raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {minimum}")
            return number

        return integer

    def positive(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not 0 < number < math.inf:
            raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
        return number

    parser = argparse.ArgumentParser(description="Train a BERT, written in NumPy alone, on a toy dialogue.")
    parser.add_argument(
        "--size",
        choices=RECIPES,
        default="small",
        help="small: fits the task, half a minute; seed: 6 layers, 768 wide, minutes",
    )
    parser.add_argument("--dialogue", type=int, choices=DIALOGUES, default=9, help="which one, by its number of lines")
    parser.add_argument("--seed", type=at_least(0), default=0, help="the same seed gives the same numbers")
    parser.add_argument("--epochs", type=at_least(1), help="100 if not given, 200 for the size seed")
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="adamw")
    parser.add_argument(
        "--learning-rate", type=positive, help="the highest, after warm-up; chosen to suit if not given"
    )
    args = parser.parse_args()
    recipe = RECIPES[args.size]
    args.epochs = args.epochs or recipe.epochs
    if args.learning_rate is None:
        args.learning_rate = 1.0 if args.optimizer == "adadelta" else recipe.learning_rate
    return args


def main() -> None:
    args = parse_arguments()
    keep_freed_memory()
    recipe = RECIPES[args.size]
    rng = np.random.default_rng(args.seed)
    dialogue = load_dialogue(args.dialogue)
    config = BertConfig.preset(recipe.preset, vocab_size=len(dialogue.vocabulary), **recipe.config)
    model = BertForPreTraining(config, rng=rng)

    print(*dialogue.text, sep="\n")
    count = sum(parameter.value.size for parameter in model.parameters())
    print(
        f"\n{len(dialogue.lines)} lines, {config.vocab_size} words and special tokens; a BERT of "
        f"{config.num_hidden_layers} layers, {config.hidden_size} wide, with {count:,} parameters\n"
        "the loss of MLM (which word is masked?) and NSP (is it the next line?), beside that of knowing nothing:\n"
    )
    try:
        train(model, dialogue, recipe, args, rng)
    except KeyboardInterrupt:
        print("\nstopped; this is what it has learned so far")
    print()
    show_example(model, dialogue, rng)
    print()
    judge(model, dialogue)


if __name__ == "__main__":
    try:
        main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit("\nstopped")
    except FloatingPointError as error:
        sys.exit(f"\nstopped: {error}")
    except BrokenPipeError:  # the reader, `head` say, has seen enough; what is left must not be flushed at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
