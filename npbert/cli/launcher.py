"""Under a launcher of several processes, as mpiexec is: only training is shared, and one process speaks for all."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from npbert.training.parallel import launched, launched_rank

SHARED = ("pretrain", "finetune")


def speaks() -> bool:
    """Whether this is the process that says what is the same for all: the first, or the only one."""
    return launched() == 1 or launched_rank() == 0


@contextmanager
def said_once() -> Iterator[None]:
    """While it lasts, only the process that speaks prints anything."""
    if speaks():
        yield
        return
    with (
        Path(os.devnull).open("w", encoding="utf-8", errors="replace") as nowhere,
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
    ):
        yield


def check_shared(parser: ArgumentParser, command: str | None) -> None:
    """Every process would do all of a command that shares no work, and write the same files.

    Raises: SystemExit, with status 2, after saying so.
    """
    count = launched()
    if count > 1 and command not in SHARED:
        name = f"npbert {command}" if command else "npbert"
        parser.exit(
            2,
            f"npbert: error: {count} processes were started, and only {' and '.join(SHARED)} share their work: start "
            f"{name} as one process\n",
        )
