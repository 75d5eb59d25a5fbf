"""`npbert learn check --watch`: checks an answer whenever its file is saved."""

import time
from pathlib import Path
from typing import NoReturn

from npbert.learn import Exercise, check, printing

_POLL = 0.2  # seconds between two looks at the files


def watch(chosen: list[tuple[Exercise, Path]], option: str, mends: bool) -> NoReturn:
    """Check one file now, and each file when it is saved, until Ctrl-C."""
    before = {path: _stamp(path) for _, path in chosen}
    exercise, path = chosen[0]
    if len(chosen) > 1:
        files = f"{len(chosen)} files in {path.parent}/"
        print(f"Watching {files}. Each is checked when you save it. Stop with Ctrl-C.", flush=True)
    else:
        print(f"Watching {path}. It is checked now and whenever you save it. Stop with Ctrl-C.", flush=True)
        _check(exercise, path, option, mends)
    answered = dict(before)
    while True:
        for exercise, path in chosen:
            stamp = _stamp(path)
            if stamp is not None and stamp == before[path] != answered[path]:  # an editor may write it in several steps
                answered[path] = stamp
                print(f"\n{time.strftime('%H:%M:%S')}", end="", flush=True)
                _check(exercise, path, option, mends)
            before[path] = stamp
        time.sleep(_POLL)


def _check(exercise: Exercise, path: Path, option: str, mends: bool) -> None:
    answer = printing.answer(exercise, check(exercise, path), option, mends=mends, path=path)
    print(f"\n{answer}", flush=True)


def _stamp(path: Path) -> tuple[int, int] | None:
    """Return a value that changes when the file is saved; None while it is missing, as some editors delete it first."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
