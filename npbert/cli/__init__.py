"""The command line: `npbert …` or `python -m npbert …`."""

from __future__ import annotations

import errno
import logging
import os
import platform
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from typing import ClassVar

import npbert
from npbert.cli.command import Command, UsageError, switch
from npbert.cli.log import messages_on_standard_error, speaks, tell
from npbert.cli.parser import first_argument, help_of, usage, values_of
from npbert.io.errors import Fields, InputError, Setting
from npbert.io.launcher import launched
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
    "examples": ("examples.ExamplesCommand", "", "write small files to try the commands on"),
    "page": ("pages.PageCommand", "", "make a page on which to follow any number of a small model"),
    "learn": ("learn.LearnCommand", "", "learn backpropagation by writing it"),
    "site": ("pages.SiteCommand", "site", "make a web site to read npbert on"),
    "gradcheck": ("gradcheck.GradcheckCommand", "", "prove every derivative of every block"),
    "doctor": ("doctor.DoctorCommand", "", "show what is installed, how fast it is, and what is missing"),
}


USERS = (ValueError, LookupError, OSError, ImportError, FloatingPointError)
"""Errors from a user's value, a file or the setup."""


@dataclass
class NpbertCommand(Command):
    """BERT in NumPy: use a checkpoint, train one, or look into how it works.

    examples:
      echo "Paris is the [MASK] of France." | npbert fill-mask folder
      npbert finetune run --model folder --train train.tsv
      npbert finetune --help

    Here, folder is a checkpoint in the format of Hugging Face. npbert reads it from
    disk. To download one: hf download NAME --local-dir FOLDER"""

    version: bool = switch("show the version, and end")

    commands: ClassVar = COMMANDS

    def run(self) -> int:
        """Print the version. Raises: UsageError where no command is named."""
        if not self.version:
            return super().run()
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
        with messages_on_standard_error(say=lambda problem: _say(problem, kind)):
            try:
                words = list(words)
                while kind.commands and (name := first_argument(words, kind)):
                    kind, prog = _below(kind, name), f"{prog} {name}"
                    words.remove(name)
                status = _run(kind, prog, words)
                sys.stdout.flush()
            except Exception as error:
                return _fail(error, kind, prog)
            return status
    except KeyboardInterrupt:
        _say_stopped()
        return 130


def _below(kind: type[Command], name: str) -> type[Command]:
    """The command of that name below another. Raises: UsageError."""
    if name not in kind.commands:
        meant = did_you_mean(name, kind.commands) or f", wanted one of {', '.join(kind.commands)}"
        raise UsageError(f"there is no command {name!r}{meant}")
    module, _, class_name = kind.commands[name][0].partition(".")
    found: type[Command] = getattr(import_module(f"npbert.cli.{module}"), class_name)
    return found


def _run(kind: type[Command], prog: str, words: Sequence[str]) -> int:
    if sys.stdout is None:  # closed before the program began
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    start, given = time.perf_counter(), values_of(words, kind)
    if "help" in given:
        print(help_of(prog, kind), end="")
        return 0
    from npbert.compute import keep_freed_memory, num_threads  # here: help needs no NumPy

    if launched() > 1 and not kind.shares_work:  # each would do all of it, and write the same files
        only = f"{launched()} processes were started, and only pretrain and finetune share their work"
        raise UsageError(f"{only}: start {prog} as one process")
    keep_freed_memory()
    own = {entry.name: given.pop(entry.name) for entry in fields(kind) if entry.name in given}
    command = kind(**own, given=given)
    if command.verbose:
        LOGGER.setLevel(logging.DEBUG)
    elif command.quiet:
        LOGGER.setLevel(logging.ERROR)
    status = command.run()
    LOGGER.debug("it took %.1f s, on %s", time.perf_counter() - start, counted(num_threads(), "thread"))
    return status


def _say(problem: Warning | BaseException, kind: type[Command]) -> str:
    """An error or a warning in words for a user of this command."""
    if isinstance(problem, Fields):
        problem.words = kind.called
    return in_words(problem)


def _fail(error: Exception, kind: type[Command], prog: str) -> int:
    """Say what went wrong, in a line. Returns: the exit status. Raises: what is a mistake of npbert's own."""
    if isinstance(error, UsageError) or (isinstance(error, InputError) and _is_about_an_option(error, kind)):
        if speaks():
            more = f"{'':<7}{prog} --help says more\n{prog}: error: {printable(_say(error, kind))}"
            tell(f"usage: {usage(prog, kind)}\n{more}")
        return 2
    if isinstance(error, OSError) and error.errno and error.filename is None:  # files are named where they are used
        error.filename = "standard output"
        if sys.__stdout__ is not None and sys.stdout is sys.__stdout__:  # what is left must not be written at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())
    if isinstance(error, MemoryError):
        LOGGER.error("there is not enough memory: fewer or shorter texts at once, or a smaller model, need less")
    elif not isinstance(error, USERS):
        raise error
    elif not isinstance(error, BrokenPipeError):  # else the reader, `head` say, has seen enough
        LOGGER.error(_say(error, kind))
    return 1


def _is_about_an_option(error: InputError, kind: type[Command]) -> bool:
    """True for the value of an option, though not where a line of a file is wrong with it."""
    first = error.says[0] if error.says else ""
    return not error.where and bool(kind.called(first if isinstance(first, Setting) else Setting(error.what)))


def _say_stopped() -> None:
    if speaks():
        tell("\nstopped")  # below the ^C
    from npbert.data.learn_vocabulary import THREAD

    if any(thread.name == THREAD for thread in threading.enumerate()):
        sys.stderr.flush()
        os._exit(130)  # Python would end that thread in the middle of the library, which aborts
