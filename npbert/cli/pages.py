"""The commands that write pages: `npbert report`, `npbert page` and `npbert site`."""

from __future__ import annotations

from pathlib import Path

from npbert.cli.command import Command, argument
from npbert.inference import FillMask
from npbert.io import InputError, check_writable, note, setting
from npbert.pages import export, write_number_page
from npbert.pages.html import ICON
from npbert.pages.number.export import masked_sentences
from npbert.pages.report.page import write_report

_PAGE = "page.html"


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
        path = self.output or _PAGE
        if not self.output and Path(path).exists():
            raise FileExistsError(f"{path} already exists; to replace it, give --output {path}")
        check_writable(Path(path), ICON)
        if self.folder is None:
            from npbert.pages.site.build import number_data  # imported here, as it reads the site's files

            data = number_data()
        elif not self.texts:
            example = 'npbert page FOLDER "how are [MASK]"'
            raise InputError("texts", "", f"a line with [MASK]: {example}")
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
        from npbert.pages.site.build import build_site  # imported here, as only this command needs it

        folder = Path(self.folder)
        note(f"{build_site(folder)} pages written; open {folder / 'index.html'}")
