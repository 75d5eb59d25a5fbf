"""The command line: `npbert …` or `python -m npbert …`."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from npbert.cli.answer import add_answer_command
from npbert.cli.classify import add_classify_command
from npbert.cli.embed import add_embed_command
from npbert.cli.fill_mask import add_fill_mask_command
from npbert.cli.gradcheck import add_gradcheck_command
from npbert.cli.training import add_training_commands
from npbert.cli.vocab import add_vocab_command
from npbert.compute import keep_freed_memory
from npbert.models import PRESETS, BertConfig, parameter_table
from npbert.training.finite import NotFiniteError
from npbert.version import __version__


class _Command(argparse.ArgumentParser):
    """A command, whose options are written out: an abbreviation could mean another one in the next version."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0, or 1 after a line on standard error that says what was wrong.

    Raises: SystemExit (status 2) for arguments that are not understood, after saying so on standard error.
    """
    parser = argparse.ArgumentParser(prog="npbert", description="BERT in NumPy, with every derivative checked.")
    parser.add_argument("--version", action="version", version=f"npbert {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command", parser_class=_Command)

    params = commands.add_parser("params", help="list every tensor of a BERT, with its shape and count")
    params.add_argument("preset", choices=PRESETS, metavar="preset", help=", ".join(PRESETS))
    params.set_defaults(run=_params)

    add_gradcheck_command(commands)
    add_fill_mask_command(commands)
    add_embed_command(commands)
    add_classify_command(commands)
    add_answer_command(commands)
    add_vocab_command(commands)
    add_training_commands(commands)

    args = parser.parse_args(arguments)
    keep_freed_memory()
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: print(f"npbert: {message}", file=sys.stderr)
        return _run(args)


def _run(args: argparse.Namespace) -> int:
    try:
        status: int = args.run(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, `head` say, has seen enough; what is left must not be flushed at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (
        ValueError,
        LookupError,
        OSError,
        ImportError,
        NotFiniteError,
    ) as error:  # what a user's value, file or setup can cause
        print(f"npbert: error: {_message(error)}", file=sys.stderr)
        return 1
    return status


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _params(args: argparse.Namespace) -> int:
    print(parameter_table(BertConfig.preset(args.preset)))
    return 0
