"""`npbert fill-mask`: the words that could stand where a text says [MASK]."""

from __future__ import annotations

import argparse
from typing import Any

from npbert.cli.checkpoint_command import add_command
from npbert.cli.task_folder import model_folder
from npbert.cli.text import read_lines, write_json_lines
from npbert.inference import FillMask

_DESCRIPTION = """Find the most probable words for each [MASK]. The file has a text on each line;
the answer to each is a line of JSON."""

_EPILOG = """examples:
  echo "Paris is the [MASK] of France." | npbert fill-mask folder
  npbert fill-mask folder sentences.txt --top-k 3 --output words.jsonl"""


def add_fill_mask_command(commands: Any) -> None:
    """Add the command to those of the parser."""
    command = add_command(
        commands,
        "fill-mask",
        _fill_mask,
        "find the words that could stand at each [MASK]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    command.add_argument(
        "--top-k", type=int, default=5, metavar="N", help="how many words to give for each [MASK] (default: 5)"
    )


def _fill_mask(args: argparse.Namespace) -> int:
    texts = read_lines(args.input)
    predictions: Any = FillMask.from_pretrained(model_folder(args.folder))(texts, top_k=args.top_k)
    rows = [
        {"text": text, "masks": [[token._asdict() for token in tokens] for tokens in masks]}
        for text, masks in zip(texts, predictions, strict=True)
    ]
    write_json_lines(rows, args.output)
    return 0
