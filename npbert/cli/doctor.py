"""`npbert doctor`: what is installed here, how fast it is, and what is missing for which command."""

import importlib
import os
import platform
import re
import time
from dataclasses import dataclass
from importlib import metadata
from itertools import chain
from typing import Any

import numpy as np

import npbert
from npbert.cli.command import Command
from npbert.compute import matmul, num_threads, set_num_threads
from npbert.compute.blas import BlasThreads, blas_threads
from npbert.io.extras import how_to_install
from npbert.io.messages import counted

SIZE = 1024
"""Rows and columns of both factors of the product that is timed: as many multiplications as a small layer has."""

OTHER_USES = {
    "sklearn": "npbert.sklearn, estimators for scikit-learn",
    "mpi": "npbert.mpi, training on several processes",
    "threads": "a NumPy whose BLAS is not OpenBLAS",
}

_REQUIREMENT = re.compile(r"""([\w.-]+)(?:\[([\w,]+)\])?[^;]*(?:;.*extra == ["']([\w-]+)["'])?""")


@dataclass
class DoctorCommand(Command):
    """Show what npbert runs on, how fast a product of matrices is, and which extras are
    installed. Copy it into a report of a bug.

    examples:
      npbert doctor"""

    def run(self) -> int:
        """Returns 0: what is missing may never be needed."""
        _print_machine()
        try:
            packages = extras_of(metadata.requires("npbert") or [])
        except metadata.PackageNotFoundError:
            print("\nnpbert is not installed, but runs from its folder: pip install -e . makes its extras known")
            return 0
        for extra, use in uses().items():
            if extra in packages:  # else an older npbert is installed than the one that runs
                _print_extra(extra, use, packages[extra])
        return 0


def _print_machine() -> None:
    blas = blas_threads()
    threads = num_threads() if blas else 1
    for name, value in {
        "npbert": f"{npbert.__version__}, in {os.path.dirname(npbert.__file__)}",  # noqa: PTH120
        "Python": f"{platform.python_version()}, {platform.system()} {platform.machine()}",
        "NumPy": f"{np.__version__}, multiplies with {_blas_name()}",
        "threads": f"{threads} of {counted(os.cpu_count() or 1, 'processor')}" + _said_threads(blas),
        "a product": f"{SIZE} × {SIZE} × {SIZE} in float32: {_speed()}",
    }.items():
        print(f"{name:<12}{value}")


def _print_extra(extra: str, use: str, packages: list[str]) -> None:
    missing = [name for name in packages if not _version(name)]
    there = ", ".join(f"{name} {_version(name)}" for name in packages if name not in missing)
    print(f"\n[{extra}], for {use}")
    if there:
        print(f"  {there}")
    if missing:
        print(f"  missing: {', '.join(missing)}; to install: {how_to_install(extra)}")


def uses() -> dict[str, str]:
    """What each extra is for, by its name: the commands that need it, or some other thing."""
    found: dict[str, str] = {}
    for command, (_, extra, _) in importlib.import_module("npbert.cli").COMMANDS.items():
        found[extra] = f"{found[extra]}, {command}" if extra in found else command
    del found[""]
    return found | OTHER_USES


def extras_of(requirements: list[str]) -> dict[str, list[str]]:
    """The packages of each extra, those of the extras that it contains too, out of what a package says that it needs:
    `tqdm>=4.66; extra == "hf"`."""
    needs = [_REQUIREMENT.match(requirement).groups("") for requirement in requirements]  # type: ignore[union-attr]

    def packages(wanted: str) -> list[str]:
        found: list[list[str]] = []
        for name, contained, extra in needs:
            if extra == wanted and name == "npbert":
                found += map(packages, contained.split(","))
            elif extra == wanted:
                found.append([name])
        return list(dict.fromkeys(chain.from_iterable(found)))

    return {extra: packages(extra) for *_, extra in needs if extra}


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _blas_name() -> str:
    known: Any = np.show_config(mode="dicts")
    blas = known.get("Build Dependencies", {}).get("blas", {})
    return f"{blas.get('name', 'an unknown BLAS')} {blas.get('version', '')}".strip()


def _said_threads(blas: BlasThreads | None) -> str:
    """Who said how many, and whether BLAS can be told."""
    names = ("NPBERT_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
    said = [f"{name}={os.environ[name]}" for name in names if name in os.environ]
    cannot = "" if blas else "; its BLAS cannot be told how many to use: pip install threadpoolctl may help"
    return (f", as {', '.join(said)} says" if said else "") + cannot


def _speed() -> str:
    """Operations a second of one product, on one thread and on all."""
    a, b = np.random.default_rng(0).standard_normal((2, SIZE, SIZE), dtype=np.float32)
    threads, said = num_threads(), []
    for count in dict.fromkeys([1, threads]):
        set_num_threads(count)
        seconds = min(_timed(lambda: matmul(a, b)) for _ in range(5))
        said.append(f"{2e-9 * SIZE**3 / seconds:.0f} on {counted(count, 'thread')}")
    return f"{', '.join(said)}, in billions of operations a second"


def _timed(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
