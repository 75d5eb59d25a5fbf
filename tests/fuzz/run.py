"""Runs cases in a process of their own, whose memory is limited, and which may die."""

import multiprocessing
import tempfile
import zlib
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np

from tests.fuzz.kinds import KINDS
from tests.fuzz.outcome import Outcome, limit, outcome_of


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
