"""The command line: `npbert …` or `python -m npbert …`."""

from __future__ import annotations

import argparse
import errno
import os
import platform
import sys
import threading
import time
from collections.abc import Sequence

import numpy as np

from npbert.cli.answer import add_answer_command
from npbert.cli.classify import add_classify_command
from npbert.cli.embed import add_embed_command
from npbert.cli.fill_mask import add_fill_mask_command
from npbert.cli.gradcheck import add_gradcheck_command
from npbert.cli.launcher import check_shared, said_once, speaks
from npbert.cli.learn import add_learn_command
from npbert.cli.log import USUAL, messages_on_standard_error
from npbert.cli.page import add_page_command
from npbert.cli.params import add_params_command
from npbert.cli.parser import Parser
from npbert.cli.plot import add_plot_command
from npbert.cli.report import add_report_command
from npbert.cli.search import add_search_command
from npbert.cli.site import add_site_command
from npbert.cli.tag import add_tag_command
from npbert.cli.training import add_training_commands
from npbert.cli.vocab import add_vocab_command
from npbert.compute import keep_freed_memory, num_threads
from npbert.data.learn_vocabulary import THREAD
from npbert.messages import LOGGER, in_words
from npbert.training.finite import NotFiniteError
from npbert.version import __version__

_EXAMPLES = """examples:
  echo "Paris is the [MASK] of France." | npbert fill-mask folder
  npbert finetune run --model folder --train train.tsv
  npbert finetune --help

Here, folder stands for a checkpoint in the format of Hugging Face. npbert reads it
from disk, and downloads nothing."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0, or 1 after a line on standard error that says what was wrong.

    Raises: SystemExit (status 2) for arguments that are not understood, after saying so on standard error.
    """
    try:
        with said_once():
            parser = _parser()
            args = parser.parse_args(arguments)
            check_shared(parser, args.command)
        keep_freed_memory()
        with messages_on_standard_error(getattr(args, "level", USUAL)):
            return _run(args)
    except KeyboardInterrupt:  # before the command began, or once more while it ended
        return 130


def _parser() -> Parser:
    parser = Parser(
        prog="npbert",
        usage="npbert COMMAND [options]",
        description="BERT in NumPy: use a checkpoint, train one, or look into how it works.",
        epilog=_EXAMPLES,
    )
    version = f"npbert {__version__} (Python {platform.python_version()}, NumPy {np.__version__})"
    parser.add_argument("--version", action="version", version=version, help="show the version, and end")
    commands = parser.add_subparsers(
        prog="npbert", title="commands", dest="command", metavar="COMMAND", parser_class=Parser
    )
    add_fill_mask_command(commands)
    add_embed_command(commands)
    add_search_command(commands)
    add_classify_command(commands)
    add_tag_command(commands)
    add_answer_command(commands)
    add_vocab_command(commands)
    add_training_commands(commands)
    add_report_command(commands)
    add_plot_command(commands)
    add_params_command(commands)
    add_page_command(commands)
    add_learn_command(commands)
    add_site_command(commands)
    add_gradcheck_command(commands)
    names = ", ".join(commands.choices)
    parser.set_defaults(run=lambda _: parser.error(f"say which command, one of {names}"))
    for each in (*commands.choices.values(), parser):
        each.finish()
    return parser


def _run(args: argparse.Namespace) -> int:
    start = time.perf_counter()
    try:
        if sys.stdout is None:  # closed before the program began
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")
        status: int = args.run(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        if speaks():
            print("\nstopped", file=sys.stderr)  # below the ^C
        if any(thread.name == THREAD for thread in threading.enumerate()):
            sys.stderr.flush()
            os._exit(130)  # Python would end that thread in the middle of the library, which aborts
        return 130
    except BrokenPipeError:  # the reader, `head` say, has seen enough; what is left must not be flushed at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except MemoryError:
        LOGGER.error("there is not enough memory: fewer or shorter texts at once, or a smaller model, need less")
        return 1
    except (
        ValueError,
        LookupError,
        OSError,
        ImportError,
        NotFiniteError,
    ) as error:  # what a user's value, file or setup can cause
        LOGGER.error(in_words(error))
        return 1
    threads = num_threads()
    LOGGER.debug("it took %.1f s, on %d thread%s", time.perf_counter() - start, threads, "s" * (threads > 1))
    return status
