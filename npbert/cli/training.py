"""`npbert pretrain`, `finetune` and `evaluate`: from text to a model, and how good it is."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

from npbert.cli.options import add_options, given_options, read_options
from npbert.files import FileError
from npbert.training.evaluate import evaluate_checkpoint
from npbert.training.finetune import FinetuneSettings, Finetuning
from npbert.training.pretrain import Pretraining, PretrainSettings
from npbert.training.run_folder import MODEL_FOLDER
from npbert.training.settings import SETTINGS_FILE, load_settings, read_settings
from npbert.training.state import STATE_FILE
from npbert.training.tasks import TaskSettings

_RUNS: dict[str, Any] = {"pretrain": (PretrainSettings, Pretraining), "finetune": (FinetuneSettings, Finetuning)}


def add_training_commands(commands: Any) -> None:
    """Add the three commands to those of the parser."""
    texts = {
        "pretrain": "teach a BERT language, from plain text",
        "finetune": "teach a pre-trained BERT a task, from a labelled file",
    }
    for name, text in texts.items():
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("folder", help="where the run is kept: its state, its log, and the best model in model/")
        command.add_argument("--resume", action="store_true", help="go on with the run in the folder, as it was set up")
        add_options(command, _RUNS[name][0])
        command.set_defaults(run=_train)

    text = "judge a fine-tuned model by labelled files, or a run of pre-training by files of text"
    evaluate = commands.add_parser("evaluate", help=text, description=text)
    evaluate.add_argument("folder", help="the folder of a run, whose settings hold, or of a checkpoint")
    evaluate.add_argument("files", nargs="+", metavar="file", help="what to judge the model by")
    add_options(evaluate, TaskSettings)
    evaluate.set_defaults(run=_evaluate)


def _train(args: argparse.Namespace) -> int:
    kind, run_class = _RUNS[args.command]
    folder = Path(args.folder)
    if args.resume:
        if given_options(args, kind) or args.settings:
            raise ValueError("--resume goes on with the settings in the folder, and takes no others")
        began = _command_of(folder)
        if began != args.command:
            raise FileError(f"{folder} holds a run of another kind: to go on, npbert {began} {folder} --resume")
        settings = load_settings(kind, folder / SETTINGS_FILE)
    else:
        if (folder / STATE_FILE).exists():
            raise FileError(f"{folder} holds a run already: --resume goes on with it")
        settings = read_options(args, kind)
    with warnings.catch_warnings():
        if args.resume:  # a head that was new when the run began is in its state now
            warnings.filterwarnings("ignore", "not from .*, but new: ")
        run = run_class(settings, folder)
    print(run.summary(), flush=True)
    try:
        numbers = run.trainer.train()
    except KeyboardInterrupt:
        print(
            f"\nstopped at step {run.trainer.step}; to go on: npbert {args.command} {folder} --resume", file=sys.stderr
        )
        return 130
    _print_table(numbers, getattr(run, "baselines", {}))
    trainer = run.trainer
    print(f"after {trainer.step} steps; the model of step {trainer.progress.best_step} is in {folder / MODEL_FOLDER}")
    return 0


def _evaluate(args: argparse.Namespace) -> int:
    folder = Path(args.folder)
    settings_path = folder / SETTINGS_FILE
    if not settings_path.is_file():
        settings = read_options(args, TaskSettings)
        for file in args.files:
            _print_table(evaluate_checkpoint(folder, file, settings), {}, title=file)
        return 0
    if args.settings:
        raise ValueError(f"--settings is for a checkpoint: for the run in {folder}, its own settings hold")
    checkpoint = str(folder / MODEL_FOLDER)
    if _command_of(folder) == "pretrain":
        pretraining = load_settings(PretrainSettings, settings_path, model=checkpoint, held_out=args.files)
        run = Pretraining(pretraining, folder)
        _print_table(run.evaluate(), run.baselines)
        return 0
    finetuning = load_settings(FinetuneSettings, settings_path, **given_options(args, TaskSettings))
    for file in args.files:
        _print_table(evaluate_checkpoint(checkpoint, file, finetuning), {}, title=file)
    return 0


def _command_of(folder: Path) -> str:
    """By which command the run in the folder was begun."""
    return "pretrain" if "corpus" in read_settings(folder / SETTINGS_FILE) else "finetune"


def _print_table(numbers: dict[str, float], baselines: dict[str, float], *, title: str = "held out") -> None:
    """The numbers, and beside them what knowing next to nothing gives."""
    if not numbers:
        return
    head = f"{'knowing frequencies':>22}" if baselines else ""
    width = max(24, len(title) + 1)
    print(f"{title:<{width}}{'model':>10}{head}")
    for name, value in numbers.items():
        baseline = f"{baselines[name]:>22.4f}" if name in baselines else ""
        print(f"  {name.replace('_', ' '):<{width - 2}}{value:>10.4f}{baseline}")
