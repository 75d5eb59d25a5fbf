"""`npbert examples`: small files to try every command on, made from the toy dialogue."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from npbert.cli.command import Command, argument
from npbert.cli.log import note
from npbert.data import DIALOGUES

KNOWN, HELD_OUT = ("Romeo", "Juliet", "Ada", "Alan", "Grace", "Kurt"), ("Emmy", "Leonhard", "Sofia")
"""The speakers' names in the training and the held-out dialogues."""


@dataclass
class ExamplesCommand(Command):
    """Write small files to try the commands on. For npbert vocab and pretrain: books, a folder of text, and
    held-out.txt. For npbert finetune: train.tsv and dev.tsv, with a label and a text on each line. For the others:
    sentences.txt.

    examples:
      npbert examples .
      npbert vocab books --output vocabulary --size 200"""

    folder: str = argument("FOLDER", "where to write them; existing files stay unchanged")

    def run(self) -> int:
        """Write the files that do not exist yet."""
        folder = Path(self.folder)
        for name, lines in example_files().items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_text("\n".join([*lines, ""]), encoding="utf-8")
            note(str(path))
        return 0


def example_files() -> dict[str, list[str]]:
    """Return the lines of each file."""
    books: dict[str, list[str]] = {"one": [], "two": [], "held-out": []}
    labelled: dict[str, list[str]] = {"train": [], "dev": []}
    for names in (KNOWN, HELD_OUT):
        for number, (first, second) in enumerate(permutations(names, 2)):
            book = books["held-out" if names is HELD_OUT else ("one", "two")[number % 2]]
            for line in DIALOGUES[9]:
                spoken = line.replace("Romeo", first).replace("Juliet", second)
                book += re.split("(?<=[.?!]) +", spoken)  # a sentence a line, and a blank line after each dialogue
                row = f"{'question' if '?' in spoken else 'statement'}\t{spoken}"
                if row not in labelled["train"] + labelled["dev"]:
                    labelled["train" if names is KNOWN else "dev"].append(row)
            book.append("")
    return {
        "books/one.txt": books["one"],
        "books/two.txt": books["two"],
        "held-out.txt": books["held-out"],
        "train.tsv": labelled["train"],
        "dev.tsv": labelled["dev"],
        "sentences.txt": list(DIALOGUES[9]),
    }
