"""`npbert embed`: a vector for each line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from npbert.cli.checkpoint_command import add_command
from npbert.cli.text import read_lines, write_array, write_json_lines
from npbert.inference import POOLINGS, Embed


def add_embed_command(commands: Any) -> None:
    """Add the command to those of the parser."""
    command = add_command(commands, "embed", _embed, "a vector for each line; --output ending in .npy makes an array")
    command.add_argument("--pooling", choices=POOLINGS, default="mean", help="what makes one vector of many (mean)")
    command.add_argument("--layer", type=int, default=-1, help="which hidden state, 0 to L, or from the end (-1)")
    command.add_argument("--normalize", action="store_true", help="make every vector of length 1")


def _embed(args: argparse.Namespace) -> int:
    if args.output and Path(args.output).suffix in (".npz", ".NPY", ".NPZ"):
        raise ValueError(f"--output is {args.output}, wanted a name ending in .npy for an array, or .jsonl")
    texts = read_lines(args.input)
    options = {"pooling": args.pooling, "layer": args.layer, "normalize": args.normalize}
    vectors = Embed.from_pretrained(args.folder, **options)(texts)
    if args.output and args.output.endswith(".npy"):
        write_array(vectors, args.output)
    else:
        rows = ({"text": text, "vector": vector.tolist()} for text, vector in zip(texts, vectors, strict=True))
        write_json_lines(rows, args.output)
    return 0
