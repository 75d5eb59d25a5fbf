"""The command that makes the reading site."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from npbert.gradcheck import GradientError
from npbert.messages import LOGGER, is_quiet

_DESCRIPTION = """Make a web site to read npbert on, with no network: the chapters of docs/, the source
in reading order with each backward beside the forward that it undoes, and the reference.
Beside each backward stand its last check, made now, and the bugs that the tests plant."""


def add_site_command(commands: Any) -> None:
    """Add `npbert site` to the commands."""
    command = commands.add_parser("site", help="make a web site to read npbert on", description=_DESCRIPTION)
    command.add_argument(
        "folder", metavar="FOLDER", type=Path, help="where to write it: a new folder, or an earlier site"
    )
    command.set_defaults(run=_site)


def _site(args: argparse.Namespace) -> int:
    """Write the site. Returns 0, or 1 when a derivative is wrong."""
    from npbert.pages.site import build_site  # what no other command needs

    try:
        count = build_site(args.folder, processes=min(os.cpu_count() or 1, 4))
    except GradientError as error:
        LOGGER.error("no site is made while a derivative is wrong: %s", error)
        return 1
    if not is_quiet():
        print(f"{count} pages; begin with {args.folder / 'index.html'}")
    return 0
