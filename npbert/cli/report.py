"""`npbert report`: one page about a run of training."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from npbert.cli.text import check_output
from npbert.messages import is_quiet
from npbert.pages.report import write_report

_DESCRIPTION = """Write one HTML file about a run of npbert pretrain or finetune: its curves, the gradient
in each layer at each step, what the model guessed for hidden words as it learned,
where its heads look, and what it got wrong. It opens in any browser, without a network.
A run that is still going on is shown as far as it is."""

_EPILOG = """examples:
  npbert report run
  npbert report run --output report.html"""


def add_report_command(commands: Any) -> None:
    """Add the command to those of the parser."""
    command = commands.add_parser(
        "report", help="make a page of pictures of a run", description=_DESCRIPTION, epilog=_EPILOG
    )
    command.add_argument("folder", metavar="FOLDER", help="the folder of a run")
    command.add_argument("--output", metavar="FILE", help="the file to write (default: FOLDER/report.html)")
    command.set_defaults(run=_report)


def _report(args: argparse.Namespace) -> int:
    path = args.output or str(Path(args.folder) / "report.html")
    if args.output or Path(args.folder).is_dir():
        check_output(path)
    write_report(args.folder, path)
    if not is_quiet():
        print(f"{path} is written; open it in a browser")
    return 0
