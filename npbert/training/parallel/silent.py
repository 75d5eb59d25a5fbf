"""Silence: of several processes, the first writes and speaks, and the others do neither."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from npbert.messages import LOGGER


class Silent:
    """In place of a log or a bar: takes any call, and does nothing."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_, **__: None

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


SILENT: Any = Silent()


@contextmanager
def in_silence() -> Iterator[None]:
    """While it lasts, nothing is printed and no warning shown; an error still is."""
    level = LOGGER.level
    LOGGER.setLevel(logging.ERROR)
    try:
        with Path(os.devnull).open("w", encoding="utf-8", errors="replace") as nowhere, redirect_stdout(nowhere):
            yield
    finally:
        LOGGER.setLevel(level)
