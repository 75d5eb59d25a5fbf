"""`npbert classify`: a label, or a number, for each text."""

from __future__ import annotations

import argparse
from typing import Any

from npbert.cli.checkpoint_command import add_command
from npbert.cli.task_folder import add_columns, columns_of, length_of, model_folder, run_settings
from npbert.cli.text import name_of, read_all, read_lines, write_json_lines
from npbert.data.tables import TABLE_ENDINGS, parse_table
from npbert.data.tokenizer import Text
from npbert.files import FileError
from npbert.inference import Classify
from npbert.training.tasks import TaskSettings

_DESCRIPTION = """Find a label, or for a regression a number, for each text; the answer to each is a
line of JSON. FOLDER is that of a checkpoint, or of a run of npbert finetune.

The file has a text on each line, or two with a tab between them. A published file with
columns (TSV, CSV or lines of JSON) is read when you say which columns to take; for a run
they are those that it was trained on, and each answer then says which line it is about."""

_EPILOG = """examples:
  npbert classify run sentences.txt
  npbert classify run test.tsv --output labels.jsonl
  npbert classify folder test.csv --text sentence1 --text-pair sentence2"""


def add_classify_command(commands: Any) -> None:
    """Add the command to those of the parser."""
    command = add_command(
        commands, "classify", _classify, "find a label for each text", description=_DESCRIPTION, epilog=_EPILOG
    )
    add_columns(command, text="COLUMN", text_pair="COLUMN", delimiter="NAME", first_row="WHAT")


def _classify(args: argparse.Namespace) -> int:
    run = run_settings(args.folder)
    columns = columns_of(args, run, TABLE_ENDINGS)
    places, texts = _lines(args.input) if columns is None else _rows(args.input, columns)
    results = Classify.from_pretrained(model_folder(args.folder), **length_of(run))(texts)
    rows = [
        {**place, "text": text, **({"score": result} if isinstance(result, float) else result._asdict())}
        for place, text, result in zip(places, texts, results, strict=True)
    ]
    write_json_lines(rows, args.output)
    return 0


def _lines(path: str) -> tuple[list[dict[str, int]], list[Text]]:
    """A text from each line, and nothing to say of its place."""
    lines = read_lines(path)
    texts = [_pair(path, number, line) if "\t" in line else line for number, line in enumerate(lines, start=1)]
    return [{} for _ in texts], texts


def _rows(path: str, settings: TaskSettings) -> tuple[list[dict[str, int]], list[Text]]:
    """A text, or two, from the columns of each row, and in which line it ends."""
    names = [settings.text, *([settings.text_pair] if settings.text_pair else [])]
    header = settings.first_row == "header"
    rows = parse_table(read_all(path), name_of(path), names, delimiter=settings.delimiter, header=header)
    texts: list[Text] = [row.values[0] if len(names) == 1 else (row.values[0], row.values[1]) for row in rows]
    return [{"line": row.line} for row in rows], texts


def _pair(path: str, number: int, line: str) -> tuple[str, str]:
    parts = line.split("\t")
    if len(parts) != 2:
        raise FileError(
            f"{name_of(path)}, line {number}: {len(parts)} texts, wanted one, or two with a tab between them; for a "
            f"file with more columns, --text says which one to take"
        )
    return parts[0], parts[1]
