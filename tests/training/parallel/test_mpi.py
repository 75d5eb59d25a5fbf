"""Runs on real processes, started by a launcher of MPI: the same with any number of them, and when one dies, all do.

Each has a time limit: a hang fails.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from npbert.io import ALONE
from npbert.io.lines import METRICS_FILE, read_json_lines
from tests.training.parallel.program import SETTINGS, make
from tests.training.tiny import results, saved_step

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="mpiexec and signals of POSIX")

LIMIT = 300  # seconds: what takes longer hangs, however busy the machine
ROOT = Path(__file__).parents[3]
PROGRAM = ("-m", "tests.training.parallel.program")

ENVIRONMENT = {  # for Open MPI, which would not start as root, nor more processes than there are cores
    **dict.fromkeys(("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1"),
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "NPBERT_NUM_THREADS": "1",
    "PYTHONWARNINGS": "ignore:processes share cores",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
}


def launcher():
    """The launcher of MPI, beside this Python or on the path; the test is skipped where there is none."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed: pip install -e '.[mpi]'")
    beside = Path(sys.executable).with_name("mpiexec")
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    return found or pytest.skip("mpiexec is not installed: pip install mpich")


def run(count, *arguments):
    """(exit status, standard output, standard error) of so many processes of Python, when all have ended."""
    command = [launcher(), "-n", str(count), sys.executable, *map(str, arguments)]
    options = {"stdin": subprocess.DEVNULL, "env": {**os.environ, **ENVIRONMENT}, "timeout": LIMIT}
    ended = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.thorough
def test_processes_compute_the_same_bits_as_one(tmp_path):
    """In float32, where another order of a sum soon shows; with five parts, of which one process has two
    whose sums wait for those of others."""
    options = {"parts": 5, "batch": 7, "steps": 6, "save_every": 6, "evaluate_every": 2, "log_every": 4}
    status, out, err = run(3, *PROGRAM, tmp_path / "mpi", json.dumps(options))
    assert status == 0 and not err, err
    assert out.count("held out") == 3, "process 0 alone speaks"
    digests = json.loads(out.splitlines()[-1])
    assert digests == digests[:1] * 3
    make(tmp_path / "alone", ALONE, **options).train()
    assert results(tmp_path / "mpi") == results(tmp_path / "alone")
    rows = read_json_lines(tmp_path / "mpi" / METRICS_FILE)
    norms = [row["gradient_norm"] for row in rows if "gradient_norm" in row]
    assert min(norms) > SETTINGS["max_grad_norm"], "the norm, too, is in every number"
    assert len(list((tmp_path / "mpi" / "tensorboard").iterdir())) == 1, "process 0 alone writes"


@pytest.mark.thorough
def test_when_one_process_fails_all_end_and_the_run_goes_on(tmp_path):
    status, out, err = run(2, *PROGRAM, tmp_path / "run", json.dumps({"fails": 7}))
    assert status != 0
    assert "OSError: [Errno 28] No space left on device: 'state.safetensors'" in err
    assert err.count("Traceback") == 1
    assert "step 9" not in out
    assert saved_step(tmp_path / "run") == 6
    for folder in ("run", "whole"):
        make(tmp_path / folder, ALONE).train()
    assert results(tmp_path / "run") == results(tmp_path / "whole")
