"""The commands that draw: `npbert plot`, and `npbert report`, `page` and `site`, each of which imports its page's
writer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from npbert.cli.command import Command, argument, subcommands
from npbert.data import IS_NEXT, Example, collate, mask_words
from npbert.inference import Embed, FillMask
from npbert.io import InputError, Wanted, at_least, check_writable, note, read_texts, setting
from npbert.plots import plot_attention, plot_curves, plot_embeddings, plot_gradient_flow, save_figure
from npbert.plots.drawing import PICTURE_NAME

_PAGE = "page.html"
_WHOLE_NUMBERS = Wanted("whole numbers", lambda texts: all(text.lstrip("-").isdecimal() for text in texts))


class PlotCommand(Command):
    """Draw a picture, as PNG, SVG or PDF by the ending of its name.

    examples:
      npbert plot attention folder "the cat sat on the mat" --output heads.png
      npbert plot gradients folder "the cat sat on the mat" --output gradients.svg
      npbert plot embeddings folder sentences.txt --output map.png
      npbert plot curves run --output curves.pdf"""

    commands = subcommands("""
        attention   pages:AttentionPicture   the attention of each head, for a text or a pair of texts
        gradients   pages:GradientsPicture   the size of the gradient in each layer, with words masked
        embeddings  pages:EmbeddingsPicture  the vectors of texts, on the plane of their largest variance
        curves      pages:CurvesPicture      the metrics of a run, by step
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


class ReportCommand(Command):
    """Write one HTML file about a run of npbert pretrain or finetune: its curves, the gradient of each layer, sample
    predictions during training, attention, and mistakes. It opens in any browser, without a network, also while the run
    goes on. For several runs, the page compares their curves, numbers and settings.

    examples:
      npbert report run
      npbert report run --output report.html
      npbert report run-a run-b"""

    folders: tuple[str, ...] = argument("FOLDER", "the folder of a run, or the folders of runs to compare", default=())
    output: str = setting(
        "", "the file to write (default: FOLDER/report.html, or for several runs ./compared.html)", value="FILE"
    )

    def run(self) -> None:
        """Write it."""
        from npbert.pages.report.page import write_report

        place = write_report(*self.folders, path=self.output)
        note(f"{place} written; open it in a browser")


class PageCommand(Command):
    """Write one HTML file that shows a small model whole: forward and backward, step by step, with the origin of each
    number. It opens in any browser, without a network. Without FOLDER, a model is trained for it in ten seconds.

    examples:
      npbert page
      npbert page folder "how are [MASK]" "i am [MASK]"
      npbert page folder "how are [MASK]" --answer you --output page.html

    The page has room for a width of 32, 4 layers, 16 tokens, and 30,000 parameters.
    `npbert demo --size page --save toy` trains such a model."""

    folder: str | None = argument(
        "FOLDER",
        "the folder of a run or checkpoint with a masked-LM head (default: a model trained on a toy dialogue)",
        default=None,
    )
    texts: tuple[str, ...] | None = argument(
        "TEXT",
        "a line with [MASK]; the page opens with the first, offers the others, and trains on all",
        default=None,
    )
    output: str = setting("", f"the file to write (default: a new ./{_PAGE})", value="FILE")
    answer: tuple[str, ...] = setting(
        (),
        "the right word for each [MASK], in the order of the texts (default: the model's best guess)",
        value="WORD",
    )

    def run(self) -> None:
        """Write it."""
        from npbert.pages.html import ICON
        from npbert.pages.number.export import export, masked_sentences
        from npbert.pages.number.page import write_number_page

        path = self.output or _PAGE
        if not self.output and Path(path).exists():
            raise FileExistsError(f"{path} already exists; to replace it, give --output {path}")
        check_writable(Path(path), ICON)
        if self.folder is None:
            from npbert.pages.site.build import number_data

            data = number_data()
        elif not self.texts:
            raise InputError("texts", "", 'a line with [MASK]: npbert page FOLDER "how are [MASK]"')
        else:
            task = FillMask.from_pretrained(self.folder)
            examples = masked_sentences(task, self.texts, self.answer)
            data = export(task.model, examples, task.tokenizer.tokens) | {"is_guessed": not self.answer}
        write_number_page(data, path)
        note(f"{path} written; open it in a browser")


class SiteCommand(Command):
    """Build a web site that needs no network: the chapters of docs/, the layers in reading order with forward next to
    backward, and the API reference. A layer's page also shows its tape, its gradient check, and the bugs that the tests
    plant."""

    folder: str = argument("FOLDER", "the folder to write: a new one, or an earlier site")

    def run(self) -> None:
        """Write the site. Raises: ValueError if a derivative is wrong."""
        from npbert.pages.site.build import build_site

        folder = Path(self.folder)
        note(f"{build_site(folder)} pages written; open {folder / 'index.html'}")
