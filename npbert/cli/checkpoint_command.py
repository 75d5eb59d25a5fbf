"""What the commands that read a checkpoint and text share: the folder, the input and where to write."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from npbert.cli.text import STANDARD_INPUT, check_output


def add_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], help_text: str
) -> argparse.ArgumentParser:
    """Add a command that reads a checkpoint and text; `run` is called when its output can be written."""
    command: argparse.ArgumentParser = commands.add_parser(name, help=help_text, description=help_text)
    command.add_argument("folder", help="a checkpoint: config.json, model.safetensors, and tokenizer.json or vocab.txt")
    command.add_argument("input", nargs="?", default=STANDARD_INPUT, help="a file of text; standard input if not given")
    command.add_argument("--output", metavar="FILE", help="where to write; standard output if not given")

    def check_and_run(args: argparse.Namespace) -> int:
        check_output(args.output)
        return run(args)

    command.set_defaults(run=check_and_run)
    return command
