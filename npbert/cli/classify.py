"""`npbert classify`: a label, or a number, for each line."""

from __future__ import annotations

import argparse
from typing import Any

from npbert.cli.checkpoint_command import add_command
from npbert.cli.text import name_of, read_lines, write_json_lines
from npbert.files import FileError
from npbert.inference import Classify


def add_classify_command(commands: Any) -> None:
    """Add the command to those of the parser."""
    add_command(commands, "classify", _classify, "a label for each line; two texts in a line are separated by a tab")


def _classify(args: argparse.Namespace) -> int:
    lines = read_lines(args.input)
    texts = [_pair(args.input, number, line) if "\t" in line else line for number, line in enumerate(lines, start=1)]
    results = Classify.from_pretrained(args.folder)(texts)
    rows = [
        {"text": text, **({"score": result} if isinstance(result, float) else result._asdict())}
        for text, result in zip(texts, results, strict=True)
    ]
    write_json_lines(rows, args.output)
    return 0


def _pair(path: str, number: int, line: str) -> tuple[str, str]:
    parts = line.split("\t")
    if len(parts) != 2:
        raise FileError(
            f"{name_of(path)}, line {number}: {len(parts)} texts, wanted one, or two with a tab between them"
        )
    return parts[0], parts[1]
