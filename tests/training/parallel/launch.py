"""Real processes, started by a launcher of MPI, each test with a time limit: a hang fails."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

LIMIT = 300  # seconds: what takes longer hangs, however busy the machine
ROOT = Path(__file__).parents[3]
PROGRAM = ("-m", "tests.training.parallel.program")

ENVIRONMENT = {  # for Open MPI, which would not start as root, nor more processes than there are cores
    **dict.fromkeys(("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1"),
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "NPBERT_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
}


def launcher():
    """The launcher of MPI, beside this Python or on the path; the test is skipped where there is none."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed: pip install -e '.[mpi]'")
    beside = Path(sys.executable).with_name("mpiexec")
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    return found or pytest.skip("mpiexec is not installed: pip install mpich")


@contextmanager
def launched(*programs, cwd=None):
    """A launcher with all of these: (count, arguments of Python …) each. What is left of it at the end is killed."""
    command = [launcher()]
    for count, *arguments in programs:
        command += [*([":"] if len(command) > 1 else []), "-n", str(count), sys.executable, *map(str, arguments)]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    environment = {**os.environ, **ENVIRONMENT}
    with subprocess.Popen(command, env=environment, cwd=cwd, start_new_session=True, **pipes) as process:
        try:
            yield process
        finally:
            for pid in [*descendants(process.pid), process.pid]:
                end(pid)
            process.communicate()


def run(*programs, cwd=None):
    """(exit status, standard output, standard error) of a launcher with these programs."""
    with launched(*programs, cwd=cwd) as process:
        out, err = process.communicate(timeout=LIMIT)
    return process.returncode, out, err


def wait_until(is_so, seconds=LIMIT):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.01)


def descendants(pid):
    """The processes that a process has started, and those that they have started."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(entry.parent.name)] = int(fields[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def end(pid, number=signal.SIGKILL):
    with suppress(ProcessLookupError):
        os.kill(pid, number)
