"""The command line: `npbert …` or `python -m npbert …`."""

from __future__ import annotations

import errno
import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any, ClassVar

import npbert
from npbert.cli.command import Command, switch
from npbert.cli.log import QUIET, USUAL, VERBOSE, check_shared, messages_on_standard_error, said_once, speaks, tell
from npbert.cli.parser import first_argument, help_of, usage, values_of
from npbert.io.errors import Fields, InputError, Setting
from npbert.io.messages import LOGGER, counted, did_you_mean, in_words, printable

COMMANDS = {
    "fill-mask": ("predict.FillMaskCommand", "hf", "find the words that could stand at each [MASK]"),
    "embed": ("embed.EmbedCommand", "hf", "turn each text into a vector"),
    "search": ("embed.SearchCommand", "hf", "find the lines that are most similar to a text"),
    "classify": ("predict.ClassifyCommand", "hf", "find a label for each text"),
    "tag": ("predict.TagCommand", "hf", "find a tag for each word, and names"),
    "answer": ("predict.AnswerCommand", "hf", "find answers in passages"),
    "vocab": ("vocab.VocabCommand", "hf", "learn a vocabulary from your own text"),
    "pretrain": ("training.PretrainCommand", "train", "teach a BERT language, from plain text"),
    "finetune": ("training.FinetuneCommand", "train", "teach a pre-trained BERT a task, from a labelled file"),
    "evaluate": ("evaluate.EvaluateCommand", "hf", "measure how good a trained model is"),
    "report": ("pages.ReportCommand", "train", "make a page of pictures of a run"),
    "plot": ("plot.PlotCommand", "plot", "draw attention, gradients, vectors or a run"),
    "params": ("params.ParamsCommand", "hf", "list every tensor of a model, with its shape and count"),
    "demo": ("demo.DemoCommand", "", "watch a BERT learn a toy dialogue, then try it"),
    "page": ("pages.PageCommand", "", "make a page on which to follow any number of a small model"),
    "learn": ("learn.LearnCommand", "", "learn backpropagation by writing it"),
    "site": ("pages.SiteCommand", "site", "make a web site to read npbert on"),
    "gradcheck": ("gradcheck.GradcheckCommand", "", "prove every derivative of every block"),
    "doctor": ("doctor.DoctorCommand", "", "show what is installed, how fast it is, and what is missing"),
}


@dataclass(frozen=True, kw_only=True)
class NpbertCommand(Command):
    """BERT in NumPy: use a checkpoint, train one, or look into how it works.

    examples:
      echo "Paris is the [MASK] of France." | npbert fill-mask folder
      npbert finetune run --model folder --train train.tsv
      npbert finetune --help

    Here, folder is a checkpoint in the format of Hugging Face. npbert reads it from
    disk. To download one: hf download NAME --local-dir FOLDER"""

    version: bool = switch("show the version, and end")

    commands: ClassVar[dict[str, tuple[str, str, str]]] = COMMANDS

    def __post_init__(self) -> None:
        """Raise InputError where no command is named."""
        if not self.version:
            raise InputError(f"name a command, one of {', '.join(COMMANDS)}")

    def run(self) -> int:
        """Print the version."""
        import numpy as np

        print(f"npbert {npbert.__version__} (Python {platform.python_version()}, NumPy {np.__version__})")
        return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0; 2, after a line on standard error, for a wrong argument or value;
    1 for what fails in the course of it; 130 for Ctrl-C."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["help"]:  # npbert help, npbert help embed
        words = [*words[1:], "--help"]
    return run(NpbertCommand, "npbert", words)


def run(kind: type[Command], prog: str, words: Sequence[str]) -> int:
    """Run the command, or the one below it that the words name, as `main` does."""
    try:
        with said_once(), messages_on_standard_error(USUAL):
            try:
                words = list(words)
                while kind.commands and (name := first_argument(words, kind)):
                    kind, prog = _below(kind, name), f"{prog} {name}"
                    words.remove(name)
                given = values_of(words, kind)
                work = _help(kind, prog) if "help" in given else _made(kind, prog, given).run
            except InputError as error:
                return _refuse(error, kind, prog)
        level = VERBOSE if "verbose" in given else QUIET if "quiet" in given else USUAL
        with messages_on_standard_error(level, lambda problem: _say(problem, kind)):
            return _status(work, kind, prog)
    except KeyboardInterrupt:  # before the command began, or once more while it ended
        return 130


def _below(kind: type[Command], name: str) -> type[Command]:
    """The command of that name below another. Raises: InputError."""
    if name not in kind.commands:
        meant = did_you_mean(name, kind.commands) or f", wanted one of {', '.join(kind.commands)}"
        raise InputError(f"there is no command {name!r}{meant}")
    module, _, class_name = kind.commands[name][0].partition(".")
    found: type[Command] = getattr(import_module(f"npbert.cli.{module}"), class_name)
    return found


def _help(kind: type[Command], prog: str) -> Callable[[], int]:
    def show() -> int:
        print(help_of(prog, kind), end="")
        return 0

    return show


def _made(kind: type[Command], prog: str, given: dict[str, Any]) -> Command:
    """The command with the values that are given. Raises: InputError for one that must be given, and is not."""
    from npbert.compute import keep_freed_memory  # here: help needs no NumPy

    check_shared(prog)
    keep_freed_memory()
    own = {entry.name for entry in fields(kind)} & given.keys()
    others = {name: value for name, value in given.items() if name not in own}
    return kind(**{name: given[name] for name in own}, given=others)


def _say(problem: Warning | BaseException, kind: type[Command]) -> str:
    """An error or a warning in words for a user of this command."""
    if isinstance(problem, Fields):
        problem.words = kind.called
    return in_words(problem)


def _refuse(error: InputError, kind: type[Command], prog: str) -> int:
    """Say how the command is used, and what was wrong. Of several processes one speaks. Returns: 2."""
    if speaks():
        tell(
            f"usage: {usage(prog, kind)}\n{'':<7}{prog} --help says more\n{prog}: error: {printable(_say(error, kind))}"
        )
    return 2


def _status(work: Callable[[], int], kind: type[Command], prog: str) -> int:
    """The exit status of the work, after what is to be said of its errors."""
    start, status = time.perf_counter(), 0
    try:
        if sys.stdout is None:  # closed before the program began
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        status = work()
        sys.stdout.flush()
    except KeyboardInterrupt:
        _say_stopped()
        return 130
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        _close_output()
        return status or 1
    except MemoryError:
        LOGGER.error("there is not enough memory: fewer or shorter texts at once, or a smaller model, need less")
        return 1
    except (ValueError, LookupError, OSError, ImportError, FloatingPointError) as error:  # a value, a file, the setup
        if isinstance(error, InputError) and not error.where and kind.called(_setting_of(error)):
            return _refuse(error, kind, prog)
        if isinstance(error, OSError) and error.errno and error.filename is None:  # files are named where they are used
            error.filename = "standard output"
            _close_output()
        LOGGER.error(_say(error, kind))
        return 1
    if LOGGER.isEnabledFor(VERBOSE):
        from npbert.compute import num_threads

        LOGGER.debug("it took %.1f s, on %s", time.perf_counter() - start, counted(num_threads(), "thread"))
    return status


def _setting_of(error: InputError) -> Setting:
    """What the error is about."""
    first = error.says[0] if error.says else ""
    return first if isinstance(first, Setting) else Setting(error.what)


def _say_stopped() -> None:
    if speaks():
        tell("\nstopped")  # below the ^C
    from npbert.data.learn_vocabulary import THREAD

    if any(thread.name == THREAD for thread in threading.enumerate()):
        sys.stderr.flush()
        os._exit(130)  # Python would end that thread in the middle of the library, which aborts


def _close_output() -> None:
    """What is left of the output must not be written when the program ends."""
    if sys.__stdout__ is not None and sys.stdout is sys.__stdout__:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())
