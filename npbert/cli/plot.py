"""`npbert plot`: a picture of attention, of gradients, of vectors or of a run."""

import argparse
from collections.abc import Callable
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from npbert.cli.parser import Parser, Run, Value
from npbert.cli.text import check_output, name_of, note, read_texts
from npbert.core import IGNORED
from npbert.data.masking import mask_words
from npbert.inference import Embed, FillMask
from npbert.io.errors import at_least
from npbert.io.files import FileError
from npbert.io.messages import counted
from npbert.plots import plot_attention, plot_curves, plot_embeddings, plot_gradient_flow, save_figure
from npbert.plots.drawing import kind_of


def add_plot_command(command: Parser) -> Run:
    """Draw a picture, as PNG, SVG or PDF: how its name ends says which.

    examples:
      npbert plot attention folder "the cat sat on the mat" --output heads.png
      npbert plot gradients folder "the cat sat on the mat" --output gradients.svg
      npbert plot embeddings folder sentences.txt --output map.png
      npbert plot curves run --output curves.pdf"""
    pictures = command.add_subparsers(
        prog="npbert plot", title="pictures", dest="picture", metavar="PICTURE", required=True, parser_class=Parser
    )
    made = {}
    for name, (_, words) in _KINDS.items():
        made[name] = pictures.add_parser(name, help=words, description=f"Draw {words}.")
        folder = "the folder of a run" if name == "curves" else "the folder of a checkpoint or of a run"
        made[name].add_argument("folder", metavar="FOLDER", help=folder)
    for name, most in (("attention", "one text, or a pair"), ("gradients", "one or more texts")):
        made[name].add_argument("text", nargs="+", metavar="TEXT", help=most)
    made["attention"].add_argument("--layers", nargs="+", type=int, metavar="N",
                                   help="these layers alone, from 1 on, or from -1 at the end")  # fmt: skip
    made["gradients"].add_argument(
        "--seed", type=Value(int, at_least(0)), default=0, metavar="N", help="which words are hidden (default: 0)"
    )
    made["embeddings"].add_argument("input", metavar="FILE", help="a text on each line; with a tab and a label after "
                                    "it, the label is drawn")  # fmt: skip
    for each in made.values():
        each.add_argument("--output", required=True, metavar="FILE", help="the picture: .png, .svg or .pdf")
        each.finish()
    return _plot


def _plot(args: argparse.Namespace) -> int:
    kind_of(args.output)
    check_output(args.output)
    draw, _ = _KINDS[args.picture]
    save_figure(draw(args), Path(args.output))
    note(f"{args.output} is written")
    return 0


def _attention(args: argparse.Namespace) -> Any:
    if len(args.text) > 2:
        raise ValueError(f"there are {len(args.text)} texts, wanted one or a pair: a text with spaces needs quotes")
    text = args.text[0] if len(args.text) == 1 else (args.text[0], args.text[1])
    return plot_attention(args.folder, text, layers=args.layers)


def _gradients(args: argparse.Namespace) -> Any:
    task, rng = FillMask.from_pretrained(args.folder), np.random.default_rng(args.seed)
    batch = task.tokenizer.batch(task.tokenize(args.text))
    batch.labels = np.full_like(batch.input_ids, IGNORED)
    for row, mask in enumerate(batch.attention_mask == 1):
        ids = batch.input_ids[row, mask]
        if not task.tokenizer.is_word[ids].any():
            raise ValueError(f"there is no word to hide in {shorten(args.text[row], 60)!r}: give a text with words")
        ids, labels = mask_words(ids.tolist(), task.tokenizer, rng)
        batch.input_ids[row, mask], batch.labels[row, mask] = ids, labels
    return plot_gradient_flow(task.model, batch)


def _embeddings(args: argparse.Namespace) -> Any:
    lines = read_texts(args.input, "columns, wanted a text, or a text and a label")
    rows = [parts for parts in lines if "".join(parts).strip()]
    if len(rows) < 2:
        raise FileError(f"{name_of(args.input)} has {counted(len(rows), 'text')}; a map needs at least 2")
    vectors = Embed.from_pretrained(args.folder)([parts[0] for parts in rows])
    return plot_embeddings(vectors, [parts[-1] for parts in rows])


_KINDS: dict[str, tuple[Callable[[argparse.Namespace], Any], str]] = {
    "attention": (_attention, "where the heads of a model look in a text, or in a pair of texts"),
    "gradients": (_gradients, "how large the gradient is in each layer, when words of a text are hidden"),
    "embeddings": (_embeddings, "the vectors of texts, on the plane in which they differ most"),
    "curves": (lambda args: plot_curves(args.folder), "the numbers of a run, by step"),
}
