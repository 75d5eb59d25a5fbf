"""The command line: `npbert …` or `python -m npbert …`."""

from __future__ import annotations

import logging
import os
import platform
import sys
import time
from collections.abc import Sequence
from pkgutil import resolve_name

import npbert
from npbert.cli.command import Command, UsageError, help_of, subcommands, switch, usage, values_of
from npbert.io import (
    LOGGER,
    FileError,
    InputError,
    Setting,
    counted,
    did_you_mean,
    in_words,
    launched,
    launched_rank,
    messages_on_standard_error,
    printable,
    tell,
    worded_by,
)

COMMANDS = subcommands("""
fill-mask  predict:FillMaskCommand     predict the words at each [MASK]
embed      embed:EmbedCommand          turn each text into a vector
search     embed:SearchCommand         find the lines most similar to a text
classify   predict:ClassifyCommand     predict a label for each text
tag        predict:TagCommand          predict a tag for each word, and names
answer     predict:AnswerCommand       find answers in passages
vocab      vocab:VocabCommand          learn a vocabulary from your own text
pretrain   training:PretrainCommand    pre-train a BERT on plain text
finetune   training:FinetuneCommand    fine-tune a BERT on a labelled file
evaluate   training:EvaluateCommand    measure a trained model
report     pages:ReportCommand         write a page about a training run
plot       pages:PlotCommand           draw attention, gradients, vectors or a run
params     blocks:ParamsCommand        list every tensor of a model, and count parameters
demo       demo:DemoCommand            watch a BERT learn a toy dialogue, then try it
examples   vocab:ExamplesCommand       write small files to try the commands on
page       pages:PageCommand           write a page to follow any number of a small model
learn      learn:LearnCommand          learn backpropagation by writing it
site       pages:SiteCommand           build a web site of npbert's source and docs
gradcheck  blocks:GradcheckCommand     prove every derivative of every block
doctor     doctor:DoctorCommand        show versions, speed and missing extras
""")


SWITCHES = ("-q", "--quiet", "-v", "--verbose", "-h", "--help")
"""The options that may come before the name of a command."""
USERS = (ValueError, LookupError, OSError, ImportError, FloatingPointError)
"""The errors of a user's value, a file or the setup."""


class NpbertCommand(Command):
    """BERT in NumPy: use a checkpoint, train one, or see how it works.

    examples:
      echo "Paris is the [MASK] of France." | npbert fill-mask folder
      npbert finetune run --model folder --train train.tsv
      npbert finetune --help

    Here, folder is a checkpoint in Hugging Face's format, which npbert reads
    from disk. To download one: hf download NAME --local-dir FOLDER"""

    version: bool = switch("show the version and exit")

    commands = COMMANDS

    def run(self) -> None:
        """Print the version. Raises: UsageError if no command is named."""
        if self.version:
            import numpy as np

            print(f"npbert {npbert.__version__} (Python {platform.python_version()}, NumPy {np.__version__})")
        else:
            super().run()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    0: done.   1: it failed while it ran.   2: a wrong argument or value.   130: Ctrl-C."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["help"]:  # npbert help, npbert help embed
        words = [*words[1:], "--help"]
    return run(NpbertCommand, "npbert", words)


def run(kind: type[Command], prog: str, words: list[str]) -> int:
    """Run the command, or the subcommand that the words name, as `main` does."""
    try:
        with messages_on_standard_error():
            try:
                while kind.commands:
                    name = next((word for word in words if word not in SWITCHES), "-")
                    if name.startswith("-"):  # another option, or none
                        break
                    if name not in kind.commands:
                        meant = did_you_mean(name, kind.commands) or f", wanted one of {', '.join(kind.commands)}"
                        raise UsageError(f"unknown command {name!r}{meant}")
                    kind, prog = resolve_name(f"npbert.cli.{kind.commands[name][0]}"), f"{prog} {name}"
                    words.remove(name)
                with worded_by(kind.called):
                    status = _run(kind, prog, words)
                sys.stdout.flush()
                return status
            except Exception as error:
                return _fail(error, kind, prog)
    except KeyboardInterrupt as stop:
        if launched_rank() == 0:
            tell(f"\n{str(stop) or 'stopped'}")  # below the ^C
        return 130


def _run(kind: type[Command], prog: str, words: Sequence[str]) -> int:
    if sys.stdout is None:  # closed before the program began
        raise FileError("standard output is closed, wanted a terminal, a file or a pipe")
    start, given = time.perf_counter(), values_of(words, kind)
    if "help" in given:
        print(help_of(prog, kind))
        return 0
    from npbert.compute import keep_freed_memory, num_threads  # imported here, as `npbert --help` needs no NumPy

    if launched() > 1 and not kind.shares_work:  # each process would do all of the work, and write the same files
        only = f"{launched()} processes were started, but only pretrain and finetune can share work"
        raise UsageError(f"{only}; start {prog} as one process")
    keep_freed_memory()
    own = {name: given.pop(name) for name in kind.__dataclass_fields__ if name in given}
    command = kind(**own, given=given)
    if command.verbose:
        LOGGER.setLevel(logging.DEBUG)
    elif command.quiet:
        LOGGER.setLevel(logging.ERROR)
    status = command.run() or 0
    LOGGER.debug("it took %.1f s, on %s", time.perf_counter() - start, counted(num_threads(), "thread"))
    return status


def _fail(error: Exception, kind: type[Command], prog: str) -> int:
    """Print the error in a line. Returns: the exit status. Raises: the error itself, if it is a bug of npbert."""
    if isinstance(error, InputError) and (isinstance(error, UsageError) or kind.called(Setting(error.what))):
        if launched_rank() == 0:  # what is the same for all processes
            how = f"usage: {usage(prog, kind)}\n       {prog} --help for more"
            tell(f"{how}\n{prog}: error: {printable(str(error))}")
        return 2
    if isinstance(error, OSError) and error.errno and error.filename is None:  # errors of files name them already
        error.filename = "standard output"
        if sys.stdout is sys.__stdout__:  # Python must not flush it at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    has_reader = not isinstance(error, BrokenPipeError)  # otherwise it, such as `head`, has seen enough
    if isinstance(error, MemoryError):
        LOGGER.error("not enough memory; try fewer or shorter texts at once, or a smaller model")
    elif not isinstance(error, USERS):
        raise error
    elif has_reader and not (kind.shares_work and launched_rank()):  # what all processes share, the first tells
        LOGGER.error(in_words(error))
    return 1
