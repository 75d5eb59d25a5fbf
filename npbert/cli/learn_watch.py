"""`npbert learn check --watch`: checks an answer whenever its file is saved."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from npbert.io import counted
from npbert.learn import Exercise

_POLL = 0.2  # seconds between two looks at the files


def watch(chosen: list[tuple[Exercise, Path]], show: Callable[[Exercise, Path], None]) -> NoReturn:
    """Show the answer for one file now, and for each file when it is saved, until Ctrl-C."""
    known = {path: _stamp(path) for _, path in chosen}
    files = f"{counted(len(chosen), 'file')} in {chosen[0][1].parent}/"
    print(f"Watching {files}. Each is checked when you save it. Stop with Ctrl-C.", flush=True)
    if len(chosen) == 1:
        print()
        show(*chosen[0])
    while True:
        for exercise, path in chosen:
            stamp = _stamp(path)
            if stamp is not None and stamp != known[path]:
                known[path] = stamp
                print(f"\n{time.strftime('%H:%M:%S')}", flush=True)
                show(exercise, path)
        time.sleep(_POLL)


def _stamp(path: Path) -> tuple[int, int] | None:
    """Return a value that changes when the file is saved; None while it is missing, as some editors delete it first."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
