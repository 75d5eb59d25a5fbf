"""`npbert learn check --watch`: answers are judged whenever they are saved."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from npbert.learn import Exercise, check, printing

_POLL = 0.2  # seconds between two looks at the files


def watch(chosen: list[tuple[Exercise, Path]], option: str, mends: bool) -> int:
    """Check one file at once, and each whenever it is saved, until Ctrl-C."""
    stamps = {path: _stamp(path) for _, path in chosen}
    if len(chosen) > 1:
        files = f"{len(chosen)} files in {chosen[0][1].parent}/"
        print(f"watching {files}: each is checked when you save it. Ctrl-C ends it", flush=True)
    else:
        ((exercise, path),) = chosen
        print(f"watching {path}: it is checked now, and whenever you save it. Ctrl-C ends it", flush=True)
        _say_at_once(exercise, path, option, mends)
    for exercise, path in _saved(chosen, stamps):
        print(f"\n{time.strftime('%H:%M:%S')}", end="", flush=True)
        _say_at_once(exercise, path, option, mends)
    return 0


def _say_at_once(exercise: Exercise, path: Path, option: str, mends: bool) -> None:
    """The verdict as soon as it is there, and what is wrong when that is found."""
    verdict = check(
        exercise, path, at_once=lambda first: print(f"\n{printing.line(exercise, first)}: {first.says} …", flush=True)
    )
    print(f"\n{printing.answer(exercise, verdict, option, mends=mends, path=path)}", flush=True)


def _saved(chosen: list[tuple[Exercise, Path]], seen: dict[Path, Any]) -> Iterator[tuple[Exercise, Path]]:
    """The files that are saved, each when it has stayed the same from one look to the next: an editor may delete a
    file, and write the new one bit by bit. seen: the stamps of those that need no answer any more."""
    before = dict(seen)
    while True:
        for exercise, path in chosen:
            stamp = _stamp(path)
            if stamp is not None and stamp != seen[path] and stamp == before[path]:
                seen[path] = stamp
                yield exercise, path
            before[path] = stamp
        time.sleep(_POLL)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
