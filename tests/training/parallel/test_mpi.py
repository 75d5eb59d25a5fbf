"""Runs on real processes, started by a launcher of MPI: the same with any number of them, and when one dies, all do.

Each has a time limit: a hang fails.
"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from npbert.json_lines import METRICS_FILE, read_json_lines
from npbert.models.hugging_face.tensors import TensorFile
from npbert.training.parallel import ALONE
from npbert.training.state import STATE_FILE
from tests.training.parallel.program import SETTINGS, make
from tests.training.tiny import results, write_checkpoint, write_corpus

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="mpiexec and signals of POSIX")

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


def wait_until(is_so):
    end = time.monotonic() + LIMIT
    while not is_so():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.01)


def parents():
    """The processes that there are, each with the one that has started it."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = entry.read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                found[int(entry.parent.name)] = int(parent)
    return found


def descendants(pid):
    """The processes that a process has started, and those that they have started."""
    found = [pid]
    for one in found:
        found += [child for child, parent in parents().items() if parent == one]
    return found[1:]


def end(pid):
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def test_processes_compute_the_same_bits_as_one(tmp_path):
    """In float32, where another order of a sum soon shows; with five parts, of which one process has two
    whose sums wait for those of others."""
    options = {"parts": 5, "batch": 7, "save_every": 12, "evaluate_every": 4, "log_every": 5}
    status, out, err = run((3, *PROGRAM, tmp_path / "mpi", json.dumps(options)))
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


def rank_of(pid):
    environment, command = (Path(f"/proc/{pid}/{name}").read_bytes().decode() for name in ("environ", "cmdline"))
    found = re.search(r"(?:^|\0)(?:PMI_RANK|OMPI_COMM_WORLD_RANK)=(\d+)", environment)
    return int(found[1]) if found and "tests.training.parallel.program" in command else None


def test_when_one_process_is_killed_all_end_and_the_run_goes_on(tmp_path):
    """It is process 0, which writes; another one fails below."""
    folder, seconds = tmp_path / "run", random.uniform(0, 0.15)
    options = {"wait": 0.02, "act": {str(each): [10, "stay"] for each in range(2)}}
    with launched((2, *PROGRAM, folder, json.dumps(options))) as process:
        wait_until(lambda: (folder / STATE_FILE).exists() or process.poll() is not None)
        time.sleep(seconds)
        all_of_them = [process.pid, *descendants(process.pid)]
        (writer,) = [pid for pid in all_of_them if rank_of(pid) == 0]
        end(writer)
        assert process.wait(timeout=LIMIT) != 0
        wait_until(lambda: parents().keys().isdisjoint(all_of_them))
    make(folder, ALONE).train()
    make(tmp_path / "whole", ALONE).train()
    assert results(folder) == results(tmp_path / "whole"), f"killed after {seconds} s"


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """The arguments of a run of the command, without its corpus, and a folder with one."""
    folder = tmp_path_factory.mktemp("text")
    checkpoint = write_checkpoint(folder / "checkpoint")
    write_corpus(folder / "text.txt")
    return f"--vocabulary {checkpoint} --model {checkpoint} --max-length 20 --batch-size 4".split(), folder


IMPATIENT = """
import sys
from npbert.__main__ import main
from npbert.training.parallel import mpi
mpi.PATIENCE = 0.5
sys.exit(main())
"""


def npbert(folder, arguments, *more):
    """The command, which waits but a moment for the others when it fails."""
    return "-c", IMPATIENT, "pretrain", folder, *arguments, "--log-every", "1000", *more


def test_asked_to_stop_the_command_says_in_one_line_how_to_go_on(text, tmp_path):
    (arguments, folder), of_run = text, tmp_path / "run"
    with launched((2, *npbert(of_run, arguments, "--corpus", folder / "text.txt", "--save-every", 5))) as process:
        wait_until(lambda: (of_run / STATE_FILE).exists())
        os.kill(process.pid, signal.SIGTERM)
        out, err = process.communicate(timeout=LIMIT)
    assert process.returncode != 0
    lines = [line for line in err.splitlines() if line.startswith("stopped") or (line and "mpiexec" not in line)]
    step = json.loads(TensorFile(of_run / STATE_FILE).metadata["npbert"])["steps"]
    assert lines == [f"stopped at step {step}; to go on: mpiexec -n 2 npbert pretrain {of_run} --resume"]
    assert out.count("shared by 2 processes, with 1 thread each") == 1


@pytest.mark.parametrize(
    ("folders", "corpora", "message"),
    [
        (["run", "run"], ["text.txt", "none.txt"], "No such file or directory"),  # of which process 0 knows nothing
        (["text.txt", "text.txt"], ["text.txt", "text.txt"], "npbert: error: text.txt: File exists"),  # it alone knows
    ],
)
def test_bad_use_is_one_message_from_one_process(text, folders, corpora, message):
    arguments, place = text
    mine = zip(folders, corpora, strict=True)
    programs = [(1, *npbert(folder, arguments, "--corpus", corpus)) for folder, corpus in mine]
    status, out, err = run(*programs, cwd=place)
    assert status == 1
    (said,) = [line for line in err.splitlines() if line.startswith("npbert")]
    assert message in said
    assert "Traceback" not in err and "held out" not in out
    assert folders[0] == "run" or ("Abort" not in err and "process 0" not in err)


def test_what_fails_on_one_process_ends_all_with_the_reason(tmp_path):
    status, out, err = run((2, *PROGRAM, tmp_path / "run", json.dumps({"act": {"1": [6, "fail"]}})))
    assert status != 0
    assert "OSError: [Errno 28] No space left on device" in err and err.count("Traceback") == 1
    assert TensorFile(tmp_path / "run" / STATE_FILE).shapes, "the last state is whole"
    assert "step 6" not in out
