"""`npbert embed`: a vector for each line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from npbert.cli.checkpoint_command import add_command
from npbert.cli.task_folder import model_folder
from npbert.cli.text import read_lines, write_array, write_json_lines
from npbert.inference import POOLINGS, Embed

_DESCRIPTION = """Turn each text into a vector; texts that mean similar things get similar
vectors. The file has a text on each line; the answer to each is a line of
JSON, or a row of a NumPy array with --output NAME.npy.

The folder of a sentence-transformers model has a modules.json, which says how
its vectors are made; options on the command line override it."""

_EPILOG = """examples:
  npbert embed folder sentences.txt --output vectors.npy
  echo "A cat sat on the mat." | npbert embed folder --pooling cls
To find the texts that are most similar to another: npbert search --help"""


def add_embed_command(commands: Any) -> None:
    """Add the command to those of the parser."""
    command = add_command(
        commands, "embed", _embed, "turn each text into a vector", description=_DESCRIPTION, epilog=_EPILOG
    )
    add_embed_options(command)


def add_embed_options(command: argparse.ArgumentParser) -> None:
    """The options that say how vectors are made."""
    command.add_argument("--pooling", choices=POOLINGS, metavar="HOW", help="what makes one vector of those of all "
                         f"tokens: {', '.join(POOLINGS)} (default: what the folder says, or mean)")  # fmt: skip
    command.add_argument("--layer", type=int, metavar="N", help="which hidden state to pool: 0 to L, or counted from "
                         "the end (default: -1, the last)")  # fmt: skip
    command.add_argument("--normalize", action=argparse.BooleanOptionalAction, help="whether to make every vector of "
                         "length 1 (default: what the folder says, or not)")  # fmt: skip
    command.add_argument("--max-length", type=int, metavar="N", help="how many tokens of a text to read (default: what "
                         "the folder says, or all that the model takes)")  # fmt: skip
    command.add_argument("--batch-size", type=int, metavar="N", help="how many texts go through the model at once, at "
                         "most (default: as many as make 2048 tokens)")  # fmt: skip


def read_embed(args: argparse.Namespace) -> Embed:
    """The model in the folder, used as the options say.

    Raises: as Embed.from_pretrained.
    """
    names = ("pooling", "layer", "normalize", "max_length")
    return Embed.from_pretrained(model_folder(args.folder), **{name: getattr(args, name) for name in names})


def _embed(args: argparse.Namespace) -> int:
    if args.output and Path(args.output).suffix in (".npz", ".NPY", ".NPZ"):
        raise ValueError(f"--output is {args.output}, wanted a name ending in .npy for an array, or .jsonl")
    texts = read_lines(args.input)
    vectors = read_embed(args)(texts, batch_size=args.batch_size)
    if args.output and args.output.endswith(".npy"):
        write_array(vectors, args.output)
    else:
        rows = ({"text": text, "vector": vector.tolist()} for text, vector in zip(texts, vectors, strict=True))
        write_json_lines(rows, args.output)
    return 0
