"""Runs cases in a process of their own, whose memory is limited, and which may die."""

import contextlib
import functools
import io
import json
import multiprocessing
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from npbert.cli import parser
from tests.fuzz import calls, hostile, programs  # noqa: F401  they add their kinds
from tests.fuzz.base import Base, make_base
from tests.fuzz.kinds import KINDS
from tests.fuzz.outcome import Outcome, limit_memory, outcome_of

LONGEST = 300
"""Seconds for one case, on the clock: what sleeps for ever ends here."""
Results = list[tuple[int, Outcome]]


def run_cases(count: int, seed: int, kinds: Sequence[str] | None = None) -> Iterator[tuple[str, Results]]:
    """`count` cases in all, shared out among the kinds: each kind with its cases' numbers and outcomes."""
    chosen = {name: share for name, (share, _) in KINDS.items() if not kinds or name in kinds}
    with a_base() as base:
        for name, share in chosen.items():
            yield name, run_kind(base, name, seed, max(1, round(count * share / sum(chosen.values()))))


@contextlib.contextmanager
def a_base() -> Iterator[Base]:
    """What the cases start from, made in silence, in a folder that is deleted."""
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            base = make_base(Path(folder))
        yield base


def run_kind(base: Base, name: str, seed: int, count: int) -> Results:
    """`count` cases of a kind. When one kills its process, the next begins in a new one."""
    results: Results = []
    while len(results) < count:
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(theirs, base, name, seed, len(results), count), daemon=True)
        process.start()
        theirs.close()
        with contextlib.suppress(EOFError):
            while len(results) < count:
                if not ours.poll(LONGEST):
                    break
                results.append((len(results), Outcome(*json.loads(ours.recv_bytes()))))
        process.kill()
        process.join()
        if len(results) < count:
            results.append((len(results), Outcome("died", f"exit status {process.exitcode}")))
    return results


def run_case(name: str, seed: int, number: int) -> Outcome:
    """One case, in this process."""
    with a_base() as base, tempfile.TemporaryDirectory() as folder:
        return _run(base, Path(folder) / "case", name, seed, number)


def _work(pipe: Any, base: Base, name: str, seed: int, start: int, count: int) -> None:
    limit_memory()
    parser._parser = functools.cache(parser._parser)  # it is the same for all cases
    with tempfile.TemporaryDirectory() as folder:
        for number in range(start, count):
            outcome = _run(base, Path(folder) / "case", name, seed, number)
            pipe.send_bytes(json.dumps(outcome).encode())


def _run(base: Base, folder: Path, name: str, seed: int, number: int) -> Outcome:
    folder.mkdir()
    try:
        rng = np.random.default_rng([seed, zlib.crc32(name.encode()), number])
        call = KINDS[name][1](rng, base, folder)
        return outcome_of(call, REFUSALS if name == "calls" else ())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


REFUSALS = (TypeError, ValueError, LookupError, OSError, ImportError, AttributeError, RuntimeError, ArithmeticError)
"""What a wrong argument in Python may raise. A command may raise nothing at all."""
