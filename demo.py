# /// script
# dependencies = ["numpy>=2.0"]
# ///
"""Watch a BERT learn a toy dialogue, then try it: `python demo.py`.

Every epoch brings fresh pairs of lines with fresh masks. At the end the model is judged on each word, masked in turn,
and on which line follows which. Then type. `--save toy` keeps the model; `--page dialogue.html` makes a page of one.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

if not {"seed", "--size=seed"} & set(sys.argv):
    # The small model's products gain nothing from a second thread. NumPy's BLAS reads this once, when it is loaded.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

try:
    import numpy as np
except ModuleNotFoundError:
    sys.exit("the demo needs NumPy: install it with `pip install -e .`, or run the demo with `uv run demo.py`")

from npbert import (
    IGNORED,
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
    all_pairs,
    collate,
    draw_pairs,
    join_lines,
    load_dialogue,
    make_example,
    mask_each_word,
)
from npbert.inference import replies, save_dialogue_model
from npbert.io.extras import MissingExtraError, import_extra
from npbert.io.files import check_writable
from npbert.io.messages import in_words, print_any_letter
from npbert.optim import Adadelta
from npbert.pages import write_dialogue_page

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


RECIPES = {
    "small": Recipe("bert-tiny", {**SHORT, **NO_DROPOUT}, 100, 8, 16, 2e-3),
    "seed": Recipe("seed", NO_DROPOUT, 200, 1, 6, 2e-4),
    "page": Recipe("bert-tiny", {"hidden_size": 8, "intermediate_size": 16, **SHORT, **NO_DROPOUT}, 200, 8, 16, 1e-2),
}


def train(model: BertForPreTraining, dialogue: Dialogue, args: argparse.Namespace, rng: np.random.Generator) -> None:
    """Train for the epochs asked for, with a line every 10 epochs: the mean losses since the line before.

    Raises: FloatingPointError when the loss is no longer a number.
    """
    recipe = RECIPES[args.size]
    steps = args.epochs * recipe.steps
    parameters = model.parameters()
    optimizer = OPTIMIZERS[args.optimizer](parameters)
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
        optimizer.lr = linear_warmup_decay(step, lr=args.learning_rate, warmup_steps=steps // 10, total_steps=steps)
        optimizer.step()

        losses.append((loss.mlm_loss, loss.nsp_loss))
        if not np.isfinite(losses[-1]).all():
            raise FloatingPointError(f"the loss is {losses[-1]} in step {step + 1}: try a smaller --learning-rate")
        epoch, steps_into_epoch = divmod(step + 1, recipe.steps)
        if steps_into_epoch == 0 and (epoch % LINE_EVERY == 0 or epoch == args.epochs):
            mlm, nsp = np.mean(losses, axis=0)
            losses.clear()
            elapsed = time.perf_counter() - start
            print(
                f"epoch {epoch:4}/{args.epochs}   MLM {mlm:.3f} ({words:.3f})   NSP {nsp:.3f} ({yes_or_no:.3f})   "
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
    """Read lines that a person types, and say what the model makes of each, until an empty one."""
    print("\nYour turn. Type a line, and the model says which one comes next. With [MASK] in")
    print("place of a word it says which word that is, and with | between two lines whether")
    print("the second follows the first. Whole lines work best. Enter alone ends.")
    while text := input("> ").strip():
        try:
            for line in replies(model, dialogue, text):
                print(f"  {line}")
        except ValueError as error:  # a word that the model does not know, or a line that is too long for it
            print(f"  {error} (Enter alone ends)")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train a BERT, written in NumPy alone, on a toy dialogue.")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--size", choices=RECIPES, help="small (if not given): seconds; seed: minutes; page: 8 wide")
    which.add_argument("--page", type=Path, metavar="FILE", help="train the size page, and write a page that shows it")
    parser.add_argument("--dialogue", type=int, choices=DIALOGUES, default=9, help="which one, by its number of lines")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same numbers")
    parser.add_argument("--epochs", type=int, help="100 if not given, 200 for the sizes seed and page")
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="adamw")
    parser.add_argument("--learning-rate", type=float, help="the highest, after warm-up; chosen to suit if not given")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="keep the model there, for the npbert commands")
    args = parser.parse_args()
    rate = args.learning_rate
    for name, value, is_right, wanted in (
        ("seed", args.seed, args.seed >= 0, "at least 0"),
        ("epochs", args.epochs, args.epochs is None or args.epochs >= 1, "at least 1"),
        ("learning-rate", rate, rate is None or 0 < rate < math.inf, "a positive number"),
    ):
        if not is_right:
            parser.error(f"--{name} is {value}, wanted {wanted}")
    args.size = args.size or ("small" if args.page is None else "page")
    recipe = RECIPES[args.size]
    args.epochs = args.epochs or recipe.epochs
    args.learning_rate = rate or (1.0 if args.optimizer == "adadelta" else recipe.learning_rate)
    return args


def main() -> None:
    print_any_letter()
    args = parse_arguments()
    if args.save:  # what is missing is said now, and not when all the work is done
        import_extra("safetensors", extra="hf")
        args.save.mkdir(parents=True, exist_ok=True)
        if (args.save / "config.json").exists():
            sys.exit(f"{args.save} holds a model already; --save wants a folder for a new one")
    if args.page is not None:
        check_writable(args.page)
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
        train(model, dialogue, args, rng)
    except KeyboardInterrupt:
        print("\nstopped; this is what it has learned so far")
    show_example(model, dialogue, rng)
    judge(model, dialogue)
    if args.save:
        save_dialogue_model(model, dialogue, args.save)
        print(f'\nsaved in {args.save}; to try it: echo "how are [MASK]" | npbert fill-mask {args.save}')
    if args.page is not None:
        write_dialogue_page(model, dialogue, args.page, np.random.default_rng(args.seed))
        print(f"\n{args.page} is written: open it in a browser, and follow a number back")
    if sys.stdin.isatty() and sys.stdout.isatty():
        talk(model, dialogue)


if __name__ == "__main__":
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, `head` say, has seen enough; what is left must not be flushed at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        sys.exit("\nstopped")
    except EOFError:  # Ctrl-D where a line was wanted
        print()
    except (OSError, FloatingPointError, MissingExtraError) as error:
        sys.exit(f"\nstopped: {in_words(error)}")
