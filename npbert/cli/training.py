"""`npbert pretrain`, `finetune` and `evaluate`: from text to a model, and how good it is."""

import argparse
import logging
import shlex
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path
from textwrap import shorten
from typing import Any

from npbert.cli.log import in_silence, only_from, tell
from npbert.cli.options import add_options, command_of, given_options, read_options
from npbert.cli.parser import Parser, Run
from npbert.cli.text import note, write_json_lines
from npbert.compute import num_threads
from npbert.data.tokenizer import Tokenizer
from npbert.io.errors import InputError, Setting
from npbert.io.extras import import_extra
from npbert.io.files import FileError
from npbert.io.json_lines import finite_or_null
from npbert.io.messages import counted, printable
from npbert.models import PRESETS, load_config
from npbert.training.finetune import FinetuneSettings, Finetuning, Judged, evaluate_files
from npbert.training.metrics import ClassScores
from npbert.training.parallel import Communicator, launch_command, share_cores, world
from npbert.training.pretrain import Pretraining, PretrainSettings
from npbert.training.settings import SETTINGS_FILE, TrainerSettings, load_settings
from npbert.training.state import FREE, LENGTH, MODEL_FOLDER, STATE_FILE, has_tensors
from npbert.training.tasks import FinetuneTask, TaskSettings, task_class

_RUNS: dict[str, Any] = {"pretrain": (PretrainSettings, Pretraining), "finetune": (FinetuneSettings, Finetuning)}
_WIDTH, _WORTH_DROPPING = 80, 1.0  # columns, megabytes


def add_pretrain_command(command: Parser) -> Run:
    """Teach a BERT language from plain text: it learns to guess hidden words, and whether
    one sentence follows another. Ctrl-C stops a run after the current step, and
    --resume goes on with it.

    examples:
      npbert vocab books --output vocabulary --size 8000
      npbert pretrain run --corpus books --vocabulary vocabulary --model bert-tiny
      npbert pretrain run --resume"""
    command.usage = "npbert pretrain FOLDER --corpus FILE... --vocabulary FOLDER [options]"
    return _add_run(command, PretrainSettings)


def add_finetune_command(command: Parser) -> Run:
    """Teach a pre-trained BERT a task from a labelled file: to find a label, a number, tags,
    the right choice or an answer. Ctrl-C stops a run after the current step, and
    --resume goes on with it.

    examples:
      npbert finetune run --model folder --train train.tsv --held-out dev.tsv
      npbert finetune run --model folder --train train.conll --task tagging
      npbert finetune run --resume"""
    command.usage = "npbert finetune FOLDER --model MODEL --train FILE [options]"
    return _add_run(command, FinetuneSettings)


def _add_run(command: Parser, kind: type[TrainerSettings]) -> Run:
    command.add_argument("folder", metavar="FOLDER", help="where to keep the run: its state, its log, and the best "
                         "model in FOLDER/model")  # fmt: skip
    command.add_argument("--resume", action="store_true", help="go on with the run in FOLDER where it stopped; "
                         "with more --steps or --epochs, also where it ended")  # fmt: skip
    command.add_argument("--changed-data", action="store_true", help="go on even if the files, the vocabulary or the "
                         "labels have changed; earlier evaluations do not count then")  # fmt: skip
    add_options(command, kind)
    return _train


def add_evaluate_command(command: Parser) -> Run:
    """Say how good a fine-tuned model is on labelled files, or a pre-trained one on
    files of text. It should not have learned from them.

    examples:
      npbert evaluate run test.tsv
      npbert evaluate folder test.conll --task tagging --json"""
    command.add_argument("folder", metavar="FOLDER", help="the folder of a run, whose settings are used, or of a "
                         "checkpoint")  # fmt: skip
    command.add_argument("files", nargs="+", metavar="FILE", help="a file to judge the model by")
    command.add_argument("--json", action="store_true", help="print JSON, and no table: a line for each file "
                         "(a pre-trained model is judged by all of them together)")  # fmt: skip
    add_options(command, TaskSettings)
    return _evaluate


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
    if not args.resume and (folder / STATE_FILE).exists():
        raise FileError(f"{args.folder} already holds a run: continue it with --resume, or choose another folder")
    settings = _settings_to_go_on_with(args, kind) if args.resume else read_options(args, kind)
    import_extra("tomlkit", extra="train")  # what is missing is said before a corpus is read
    with only_from(logging.WARNING) if args.resume else nullcontext():  # a head that was new is in the state by now
        run = run_class(settings, folder, communicator=communicator)
    note(run.summary())
    if communicator.size > 1:
        note(f"shared by {communicator.size} processes, with {counted(num_threads(), 'thread')} each")
    try:
        numbers = run.trainer.train(changed_data=args.changed_data)
    except KeyboardInterrupt:
        if communicator.is_first:
            again = _again(args.command, folder, processes=communicator.size)
            tell(f"\nstopped at step {run.trainer.step}; to go on: {again}")
        return 130
    _print_table(numbers, run.baselines, task=run.task if isinstance(run, Finetuning) else None)
    _advise((numbers, run.baselines))
    if not communicator.is_first:
        return 0  # whose files they are says what is in them
    steps, best = counted(run.trainer.step, "step"), run.trainer.progress.best_step
    print(f"after {steps}; the model of step {best} is in {folder / MODEL_FOLDER}")
    state = folder / STATE_FILE
    megabytes = state.stat().st_size / 1e6
    if megabytes >= _WORTH_DROPPING and has_tensors(state):
        again = f"{_again(args.command, folder)} --no-keep-state"
        note(f"{state} ({megabytes:,.0f} MB) is needed only to make the run longer; to delete it:\n  {again}")
    return 0


def _settings_to_go_on_with(args: argparse.Namespace, kind: Any) -> Any:
    path, given = Path(args.folder) / SETTINGS_FILE, given_options(args, kind)
    if not path.is_file():
        raise FileError(f"there is no run in {args.folder} to go on with: it has no {SETTINGS_FILE}")
    if given.keys() - {*FREE, *LENGTH} or args.settings:
        only = "only how long the run is may change, by --steps, --epochs or --patience"
        raise ValueError(f"--resume goes on with the settings in the folder: {only}")
    if "epochs" in given:
        given = {"steps": 0, **given}  # a count of steps that was given before is over
    began = command_of(path.parent)
    if began != args.command:
        raise FileError(f"{args.folder} holds a run of another kind: to go on, {_again(began, path.parent)}")
    settings = load_settings(kind, path, **given)
    _check_places(settings, path, ("corpus", "vocabulary", "train", "held_out", "model"))
    return settings


def _again(command: str, folder: Path, *, processes: int = 1) -> str:
    """The command that goes on with a run, as a shell takes it."""
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
                none = f"{name} is {place!r} in {path}, and there is none in {Path.cwd()}"
                raise FileError(f"{none}: start this command in the folder where the run was begun")


def _evaluate(args: argparse.Namespace) -> int:
    folder = Path(args.folder)
    settings_path = folder / SETTINGS_FILE
    given = given_options(args, TaskSettings)
    if not settings_path.is_file():
        settings = read_options(args, TaskSettings)
        task_class(settings)
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
            raise InputError((Setting(name), f" is for a labelled file, and {folder} holds a pre-trained model"))
        pretraining = load_settings(PretrainSettings, settings_path, **given, model=checkpoint, held_out=args.files)
        _check_places(pretraining, settings_path, ("corpus", "vocabulary"))
        run = Pretraining(pretraining, folder)
        numbers = run.evaluate()
        if args.json:
            row = finite_or_null({"files": args.files, **numbers, "baselines": run.baselines})
            write_json_lines([row], None, for_people=False)
        else:
            _print_table(numbers, run.baselines)
        return 0
    finetuning = load_settings(FinetuneSettings, settings_path, **given)
    _print_judged(evaluate_files(checkpoint, args.files, finetuning), as_json=args.json)
    return 0


def _print_judged(judged: list[Judged], *, as_json: bool) -> None:
    if as_json:
        rows: list[dict[str, Any]] = [{"file": each.path, **finite_or_null(each.metrics)} for each in judged]
        for row, each in zip(rows, judged, strict=True):
            row |= {"labels": {name: scores._asdict() for name, scores in each.classes.items()}} if each.classes else {}
        write_json_lines(rows, None, for_people=False)
        return
    for path, metrics, task, baselines, classes in judged:
        _print_table(metrics, baselines, title=path, task=task)
        _print_classes(classes)
    _advise(*((each.metrics, each.baselines) for each in judged))


def _advise(*judged: tuple[dict[str, float], dict[str, float]]) -> None:
    """Say once what to do about a model that gives all examples of a file the same label."""
    for numbers, known in judged:
        if numbers.get("matthews") == 0 and numbers.get("accuracy") == known.get("accuracy"):
            print("the model gives every example the same label: train it longer, or with a higher --learning-rate")
            return


def _print_classes(classes: dict[str, ClassScores]) -> None:
    """A line for each label, of at most 80 columns."""
    if classes:
        print(f"{'label':<34}{'precision':>10}{'recall':>10}{'f1':>10}{'examples':>12}")
    for name, (precision, recall, f1, support) in classes.items():
        shown = shorten(printable(name), 30, placeholder="…")
        print(f"  {shown:<32}{precision:>10.4f}{recall:>10.4f}{f1:>10.4f}{support:>12,}")


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
