"""`npbert vocab`: a vocabulary of one's own."""

import argparse
from pathlib import Path
from typing import Any

from npbert.cli.parser import Parser, Run, Value
from npbert.data.corpus import text_files
from npbert.data.learn_vocabulary import COUNT
from npbert.data.tokenizer import Tokenizer


def add_vocab_command(command: Parser) -> Run:
    """Learn a vocabulary of words and pieces of words (WordPiece) from your own text,
    and write the tokenizer that npbert and transformers read.

    examples:
      npbert vocab books --output vocabulary --size 8000
      npbert vocab one.txt two.txt --output vocabulary --cased"""
    command.add_argument("files", nargs="+", metavar="FILE", help="a file of text, in UTF-8, or a folder of .txt files")
    command.add_argument("--output", required=True, metavar="FOLDER", help="the folder to write the tokenizer into")
    count: dict[str, Any] = {"type": Value(int, COUNT), "metavar": "N"}
    command.add_argument("--size", dest="vocab_size", default=30522, **count, help="at most how many tokens to learn "
                         "(default: 30522, as many as BERT has)")  # fmt: skip
    command.add_argument("--min-frequency", default=2, **count, help="leave out pieces that occur less often than this "
                         "(default: 2)")  # fmt: skip
    command.add_argument("--cased", action="store_true", help="keep capital letters and accents, which are dropped "
                         "otherwise")  # fmt: skip
    command.add_argument("--overwrite", action="store_true", help="replace a vocabulary that is in FOLDER already")
    return _vocab


def _vocab(args: argparse.Namespace) -> int:
    folder = Path(args.output)
    if (folder / "config.json").exists():
        raise FileExistsError(f"{folder} holds a checkpoint, whose vocabulary must stay as it is")
    if not args.overwrite and any((folder / name).exists() for name in ("tokenizer.json", "vocab.txt")):
        raise FileExistsError(f"{folder} holds a vocabulary already, which models may need; --overwrite replaces it")
    options = {"vocab_size": args.vocab_size, "min_frequency": args.min_frequency, "lowercase": not args.cased}
    files = [file for path in args.files for file in text_files(Path(path))]
    tokenizer = Tokenizer.train(files, **options)
    tokenizer.save_pretrained(args.output, overwrite=args.overwrite)
    print(f"{len(tokenizer):,} tokens, from {len(files)} file{'s' * (len(files) > 1)}, in {args.output}")
    return 0
