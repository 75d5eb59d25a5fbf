"""Ctrl-C while training: the step in progress is finished first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interrupt:
    """`asked` becomes True when somebody wants the process to stop."""

    asked = False


@contextmanager
def stop_when_asked() -> Iterator[Interrupt]:
    """While it lasts, the first SIGINT (Ctrl-C) or SIGTERM only sets `asked`; the second acts as ever.

    Outside the main thread, where Python takes no signals, nothing is set.
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask(number: int, _: Any) -> None:
        interrupt.asked = True
        signal.signal(number, before[signal.Signals(number)])

    try:
        for number in before:
            signal.signal(number, ask)
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
