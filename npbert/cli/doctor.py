"""`npbert doctor`: what is installed, how fast it is, and which commands lack an extra."""

import os
import platform
import timeit
from importlib import metadata
from pathlib import Path

import numpy as np

import npbert
from npbert.cli.command import Command
from npbert.compute import matmul, num_threads
from npbert.compute.blas import blas_threads
from npbert.io import EXTRAS, counted, how_to_install

SIZE = 1024
"""Rows and columns of both factors in the timed product: as many multiplications as in a small layer."""
USES = {
    "hf": "fill-mask, embed, search, classify, tag, answer, vocab, evaluate, params",
    "plot": "plot",
    "train": "pretrain, finetune, report",
    "sklearn": "npbert.sklearn, estimators for scikit-learn",
    "mpi": "pretrain and finetune, on several processes",
    "site": "site",
    "threads": "a NumPy whose BLAS is not OpenBLAS",
}


class DoctorCommand(Command):
    """Show the versions npbert runs on, the speed of a matrix product, and the installed extras. Copy it into bug
    reports.

    examples:
      npbert doctor"""

    def run(self) -> None:
        """Print the facts."""
        known = np.show_config(mode="dicts")
        blas = known.get("Build Dependencies", {}).get("blas", {})
        library = f"{blas.get('name', 'an unknown BLAS')} {blas.get('version')}"
        threads = f"{num_threads()} of {counted(os.cpu_count() or 1, 'processor')}"
        if not blas_threads():
            threads += "; the number of BLAS threads cannot be set: pip install threadpoolctl may help"
        print(f"npbert      {npbert.__version__}, in {Path(npbert.__file__).parent}")
        print(f"Python      {platform.python_version()}, {platform.system()} {platform.machine()}")
        print(f"NumPy       {np.__version__}, multiplies with {library}")
        print(f"threads     {threads}")
        a, b = np.random.default_rng(0).standard_normal((2, SIZE, SIZE), dtype=np.float32)
        seconds = min(timeit.repeat(lambda: matmul(a, b), number=1))
        speed = f"{2e-9 * SIZE**3 / seconds:.0f} on {counted(num_threads(), 'thread')}"
        print(f"a product   {SIZE} × {SIZE} × {SIZE} in float32: {speed}, in billions of operations a second")
        installed = metadata.packages_distributions()
        for extra, use in USES.items():
            print(f"\n[{extra}], for {use}")
            for package in EXTRAS[extra]:
                version = metadata.version(installed[package][0]) if package in installed else "is missing"
                print(f"  {package} {version}")
            if not installed.keys() >= set(EXTRAS[extra]):
                print(f"  to install what is missing: {how_to_install(extra)}")
