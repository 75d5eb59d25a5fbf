"""The commands that write pages: `npbert report`, `npbert page` and `npbert site`."""

import argparse
import os
from pathlib import Path

from npbert.cli.parser import Parser, Run
from npbert.cli.text import check_output, note
from npbert.gradcheck import GradientError
from npbert.inference import FillMask
from npbert.io.messages import LOGGER
from npbert.pages.html import check_is_page
from npbert.pages.number.page import masked_sentences, vocabulary_of, write_number_page, write_page
from npbert.pages.report import COMPARISON_FILE, REPORT_FILE, write_comparison, write_report

_PAGE = "page.html"


def add_report_command(command: Parser) -> Run:
    """Write one HTML file about a run of npbert pretrain or finetune: its curves, the gradient
    in each layer at each step, what the model guessed for masked words as it learned,
    where its heads look, and what it got wrong. It opens in any browser, without a network.
    A run that is still going on is shown as far as it is. Several runs are compared: their
    curves over each other, their numbers, and the settings that differ.

    examples:
      npbert report run
      npbert report run --output report.html
      npbert report run-a run-b"""
    command.add_argument("folders", metavar="FOLDER", nargs="+", help="the folder of a run, or of several to compare")
    command.add_argument("--output", metavar="FILE", help="the file to write (default: FOLDER/report.html, or of "
                         "several runs compared.html here)")  # fmt: skip
    return _report


def _report(args: argparse.Namespace) -> int:
    if len(args.folders) > 1:
        path = args.output or COMPARISON_FILE
        check_output(path)
        write_comparison(args.folders, path)
    else:
        (folder,) = args.folders
        path = args.output or str(Path(folder) / REPORT_FILE)
        if args.output or Path(folder).is_dir():
            check_output(path)
        write_report(folder, args.output)
    note(f"{path} is written; open it in a browser")
    return 0


def add_page_command(command: Parser) -> Run:
    """Write a page, one HTML file for a browser, that shows a small model whole: forward and
    backward step by step, and where each number comes from. It needs no network. Without a
    folder, a model is trained for it, which takes ten seconds.

    examples:
      npbert page
      npbert page folder "how are [MASK]" "i am [MASK]"
      npbert page folder "how are [MASK]" --answer you --output page.html

    The model has to be small enough to be seen: up to 32 wide, 4 layers, 16 tokens, and
    30,000 numbers in all. `npbert demo --size page --save toy` trains one."""
    command.add_argument("folder", metavar="FOLDER", nargs="?", help="the folder of a run, or of a checkpoint, of a "
                         "model with a masked-LM head; without it, one that has learned a toy dialogue")  # fmt: skip
    command.add_argument("texts", metavar="TEXT", nargs="*", help="a line with [MASK]; the first is shown when the "
                         "page opens, the others can be chosen, and it trains on all")  # fmt: skip
    command.add_argument("--output", metavar="FILE", help=f"the page that is written (default: {_PAGE} here, if "
                         "there is none)")  # fmt: skip
    command.add_argument("--answer", metavar="WORD", nargs="+", default=[], help="what is right at each [MASK], in the "
                         "order of the texts; without it, the model's own best guess")  # fmt: skip
    return _page


def _page(args: argparse.Namespace) -> int:
    path = args.output or _PAGE
    if not args.output and Path(path).exists():
        raise FileExistsError(f"{path} is here already: --output {path} writes over it")
    check_output(path)
    check_is_page(path)
    if args.folder is None:
        from npbert.pages.site.number import number_data  # the site's files are read for nothing else here

        write_page(number_data(), path)
    else:
        if not args.texts:
            raise ValueError('say what the page shows, a line with [MASK]: npbert page FOLDER "how are [MASK]"')
        task = FillMask.from_pretrained(args.folder)
        examples = masked_sentences(task, args.texts, args.answer)
        write_number_page(task.model, examples, vocabulary_of(task.tokenizer), path)
    note(f"{path} is written; open it in a browser")
    return 0


def add_site_command(command: Parser) -> Run:
    """Make a web site to read npbert on, with no network: the chapters of docs/, the layers
    in reading order with each forward beside its backward, and the reference. A layer's page
    shows the numbers on the tape, its last check, made now, and the bugs that the tests plant."""
    command.add_argument(
        "folder", metavar="FOLDER", type=Path, help="where to write it: a new folder, or an earlier site"
    )
    return _site


def _site(args: argparse.Namespace) -> int:
    """Write the site. Returns 0, or 1 when a derivative is wrong."""
    from npbert.pages.site import build_site  # what no other command needs

    try:
        count = build_site(args.folder, processes=min(os.cpu_count() or 1, 4))
    except GradientError as error:
        LOGGER.error("no site is made while a derivative is wrong: %s", error)
        return 1
    note(f"{count} pages; begin with {args.folder / 'index.html'}")
    return 0
