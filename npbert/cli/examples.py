"""`npbert examples`: small files to try every command on, made from the toy dialogue with other names in it."""

from __future__ import annotations

from pathlib import Path

from npbert.cli.command import Command, argument
from npbert.cli.log import note

SOURCE = Path(__file__).with_name("example_files")


class ExamplesCommand(Command):
    """Write small files to try the commands on. For npbert vocab and pretrain: books, a folder of text, and
    held-out.txt. For npbert finetune: train.tsv and dev.tsv, with a label and a text on each line. For the others:
    sentences.txt.

    examples:
      npbert examples .
      npbert vocab books --output vocabulary --size 200"""

    folder: str = argument("FOLDER", "where to write them; existing files stay unchanged")

    def run(self) -> None:
        """Write the files that do not exist yet."""
        for source in sorted(SOURCE.rglob("*.t*")):
            path = Path(self.folder, source.relative_to(SOURCE))
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_bytes(source.read_bytes())
            note(str(path))
