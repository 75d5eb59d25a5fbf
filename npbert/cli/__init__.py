"""The command line: `npbert …` or `python -m npbert …`."""

import argparse
import errno
import os
import platform
import sys
import threading
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import npbert
from npbert.cli.log import USUAL, check_shared, messages_on_standard_error, said_once, speaks, tell
from npbert.cli.parser import Parser
from npbert.io.messages import LOGGER

COMMANDS = {
    "fill-mask": ("predict", "hf", "find the words that could stand at each [MASK]"),
    "embed": ("embed", "hf", "turn each text into a vector"),
    "search": ("embed", "hf", "find the lines that are most similar to a text"),
    "classify": ("predict", "hf", "find a label for each text"),
    "tag": ("predict", "hf", "find a tag for each word, and names"),
    "answer": ("predict", "hf", "find answers in passages"),
    "vocab": ("vocab", "hf", "learn a vocabulary from your own text"),
    "pretrain": ("training", "train", "teach a BERT language, from plain text"),
    "finetune": ("training", "train", "teach a pre-trained BERT a task, from a labelled file"),
    "evaluate": ("training", "hf", "say how good a trained model is"),
    "report": ("pages", "train", "make a page of pictures of a run"),
    "plot": ("plot", "plot", "draw attention, gradients, vectors or a run"),
    "params": ("params", "hf", "list every tensor of a model, with its shape and count"),
    "demo": ("demo", "", "watch a BERT learn a toy dialogue, then try it"),
    "page": ("pages", "", "a page on which each number of a small model can be followed back"),
    "learn": ("learn", "", "learn backpropagation by writing it"),
    "site": ("pages", "site", "make a web site to read npbert on"),
    "gradcheck": ("gradcheck", "", "prove every derivative of every block"),
    "doctor": ("doctor", "", "say what is installed, how fast it is, and what is missing for what"),
}
"""The commands by name: the module of each, which is imported when it is asked for; the extra without which it cannot
be used, if any; and its line in the list."""

_EXAMPLES = """examples:
  echo "Paris is the [MASK] of France." | npbert fill-mask folder
  npbert finetune run --model folder --train train.tsv
  npbert finetune --help

Here, folder stands for a checkpoint in the format of Hugging Face. npbert reads it
from disk. To download one: hf download NAME --local-dir FOLDER"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0, or 1 after a line on standard error that says what was wrong.

    Raises: SystemExit (status 2) for arguments that are not understood, after saying so on standard error.
    """
    try:
        with said_once(), messages_on_standard_error(USUAL):
            arguments = sys.argv[1:] if arguments is None else list(arguments)
            if arguments[:1] == ["help"]:  # npbert help, npbert help embed
                arguments = [*arguments[1:], "--help"]
            if arguments[:1] == ["demo"]:  # a program with options of its own, which NumPy must not be loaded before
                return import_module("npbert.cli.demo").run_demo(arguments[1:])
            parser = _parser(next((argument for argument in arguments if not argument.startswith("-")), ""))
            args = parser.parse_args(arguments)
            check_shared(parser, args.command)
        from npbert.compute import keep_freed_memory  # here: help needs no NumPy

        keep_freed_memory()
        with messages_on_standard_error(getattr(args, "level", USUAL), args.parser.say):
            return _run(args)
    except KeyboardInterrupt:  # before the command began, or once more while it ended
        return 130


class _ShowVersion(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        import numpy as np

        print(f"npbert {npbert.__version__} (Python {platform.python_version()}, NumPy {np.__version__})")
        parser.exit()


def _parser(asked: str) -> Parser:
    """The parser, which knows the options of the command that is asked for, and of the others the names."""
    parser = Parser(
        prog="npbert",
        usage="npbert COMMAND [options]",
        description="BERT in NumPy: use a checkpoint, train one, or look into how it works.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version, and end")
    commands = parser.add_subparsers(
        prog="npbert", title="commands", dest="command", metavar="COMMAND", parser_class=Parser
    )
    for name, (module, _, text) in COMMANDS.items():
        command = commands.add_parser(name, help=text)
        if name == asked:
            command.take(getattr(import_module(f"npbert.cli.{module}"), f"add_{name.replace('-', '_')}_command"))
    names = ", ".join(commands.choices)
    parser.set_defaults(run=lambda _: parser.error(f"say which command, one of {names}"))
    for each in (*commands.choices.values(), parser):
        each.finish()
    return parser


def _run(args: argparse.Namespace) -> int:
    start, status = time.perf_counter(), 0
    try:
        if sys.stdout is None:  # closed before the program began
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")
        status = args.run(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        if speaks():
            tell("\nstopped")  # below the ^C
        from npbert.data.learn_vocabulary import THREAD

        if any(thread.name == THREAD for thread in threading.enumerate()):
            sys.stderr.flush()
            os._exit(130)  # Python would end that thread in the middle of the library, which aborts
        return 130
    except BrokenPipeError:  # the reader, `head` say, has seen enough; what is left must not be flushed at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return status or 1
    except MemoryError:
        LOGGER.error("there is not enough memory: fewer or shorter texts at once, or a smaller model, need less")
        return 1
    except (ValueError, LookupError, OSError, ImportError, ArithmeticError) as error:  # from a value, a file, the setup
        from npbert.training.finite import NotFiniteError

        if isinstance(error, ArithmeticError) and not isinstance(error, NotFiniteError):
            raise
        LOGGER.error(args.parser.say(error))
        return 1
    from npbert.compute import num_threads

    threads = num_threads()
    LOGGER.debug("it took %.1f s, on %d thread%s", time.perf_counter() - start, threads, "s" * (threads > 1))
    return status
