"""Runs cases in a process of their own, whose memory is limited, and which may die."""

import contextlib
import io
import multiprocessing
import tempfile
import zlib
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np

from tests.fuzz.base import make_base
from tests.fuzz.kinds import KINDS
from tests.fuzz.outcome import Outcome, limit, outcome_of


def counts(cases, kinds=None):
    """How many cases each kind has, or each of these, of so many in all."""
    shares = {kind: KINDS[kind][0] for kind in kinds or KINDS}
    return {kind: round(cases * share / sum(shares.values())) for kind, share in shares.items()}


@contextlib.contextmanager
def a_base():
    """What the cases start from, made in silence, in a folder that is deleted."""
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            base = make_base(Path(folder))
        yield base


def run_kind(base, name, seed, count):
    """`count` cases of a kind. When one kills its process, the next begins in a new one."""
    results = []
    while len(results) < count:
        with ProcessPoolExecutor(1, multiprocessing.get_context("fork"), limit) as process:
            cases = [process.submit(run_case, base, name, seed, number) for number in range(len(results), count)]
            try:
                for case in cases:
                    results.append(case.result())
            except BrokenProcessPool as error:
                results.append(Outcome("died", str(error)))
    return results


def run_case(base, name, seed, number):
    """One case, in this process."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        rng = np.random.default_rng([seed, zlib.crc32(name.encode()), number])
        return outcome_of(KINDS[name][1](rng, base, Path(folder)))
