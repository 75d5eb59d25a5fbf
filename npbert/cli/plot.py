"""`npbert plot`: draws attention, gradients, vectors or a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from npbert.cli.command import Command, argument, subcommands
from npbert.data import IS_NEXT, Example, collate, mask_words
from npbert.inference import Embed, FillMask
from npbert.io import Wanted, at_least, note, read_texts, setting
from npbert.plots import plot_attention, plot_curves, plot_embeddings, plot_gradient_flow, save_figure
from npbert.plots.drawing import PICTURE_NAME

_WHOLE_NUMBERS = Wanted("whole numbers", lambda texts: all(text.lstrip("-").isdecimal() for text in texts))


class PlotCommand(Command):
    """Draw a picture, as PNG, SVG or PDF by the ending of its name.

    examples:
      npbert plot attention folder "the cat sat on the mat" --output heads.png
      npbert plot gradients folder "the cat sat on the mat" --output gradients.svg
      npbert plot embeddings folder sentences.txt --output map.png
      npbert plot curves run --output curves.pdf"""

    commands = subcommands("""
        attention   plot:AttentionPicture   the attention of each head, for a text or a pair of texts
        gradients   plot:GradientsPicture   the size of the gradient in each layer, with words masked
        embeddings  plot:EmbeddingsPicture  the vectors of texts, on the plane of their largest variance
        curves      plot:CurvesPicture      the metrics of a run, by step
    """)


class Picture(Command):
    """Base class of a picture of a folder's model or run."""

    folder: str = argument("FOLDER", "the folder of a checkpoint or of a run")
    output: str = setting(
        "",
        "the file to write: .png, .svg or .pdf",
        value="FILE",
        wanted=PICTURE_NAME,
    )

    def draw(self) -> Any:
        """The figure."""
        raise NotImplementedError

    def run(self) -> None:
        """Write it."""
        save_figure(self.draw(), Path(self.output))
        note(f"{self.output} written")


class AttentionPicture(Picture):
    """Draw the attention of each head, for a text or a pair of texts."""

    text: tuple[str, ...] = argument(
        "TEXT", "one text, or a pair", default=(), wanted=Wanted("one text or a pair", lambda text: 0 < len(text) < 3)
    )
    layers: tuple[str, ...] = setting(
        (), "only these layers, counted from 1, or from -1 at the end", value="N", wanted=_WHOLE_NUMBERS
    )

    def draw(self) -> Any:
        """The figure."""
        text: Any = self.text[0] if len(self.text) == 1 else self.text
        return plot_attention(self.folder, text, layers=[int(layer) for layer in self.layers] or None)


class GradientsPicture(Picture):
    """Draw the size of the gradient in each layer, with words of a text masked."""

    text: tuple[str, ...] = argument("TEXT", "one or more texts", default=())
    seed: int = setting(0, "the same seed masks the same words", wanted=at_least(0))

    def draw(self) -> Any:
        """The figure."""
        task, rng = FillMask.from_pretrained(self.folder), np.random.default_rng(self.seed)
        examples = []
        for text in task.tokenize(self.text):
            ids, labels = mask_words(text.ids.tolist(), task.tokenizer, rng)
            examples.append(Example(ids, text.type_ids.tolist(), labels, IS_NEXT))
        return plot_gradient_flow(task.model, collate(examples, pad_id=task.tokenizer.pad_id))


class EmbeddingsPicture(Picture):
    """Draw the vectors of texts, on the plane of their largest variance."""

    input: str = argument("FILE", "a text on each line, perhaps with a tab and a label to draw")

    def draw(self) -> Any:
        """The figure."""
        lines = read_texts(self.input, "columns, wanted a text, or a text and a label")
        rows = [parts for parts in lines if "".join(parts).strip()]
        vectors = Embed.from_pretrained(self.folder)([parts[0] for parts in rows])
        return plot_embeddings(vectors, [parts[-1] for parts in rows])


class CurvesPicture(Picture):
    """Draw the metrics of a run, by step."""

    def draw(self) -> Any:
        """The figure."""
        return plot_curves(self.folder)
