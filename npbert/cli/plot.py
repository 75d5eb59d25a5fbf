"""`npbert plot`: a picture of attention, of gradients, of vectors or of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any, ClassVar

import numpy as np

from npbert.cli.command import Command, argument
from npbert.cli.text import check_output, name_of, note, read_texts
from npbert.core import IGNORED
from npbert.data.masking import mask_words
from npbert.inference import Embed, FillMask
from npbert.io.errors import Wanted, at_least
from npbert.io.files import FileError
from npbert.io.messages import counted
from npbert.io.settings import setting
from npbert.plots import plot_attention, plot_curves, plot_embeddings, plot_gradient_flow, save_figure
from npbert.plots.drawing import kind_of

_WHOLE_NUMBERS = Wanted("whole numbers", lambda texts: all(text.lstrip("-").isdecimal() for text in texts))
PICTURES = {
    "attention": ("plot.AttentionPicture", "", "where the heads of a model look in a text, or in a pair of texts"),
    "gradients": ("plot.GradientsPicture", "", "how large the gradient is in each layer, when words are hidden"),
    "embeddings": ("plot.EmbeddingsPicture", "", "the vectors of texts, on the plane in which they differ most"),
    "curves": ("plot.CurvesPicture", "", "the numbers of a run, by step"),
}


@dataclass
class PlotCommand(Command):
    """Draw a picture, as PNG, SVG or PDF: how its name ends says which.

    examples:
      npbert plot attention folder "the cat sat on the mat" --output heads.png
      npbert plot gradients folder "the cat sat on the mat" --output gradients.svg
      npbert plot embeddings folder sentences.txt --output map.png
      npbert plot curves run --output curves.pdf"""

    commands: ClassVar = PICTURES
    below: ClassVar = "picture"


@dataclass
class Picture(Command):
    """A picture of what is in a folder."""

    folder: str = argument("FOLDER", "the folder of a checkpoint or of a run")
    output: str = setting(
        "",
        "the picture: .png, .svg or .pdf",
        value="FILE",
        wanted=Wanted("a name that ends in .png, .svg or .pdf", bool),
    )

    def draw(self) -> Any:
        """The figure."""
        raise NotImplementedError

    def run(self) -> int:
        """Write it."""
        kind_of(self.output)
        check_output(self.output)
        save_figure(self.draw(), Path(self.output))
        note(f"{self.output} is written")
        return 0


@dataclass
class AttentionPicture(Picture):
    """Draw where the heads of a model look in a text, or in a pair of texts."""

    text: tuple[str, ...] = argument("TEXT", "one text, or a pair", default=())
    layers: tuple[str, ...] = setting(
        (), "these layers alone, from 1 on, or from -1 at the end", value="N", wanted=_WHOLE_NUMBERS
    )

    def draw(self) -> Any:
        """The figure."""
        if len(self.text) > 2:
            raise ValueError(f"there are {len(self.text)} texts, wanted one or a pair: a text with spaces needs quotes")
        text = self.text[0] if len(self.text) == 1 else (self.text[0], self.text[1])
        return plot_attention(self.folder, text, layers=[int(layer) for layer in self.layers] or None)


@dataclass
class GradientsPicture(Picture):
    """Draw how large the gradient is in each layer, when words of a text are hidden."""

    text: tuple[str, ...] = argument("TEXT", "one or more texts", default=())
    seed: int = setting(0, "which words are hidden", wanted=at_least(0))

    def draw(self) -> Any:
        """The figure."""
        task, rng = FillMask.from_pretrained(self.folder), np.random.default_rng(self.seed)
        batch = task.tokenizer.batch(task.tokenize(self.text))
        batch.labels = np.full_like(batch.input_ids, IGNORED)
        for row, mask in enumerate(batch.attention_mask == 1):
            ids = batch.input_ids[row, mask]
            if not task.tokenizer.is_word[ids].any():
                raise ValueError(f"there is no word to hide in {shorten(self.text[row], 60)!r}: give a text with words")
            ids, labels = mask_words(ids.tolist(), task.tokenizer, rng)
            batch.input_ids[row, mask], batch.labels[row, mask] = ids, labels
        return plot_gradient_flow(task.model, batch)


@dataclass
class EmbeddingsPicture(Picture):
    """Draw the vectors of texts, on the plane in which they differ most."""

    input: str = argument("FILE", "a text on each line; with a tab and a label after it, the label is drawn")

    def draw(self) -> Any:
        """The figure."""
        lines = read_texts(self.input, "columns, wanted a text, or a text and a label")
        rows = [parts for parts in lines if "".join(parts).strip()]
        if len(rows) < 2:
            raise FileError(f"{name_of(self.input)} has {counted(len(rows), 'text')}; a map needs at least 2")
        vectors = Embed.from_pretrained(self.folder)([parts[0] for parts in rows])
        return plot_embeddings(vectors, [parts[-1] for parts in rows])


@dataclass
class CurvesPicture(Picture):
    """Draw the numbers of a run, by step."""

    def draw(self) -> Any:
        """The figure."""
        return plot_curves(self.folder)
