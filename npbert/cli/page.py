"""`npbert page`: a small model as a page on which every number can be followed back."""

from __future__ import annotations

import argparse
from typing import Any

from npbert.cli.task_folder import model_folder
from npbert.cli.text import check_output
from npbert.inference import FillMask
from npbert.messages import is_quiet
from npbert.pages.number.page import write_number_page
from npbert.pages.number.sentences import masked_sentences, vocabulary_of

_DESCRIPTION = """Write a page, one HTML file for a browser, that shows a small model whole: forward and
backward step by step, and where each number comes from. It needs no network."""

_EPILOG = """examples:
  npbert page folder "how are [MASK]" "i am [MASK]" --output page.html
  npbert page folder "how are [MASK]" --answer you --output page.html

The model has to be small enough to be seen: up to 32 wide, 4 layers, 16 tokens, and
30,000 numbers in all. `python demo.py --size page --save toy` trains one."""


def add_page_command(commands: Any) -> None:
    """Add the command to those of the parser."""
    command = commands.add_parser(
        "page",
        help="a page on which each number of a small model can be followed back",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    command.add_argument("folder", metavar="FOLDER", help="the folder of a run, or of a checkpoint, of a model "
                         "with a masked-LM head")  # fmt: skip
    command.add_argument("texts", metavar="TEXT", nargs="+", help="a line with [MASK]; the first is shown when the "
                         "page opens, the others can be chosen, and it trains on all")  # fmt: skip
    command.add_argument("--output", metavar="FILE", required=True, help="the page that is written")
    command.add_argument("--answer", metavar="WORD", nargs="+", default=[], help="what is right at each [MASK], in the "
                         "order of the texts; without it, the model's own best guess")  # fmt: skip
    command.set_defaults(run=_page)


def _page(args: argparse.Namespace) -> int:
    check_output(args.output)
    task = FillMask.from_pretrained(model_folder(args.folder))
    examples = masked_sentences(task.model, task.tokenizer, args.texts, args.answer)
    write_number_page(task.model, examples, vocabulary_of(task.tokenizer), args.output)
    if not is_quiet():
        print(f"{args.output} is written; open it in a browser")
    return 0
