"""What the commands that read a checkpoint and text share: the folder, the input and where to write."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from npbert.cli.task_folder import model_folder
from npbert.cli.text import STANDARD_INPUT, check_output
from npbert.models import load_config


def add_command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], int],
    help_text: str,
    *,
    description: str = "",
    epilog: str = "",
) -> argparse.ArgumentParser:
    """Add a command that reads a checkpoint and text; it calls `run` when it is clear that its output can be written.

    help_text: a phrase for the list of all commands. description: what the command's own help begins with; epilog: what
    it ends with, examples say.
    """
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=help_text, description=description or help_text, epilog=epilog or None
    )
    command.add_argument("folder", metavar="FOLDER", help="the folder of a run, or of a checkpoint, "
                         "with its config.json, model.safetensors, and tokenizer.json or vocab.txt")  # fmt: skip
    command.add_argument("input", metavar="FILE", nargs="?", default=STANDARD_INPUT,
                         help="a file of text; without it, standard input is read")  # fmt: skip
    command.add_argument("--output", metavar="FILE", help="where to write; without it, to standard output")

    def check_and_run(args: argparse.Namespace) -> int:
        check_output(args.output, args.input)
        load_config(model_folder(args.folder))  # a folder that is none is told before anybody types a text
        return run(args)

    command.set_defaults(run=check_and_run)
    return command
