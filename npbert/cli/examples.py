"""`npbert examples`: small files to try every command on, made from the toy dialogue."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from npbert.cli.command import Command, argument
from npbert.cli.text import note
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
    known, held_out = ([_spoken_by(*names) for names in permutations(group, 2)] for group in (KNOWN, HELD_OUT))
    return {
        "books/one.txt": _sentences(known[::2]),
        "books/two.txt": _sentences(known[1::2]),
        "held-out.txt": _sentences(held_out),
        "train.tsv": _labelled(known),
        "dev.tsv": [row for row in _labelled(held_out) if row not in _labelled(known)],
        "sentences.txt": list(DIALOGUES[9]),
    }


def _spoken_by(first: str, second: str) -> list[str]:
    return [line.replace("Romeo", first).replace("Juliet", second) for line in DIALOGUES[9]]


def _sentences(dialogues: list[list[str]]) -> list[str]:
    """Return a sentence a line, and a blank line after each dialogue."""
    text = "".join(f"{line}\n" for lines in dialogues for line in [*lines, ""])
    return re.sub("(?<=[.?!]) +", "\n", text).splitlines()


def _labelled(dialogues: list[list[str]]) -> list[str]:
    """Return each line once, after its label: question or statement."""
    lines = dict.fromkeys(line for lines in dialogues for line in lines)
    return [f"{'question' if '?' in line else 'statement'}\t{line}" for line in lines]
