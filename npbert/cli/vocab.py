"""What a first run needs. `npbert examples`: small files to try every command on, made from the toy dialogue with other
names in it. `npbert vocab`: a vocabulary learned from text."""

from __future__ import annotations

from pathlib import Path

from npbert.cli.command import Command, argument, switch
from npbert.data import COUNT, Tokenizer, text_files
from npbert.io import Wanted, counted, note, read_text, setting, write_text

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
            if not path.exists():
                write_text(path, read_text(source))
            note(str(path))


class VocabCommand(Command):
    """Learn a WordPiece vocabulary, of words and pieces of words, from your text. npbert and transformers read the
    tokenizer.

    examples:
      npbert vocab books --output vocabulary --size 8000
      npbert vocab one.txt two.txt --output vocabulary --cased"""

    files: tuple[str, ...] = argument("FILE", "a file of text, in UTF-8, or a folder of .txt files", default=())
    output: str = setting("", "the folder to write the tokenizer into", value="FOLDER", wanted=Wanted("a folder", bool))
    size: int = setting(30522, "at most this many tokens; the default is BERT's", wanted=COUNT)
    min_frequency: int = setting(2, "leave out pieces that are rarer than this", wanted=COUNT)
    cased: bool = switch("keep capital letters and accents")
    overwrite: bool = switch("replace a vocabulary in FOLDER")

    def run(self) -> None:
        """Write the tokenizer."""
        folder = Path(self.output)
        if (folder / "config.json").exists():
            raise FileExistsError(f"{folder} has a checkpoint, which needs its vocabulary; choose another folder")
        if not self.overwrite and any((folder / name).exists() for name in ("tokenizer.json", "vocab.txt")):
            raise FileExistsError(
                f"{folder} already has a vocabulary, which models may need; to replace it, give --overwrite"
            )
        files = [file for path in self.files for file in text_files(Path(path))]
        tokenizer = Tokenizer.train(
            files, vocab_size=self.size, min_frequency=self.min_frequency, lowercase=not self.cased
        )
        tokenizer.save_pretrained(self.output, overwrite=self.overwrite)
        print(f"{len(tokenizer):,} tokens, from {counted(len(files), 'file')}, in {self.output}")
