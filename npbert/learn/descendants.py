"""descendants: all that a process has started, whatever session it is in; so that nothing of it is left."""

import contextlib
import ctypes
import os
import signal
import sys
import time
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_MOST_TRIES, _SECONDS = 100, 0.01


def adopts_orphans() -> bool:
    """Make this process the parent of all that its own have started and left behind. False where that cannot be."""
    return sys.platform == "linux" and ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def descendants(pid: int) -> dict[int, int]:
    """The processes that descend from this one, and the bytes of memory that each holds. {} where /proc is not."""
    parents, held = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            child = int(stat.parent.name)
            parents[child], held[child] = int(fields[1]), int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    found: dict[int, int] = {}
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        children = [child for child, its_parent in parents.items() if its_parent == parent and child not in found]
        found |= {child: held[child] for child in children}
        waiting += children
    return found


def end_all(pid: int) -> None:
    """End all that descend from a process, and not the process itself."""
    for _ in range(_MOST_TRIES):  # what is ended may have started another
        running = [child for child, memory in descendants(pid).items() if memory]  # what has ended holds none
        if not running:
            return
        for child in running:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
        time.sleep(_SECONDS)
