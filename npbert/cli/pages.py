"""The commands that write pages: `npbert report`, `npbert page` and `npbert site`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from npbert.cli.command import Command, argument
from npbert.cli.text import check_output, note
from npbert.gradcheck import GradientError
from npbert.inference import FillMask
from npbert.io.errors import InputError
from npbert.io.files import check_replaceable
from npbert.io.messages import LOGGER
from npbert.io.settings import setting
from npbert.pages.html import ICON
from npbert.pages.number.page import masked_sentences, vocabulary_of, write_number_page, write_page
from npbert.pages.report import COMPARISON_FILE, REPORT_FILE, write_comparison, write_report

_PAGE = "page.html"


@dataclass
class ReportCommand(Command):
    """Write one HTML file about a run of npbert pretrain or finetune: its curves, the gradient
    in each layer at each step, what the model guessed for masked words as it learned,
    where its heads look, and what it got wrong. It opens in any browser, without a network.
    A run that is still going on is shown as far as it is. Several runs are compared: their
    curves over each other, their numbers, and the settings that differ.

    examples:
      npbert report run
      npbert report run --output report.html
      npbert report run-a run-b"""

    folders: tuple[str, ...] = argument("FOLDER", "the folder of a run, or of several to compare", default=())
    output: str = setting(
        "", "the file to write (default: FOLDER/report.html, or of several runs compared.html here)", value="FILE"
    )

    def run(self) -> int:
        """Write it."""
        first, *others = self.folders
        path = self.output or (COMPARISON_FILE if others else str(Path(first) / REPORT_FILE))
        if self.output or Path(path).parent.is_dir():
            _check_page(path)
        if others:
            write_comparison(self.folders, path)
        else:
            write_report(first, self.output or None)
        note(f"{path} is written; open it in a browser")
        return 0


def _check_page(path: str) -> None:
    """Before all the work: can a page be written there, in place of nothing but an earlier page?"""
    check_output(path)
    check_replaceable(Path(path), ICON)


@dataclass
class PageCommand(Command):
    """Write a page, one HTML file for a browser, that shows a small model whole: forward and
    backward step by step, and where each number comes from. It needs no network. Without a
    folder, a model is trained for it, which takes ten seconds.

    examples:
      npbert page
      npbert page folder "how are [MASK]" "i am [MASK]"
      npbert page folder "how are [MASK]" --answer you --output page.html

    The model has to be small enough to be seen: up to 32 wide, 4 layers, 16 tokens,
    and 30,000 numbers in all. `npbert demo --size page --save toy` trains one."""

    folder: str | None = argument(
        "FOLDER",
        "the folder of a run, or of a checkpoint, of a model with a masked-LM head; without it, one that has learned "
        "a toy dialogue",
        default=None,
    )
    texts: tuple[str, ...] | None = argument(
        "TEXT",
        "a line with [MASK]; the first is shown when the page opens, the others can be chosen, and it trains on all",
        default=None,
    )
    output: str = setting("", f"the page that is written (default: {_PAGE} here, if there is none)", value="FILE")
    answer: tuple[str, ...] = setting(
        (),
        "what is right at each [MASK], in the order of the texts; without it, the model's own best guess",
        value="WORD",
    )

    def run(self) -> int:
        """Write it."""
        path = self.output or _PAGE
        if not self.output and Path(path).exists():
            raise FileExistsError(f"{path} is here already: --output {path} writes over it")
        _check_page(path)
        if self.folder is None:
            from npbert.pages.site.number import number_data  # the site's files are read for nothing else here

            write_page(number_data(), path)
        elif not self.texts:
            example = 'npbert page FOLDER "how are [MASK]"'
            raise InputError(what="texts", got="", wanted=f"a line with [MASK]: {example}")
        else:
            task = FillMask.from_pretrained(self.folder)
            examples = masked_sentences(task, self.texts, self.answer)
            write_number_page(task.model, examples, vocabulary_of(task.tokenizer), path)
        note(f"{path} is written; open it in a browser")
        return 0


@dataclass
class SiteCommand(Command):
    """Make a web site to read npbert on, with no network: the chapters of docs/, the layers
    in reading order with each forward beside its backward, and the reference. A layer's page
    shows the numbers on the tape, its last check, made now, and the bugs that the tests plant."""

    folder: str = argument("FOLDER", "where to write it: a new folder, or an earlier site")

    def run(self) -> int:
        """Write the site. Returns 0, or 1 when a derivative is wrong."""
        from npbert.pages.site import build_site  # what no other command needs

        folder = Path(self.folder)
        try:
            count = build_site(folder, processes=min(os.cpu_count() or 1, 4))
        except GradientError as error:
            LOGGER.error("no site is made while a derivative is wrong: %s", error)
            return 1
        note(f"{count} pages; begin with {folder / 'index.html'}")
        return 0
