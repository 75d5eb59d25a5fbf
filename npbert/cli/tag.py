"""`npbert tag`: a tag for each word, and the entities that the tags make."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from npbert.cli.checkpoint_command import add_command
from npbert.cli.task_folder import add_columns, columns_of, length_of, model_folder, run_settings
from npbert.cli.text import name_of, read_all, read_lines, write_json_lines
from npbert.data.conll import column_number, parse_conll
from npbert.inference import Tag

_DESCRIPTION = """Find a tag for each word of each text, and the names that the tags make (of people and
places, say). FOLDER is that of a checkpoint, or of a run of npbert finetune --task tagging.

The file has a text on each line, which is split into words at spaces and punctuation. A
file with a word on each line (CoNLL) is read when its name ends in .conll, or when you say
in which column the words are. The answer to each text is a line of JSON."""

_EPILOG = """examples:
  echo "Ada Lovelace was born in London." | npbert tag run
  npbert tag run sentences.txt --output tags.jsonl
  npbert tag folder test.conll --text 0"""


def add_tag_command(commands: Any) -> None:
    """Add the command to those of the parser."""
    command = add_command(
        commands, "tag", _tag, "find a tag for each word, and names", description=_DESCRIPTION, epilog=_EPILOG
    )
    command.add_argument("--words", action="store_true", help="split lines at spaces alone: they are words already")
    add_columns(command, text="COLUMN")


def _tag(args: argparse.Namespace) -> int:
    run = run_settings(args.folder)
    columns = columns_of(args, run, (".conll",))
    places: list[dict[str, int]] = []
    texts: Sequence[str | list[str]]
    if columns is not None or args.input.endswith(".conll"):
        word_column = column_number("text", columns.text if columns else "0")
        sentences = parse_conll(read_all(args.input), name_of(args.input), word_column=word_column, tag_column=None)
        places, texts = [{"line": sentence.line} for sentence in sentences], [sentence.words for sentence in sentences]
    else:
        lines = read_lines(args.input)
        places, texts = [{} for _ in lines], [line.split() for line in lines] if args.words else lines
    results = Tag.from_pretrained(model_folder(args.folder), **length_of(run))(texts)
    rows = [
        {
            **place,
            "text": text if isinstance(text, str) else " ".join(text),
            "words": [word._asdict() for word in result.words],
            "entities": [entity._asdict() for entity in result.entities],
            **({"words_cut_off": result.cut} if result.cut else {}),
        }
        for place, text, result in zip(places, texts, results, strict=True)
    ]
    write_json_lines(rows, args.output)
    return 0
