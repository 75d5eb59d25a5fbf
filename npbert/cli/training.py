"""`npbert pretrain`, `finetune` and `evaluate`: from text to a model, and how good it is."""

from __future__ import annotations

import argparse
import shlex
import sys
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from npbert.cli.options import add_options, given_options, read_options
from npbert.cli.task_folder import command_of
from npbert.cli.text import write_json_lines
from npbert.compute import num_threads
from npbert.data.tokenizer import Tokenizer
from npbert.extras import import_extra
from npbert.files import FileError
from npbert.messages import counted, is_quiet
from npbert.models import PRESETS, load_config
from npbert.rows import finite
from npbert.training.evaluate import Judged, evaluate_files
from npbert.training.finetune import FinetuneSettings, Finetuning
from npbert.training.parallel import Communicator, in_silence, launch_command, share_cores, world
from npbert.training.pretrain import Pretraining, PretrainSettings
from npbert.training.run_folder import FREE, MODEL_FOLDER
from npbert.training.settings import SETTINGS_FILE, load_settings
from npbert.training.state import STATE_FILE, has_tensors
from npbert.training.tasks import FinetuneTask, TaskSettings

_RUNS: dict[str, Any] = {"pretrain": (PretrainSettings, Pretraining), "finetune": (FinetuneSettings, Finetuning)}

_WIDTH = 80
_WORTH_DROPPING = 1.0  # megabytes


_PRETRAIN = {
    "usage": "npbert pretrain FOLDER --corpus FILE... --vocabulary FOLDER [options]",
    "description": """Teach a BERT language from plain text: it learns to guess hidden words, and whether
one sentence follows another. Ctrl-C stops a run after the current step, and
--resume goes on with it.""",
    "epilog": """examples:
  npbert vocab books --output vocabulary --size 8000
  npbert pretrain run --corpus books --vocabulary vocabulary --model bert-tiny
  npbert pretrain run --resume""",
}

_FINETUNE = {
    "usage": "npbert finetune FOLDER --model MODEL --train FILE [options]",
    "description": """Teach a pre-trained BERT a task from a labelled file: to find a label, a number, tags,
the right choice or an answer. Ctrl-C stops a run after the current step, and
--resume goes on with it.""",
    "epilog": """examples:
  npbert finetune run --model folder --train train.tsv --held-out dev.tsv
  npbert finetune run --model folder --train train.conll --task tagging
  npbert finetune run --resume""",
}

_EVALUATE = {
    "description": """Say how good a fine-tuned model is on labelled files, or a pre-trained one on
files of text. It should not have learned from them.""",
    "epilog": """examples:
  npbert evaluate run test.tsv
  npbert evaluate folder test.conll --task tagging --json""",
}


def add_training_commands(commands: Any) -> None:
    """Add the three commands to those of the parser."""
    texts = {
        "pretrain": ("teach a BERT language, from plain text", _PRETRAIN),
        "finetune": ("teach a pre-trained BERT a task, from a labelled file", _FINETUNE),
    }
    for name, (text, details) in texts.items():
        command = commands.add_parser(name, help=text, **details)
        command.add_argument("folder", metavar="FOLDER", help="where to keep the run: its state, its log, and the best "
                             "model in FOLDER/model")  # fmt: skip
        command.add_argument("--resume", action="store_true", help="go on with the run in FOLDER where it stopped")
        add_options(command, _RUNS[name][0])
        command.set_defaults(run=_train)

    evaluate = commands.add_parser("evaluate", help="say how good a trained model is", **_EVALUATE)
    evaluate.add_argument("folder", metavar="FOLDER", help="the folder of a run, whose settings are used, or of a "
                          "checkpoint")  # fmt: skip
    evaluate.add_argument("files", nargs="+", metavar="FILE", help="a file to judge the model by")
    evaluate.add_argument("--json", action="store_true", help="print JSON, and no table: a line for each file "
                          "(a pre-trained model is judged by all of them together)")  # fmt: skip
    add_options(evaluate, TaskSettings)
    evaluate.set_defaults(run=_evaluate)


def _train(args: argparse.Namespace) -> int:
    """One run, on one process, or on all that a launcher has started, of which the first speaks for all."""
    communicator = world()
    try:
        with communicator.ending_together(), nullcontext() if communicator.is_first else in_silence():
            share_cores(communicator)
            return _train_on(args, communicator)
    except Exception:
        if communicator.is_first:
            raise
        return 1  # all have failed alike


def _train_on(args: argparse.Namespace, communicator: Communicator) -> int:
    kind, run_class = _RUNS[args.command]
    folder = Path(args.folder)
    import_extra("tomlkit", extra="train")  # what is missing is said before a corpus is read
    if args.resume and not (folder / SETTINGS_FILE).is_file():
        raise FileError(f"there is no run in {folder} to go on with: it has no {SETTINGS_FILE}")
    if args.resume:
        given = given_options(args, kind)
        if given.keys() - set(FREE) or args.settings:
            raise ValueError("--resume goes on with the settings in the folder, and takes no others")
        began = command_of(folder)
        if began != args.command:
            raise FileError(f"{folder} holds a run of another kind: to go on, {_again(began, folder)}")
        settings = load_settings(kind, folder / SETTINGS_FILE, **given)
        _check_places(settings, folder / SETTINGS_FILE, ("corpus", "vocabulary", "train", "held_out", "model"))
    else:
        if (folder / STATE_FILE).exists():
            raise FileError(f"{folder} holds a run already: --resume goes on with it; a new run needs another folder")
        settings = read_options(args, kind)
    with warnings.catch_warnings():
        if args.resume:  # a head that was new when the run began is in its state now
            warnings.filterwarnings("ignore", "not from .*, but new: ")
        run = run_class(settings, folder, communicator=communicator)
    if not is_quiet():
        print(run.summary(), flush=True)
    if communicator.size > 1 and not is_quiet():
        print(f"shared by {communicator.size} processes, with {counted(num_threads(), 'thread')} each", flush=True)
    try:
        numbers = run.trainer.train()
    except KeyboardInterrupt:
        if communicator.is_first:
            again = _again(args.command, folder, processes=communicator.size)
            print(f"\nstopped at step {run.trainer.step}; to go on: {again}", file=sys.stderr)
        return 130
    task = run.task if isinstance(run, Finetuning) else None
    _print_table(numbers, run.baselines, task=task)
    if not communicator.is_first:
        return 0  # whose files they are says what is in them
    steps, best, model = run.trainer.step, run.trainer.progress.best_step, folder / MODEL_FOLDER
    print(f"after {counted(steps, 'step')}; the model of step {best} is in {model}")
    megabytes = (folder / STATE_FILE).stat().st_size / 1e6
    if megabytes >= _WORTH_DROPPING and has_tensors(folder / STATE_FILE) and not is_quiet():
        print(
            f"{folder / STATE_FILE} ({megabytes:,.0f} MB) is no longer needed; to delete it:\n"
            f"  {_again(args.command, folder)} --no-keep-state"
        )
    return 0


def _again(command: str, folder: Path, *, processes: int = 1) -> str:
    """What to type to go on with a run, as a shell takes it."""
    launcher = launch_command(processes) if processes > 1 else []
    return shlex.join([*launcher, "npbert", command, str(folder), "--resume"])


def _check_places(settings: Any, path: Path, names: Sequence[str]) -> None:
    """The settings of these names are files and folders that a run needs, as they were called where it was begun.

    Raises: FileError that names the first of them that is not to be found from here.
    """
    for name in names:
        given = getattr(settings, name, ())
        for place in (given,) if isinstance(given, str) else given:
            if place and place not in PRESETS and not Path(place).is_absolute() and not Path(place).exists():
                raise FileError(
                    f"{name} is {place!r} in {path}, and there is none in {Path.cwd()}: start this command in the "
                    "folder where the run was begun"
                )


def _evaluate(args: argparse.Namespace) -> int:
    folder = Path(args.folder)
    settings_path = folder / SETTINGS_FILE
    given = given_options(args, TaskSettings)
    if not settings_path.is_file():
        settings = read_options(args, TaskSettings)
        load_config(folder)  # it says what is wrong with the folder
        if "max_length" not in given and not args.settings:  # as long as it was trained on
            length = Tokenizer.from_pretrained(folder).max_length
            settings = replace(settings, max_length=length or settings.max_length)
        _print_judged(evaluate_files(folder, args.files, settings), as_json=args.json)
        return 0
    if args.settings:
        raise ValueError(f"--settings is for a checkpoint: for the run in {folder}, its own settings hold")
    checkpoint = str(folder / MODEL_FOLDER)
    if command_of(folder) == "pretrain":
        for name in sorted(given.keys() - {entry.name for entry in fields(PretrainSettings)}):
            option = f"--{name.replace('_', '-')}"
            raise ValueError(f"{option} is for a labelled file, and {folder} holds a pre-trained model")
        pretraining = load_settings(PretrainSettings, settings_path, **given, model=checkpoint, held_out=args.files)
        _check_places(pretraining, settings_path, ("corpus", "vocabulary"))
        run = Pretraining(pretraining, folder)
        numbers = run.evaluate()
        if args.json:
            write_json_lines([{"files": args.files, **finite(numbers), "baselines": finite(run.baselines)}], None)
        else:
            _print_table(numbers, run.baselines)
        return 0
    finetuning = load_settings(FinetuneSettings, settings_path, **given)
    _print_judged(evaluate_files(checkpoint, args.files, finetuning), as_json=args.json)
    return 0


def _print_judged(judged: list[Judged], *, as_json: bool) -> None:
    if as_json:
        write_json_lines(({"file": path, **finite(metrics)} for path, metrics, *_ in judged), None)
        return
    for path, metrics, task, baselines in judged:
        _print_table(metrics, baselines, title=path, task=task)


def _print_table(
    numbers: dict[str, float], baselines: dict[str, float], *, title: str = "held out", task: FinetuneTask | None = None
) -> None:
    """The numbers, and beside them what knowing next to nothing gives; at most 80 columns wide."""
    if not numbers:
        return
    head = f"{'always the same answer' if task else 'knowing frequencies':>24}" if baselines else ""
    names = [task.title_of(name) if task else name.replace("_", " ") for name in numbers]
    room = _WIDTH - 10 - len(head)
    title = title if len(title) < room else f"…{title[2 - room :]}"
    width = max(24, len(title) + 1, *(len(name) + 3 for name in names))
    print(f"{title:<{width}}{'model':>10}{head}")
    for name, (key, value) in zip(names, numbers.items(), strict=True):
        baseline = f"{baselines[key]:>24.4f}" if key in baselines else ""
        print(f"  {name:<{width - 2}}{value:>10.4f}{baseline}")
    if task and numbers.get("matthews") == 0 and numbers.get("accuracy") == baselines.get("accuracy"):
        print("the model gives every example the same label: train it longer, or with a higher --learning-rate")
