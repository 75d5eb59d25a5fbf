"""`npbert doctor`: what is installed, how fast it is, and which commands lack an extra."""

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
"""Rows and columns of both factors in the timed product: as many multiplications as in a small layer."""

OTHER_USES = {
    "sklearn": "npbert.sklearn, estimators for scikit-learn",
    "mpi": "npbert.mpi, training on several processes",
    "threads": "a NumPy whose BLAS is not OpenBLAS",
}

_REQUIREMENT = re.compile(r"""([\w.-]+)(?:\[([\w,]+)\])?[^;]*(?:;.*extra == ["']([\w-]+)["'])?""")


@dataclass
class DoctorCommand(Command):
    """Show the versions npbert runs on, the speed of a matrix product, and the installed extras. Copy it into bug
    reports.

    examples:
      npbert doctor"""

    def run(self) -> int:
        """Print the facts. Returns 0: a missing extra may never be needed."""
        _print_machine()
        try:
            packages = extras_of(metadata.requires("npbert") or [])
        except metadata.PackageNotFoundError:
            print("\nnpbert runs from its folder and is not installed; to list its extras here: pip install -e .")
            return 0
        for extra, use in uses().items():
            if extra in packages:  # otherwise the installed npbert is older than the one that runs
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
    """Return the use of each extra, by name: the commands that need it, or something else."""
    found: dict[str, str] = {}
    for command, (_, extra, _) in importlib.import_module("npbert.cli").COMMANDS.items():
        found[extra] = f"{found[extra]}, {command}" if extra in found else command
    del found[""]
    return found | OTHER_USES


def extras_of(requirements: list[str]) -> dict[str, list[str]]:
    """Return the packages of each extra and the extras inside it, from requirements such as `tqdm>=4.66; extra ==
    "hf"`."""
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
    """Return where the number of threads comes from, and whether BLAS's number can be set."""
    names = ("NPBERT_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
    said = [f"{name}={os.environ[name]}" for name in names if name in os.environ]
    cannot = "" if blas else "; the number of BLAS threads cannot be set: pip install threadpoolctl may help"
    return (f", from {', '.join(said)}" if said else "") + cannot


def _speed() -> str:
    """Return the operations per second of one product, on one thread and on all."""
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
