"""`npbert vocab`: a vocabulary of one's own."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from npbert.data.corpus import text_files
from npbert.data.tokenizer import Tokenizer


def add_vocab_command(commands: Any) -> None:
    """Add the command to those of the parser."""
    vocab = commands.add_parser("vocab", help="learn a WordPiece vocabulary from text files")
    vocab.add_argument("files", nargs="+", metavar="file", help="a file of text, in UTF-8, or a folder of .txt files")
    vocab.add_argument("--output", required=True, metavar="FOLDER", help="where to write the tokenizer")
    vocab.add_argument("--size", type=int, default=30522, metavar="V", help="at most how many tokens (30522)")
    vocab.add_argument("--min-frequency", type=int, default=2, metavar="N", help="how often a piece must occur (2)")
    vocab.add_argument("--cased", action="store_true", help="keep capital letters and accents")
    vocab.set_defaults(run=_vocab)


def _vocab(args: argparse.Namespace) -> int:
    if (Path(args.output) / "config.json").exists():
        raise FileExistsError(f"{args.output} holds a checkpoint, whose vocabulary must stay as it is")
    options = {"vocab_size": args.size, "min_frequency": args.min_frequency, "lowercase": not args.cased}
    files = [file for path in args.files for file in text_files(Path(path))]
    tokenizer = Tokenizer.train(files, **options)
    tokenizer.save_pretrained(args.output)
    print(f"{len(tokenizer):,} tokens, from {len(files)} file{'s' * (len(files) > 1)}, in {args.output}")
    return 0
