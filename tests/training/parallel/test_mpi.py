"""Runs on real processes: one and the same with any number of them, and when one dies, all do."""

import json
import os
import random
import re
import signal
import sys
import time
from pathlib import Path

import pytest

from npbert.json_lines import METRICS_FILE, read_json_lines
from npbert.models.hugging_face.tensors import TensorFile
from npbert.training.state import STATE_FILE
from tests.training.parallel.launch import LIMIT, PROGRAM, descendants, end, launched, run, wait_until
from tests.training.parallel.program import SETTINGS, make
from tests.training.parallel.together import together
from tests.training.tiny import needs_the_extra_train, results, write_checkpoint, write_corpus

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="mpiexec and signals of POSIX")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a run that nobody stopped, of one process by itself."""
    go_on(0, folder := tmp_path_factory.mktemp("whole"))
    return folder


def test_any_number_of_processes_holds_the_same_bits(tmp_path):
    """In float32, where another order of a sum soon shows; with five parts, of which one process has two
    whose sums wait for those of others."""
    options = {"steps": 24, "parts": 5, "batch": 7, "save_every": 24, "evaluate_every": 8, "log_every": 5}
    status, out, err = run((3, *PROGRAM, tmp_path / "mpi", json.dumps(options)))
    assert status == 0 and not err, err
    assert out.count("held out") == 3, "process 0 alone speaks"
    digests = json.loads(out.splitlines()[-1])
    assert digests == digests[:1] * 3
    for count in (0, 2, 4):
        folder = tmp_path / str(count)
        together(count, lambda communicator, folder=folder: make(folder, communicator, **options).train())
        assert results(tmp_path / "mpi") == results(folder)
    norms = [row["gradient_norm"] for row in read_json_lines(folder / METRICS_FILE) if "gradient_norm" in row]
    assert min(norms) > SETTINGS["max_grad_norm"], "the norm, too, is in every number"
    assert len(list((tmp_path / "mpi" / "tensorboard").iterdir())) == 1, "process 0 alone writes"


def killed(count, folder, rank, seconds):
    """Start a run that stays at step 10, and kill one of its processes so long after its first state; exit status."""
    options = {"wait": 0.02, "act": {str(each): [10, "stay"] for each in range(count)}}
    with launched((count, *PROGRAM, folder, json.dumps(options))) as process:
        wait_until(lambda: (folder / STATE_FILE).exists() or process.poll() is not None)
        time.sleep(seconds)
        children = [pid for pid in descendants(process.pid) if rank_of(pid) == rank]
        all_of_them = [process.pid, *descendants(process.pid)]
        end(children[-1])
        process.wait(timeout=LIMIT)
        wait_until(lambda: not any(is_alive(pid) for pid in all_of_them))
        return process.returncode


def rank_of(pid):
    environment, command = (Path(f"/proc/{pid}/{name}").read_bytes().decode() for name in ("environ", "cmdline"))
    found = re.search(r"(?:^|\0)(?:PMI_RANK|OMPI_COMM_WORLD_RANK)=(\d+)", environment)
    return int(found[1]) if found and "tests.training.parallel.program" in command else None


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def go_on(count, folder):
    """As threads, which compute the same bits: it takes a second less."""
    needs_the_extra_train()
    together(count, lambda communicator: make(folder, communicator).train())


@pytest.mark.parametrize(("rank", "others"), [(1, 3), (0, 0)])
def test_when_one_process_is_killed_all_end_and_the_run_goes_on(whole, tmp_path, rank, others):
    folder, seconds = tmp_path / "run", random.Random(rank).uniform(0, 0.15)
    assert killed(2, folder, rank, seconds) != 0
    go_on(others, folder)
    assert results(folder) == results(whole)


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """The arguments of a run of the command, without its corpus, and a folder with two of these."""
    folder = tmp_path_factory.mktemp("text")
    checkpoint = write_checkpoint(folder / "checkpoint")
    for seed in (0, 1):
        write_corpus(folder / f"{seed}.txt", seed=seed)
    return f"--vocabulary {checkpoint} --model {checkpoint} --max-length 20 --batch-size 4".split(), folder


def npbert(command, arguments, *more):
    return "-m", "npbert", "pretrain", command, *arguments, "--log-every", "1000", *more


def test_asked_to_stop_the_command_says_in_one_line_how_to_go_on(text, tmp_path):
    (arguments, folder), of_run = text, tmp_path / "run"
    with launched((2, *npbert(of_run, arguments, "--corpus", folder / "0.txt", "--save-every", 5))) as process:
        wait_until(lambda: (of_run / STATE_FILE).exists())
        os.kill(process.pid, signal.SIGTERM)
        out, err = process.communicate(timeout=LIMIT)
    assert process.returncode != 0
    lines = [line for line in err.splitlines() if line.startswith("stopped") or (line and "mpiexec" not in line)]
    step = json.loads(TensorFile(of_run / STATE_FILE).metadata["npbert"])["steps"]
    assert lines == [f"stopped at step {step}; to go on: mpiexec -n 2 npbert pretrain {of_run} --resume"]
    assert out.count("shared by 2 processes, with 1 thread each") == 1


OTHER_SEED = "process 1 has another value for seed than process 0: 4 and not 3"


@pytest.mark.parametrize(
    ("told", "message"),
    [(["0.txt --seed 3", "0.txt --seed 4"], OTHER_SEED), (["0.txt", "2.txt"], "No such file or directory")],
)
def test_bad_use_is_one_message_from_one_process(text, tmp_path, told, message):
    arguments, folder = text
    programs = [(1, *npbert(tmp_path / "run", arguments, "--corpus", *mine.split())) for mine in told]
    status, out, err = run(*programs, cwd=folder)
    assert status != 0
    errors = [line for line in err.splitlines() if line.startswith("npbert")]
    assert len(errors) == 1 and message in errors[0], err
    assert "Traceback" not in err and "held out" not in out


def test_what_only_the_first_process_can_find_out_ends_all_alike(text, tmp_path):
    arguments, folder = text
    (tmp_path / "file").touch()
    status, _, err = run((2, *npbert(tmp_path / "file", arguments, "--corpus", folder / "0.txt")))
    assert status == 1
    lines = [line for line in err.splitlines() if "error" in line and line.startswith("npbert")]
    assert "Abort" not in err and "process 0" not in err
    assert lines == [f"npbert: error: {tmp_path / 'file'}: File exists"]


def test_what_fails_on_one_process_ends_all_with_the_reason(tmp_path):
    status, out, err = run((2, *PROGRAM, tmp_path / "run", json.dumps({"act": {"1": [6, "fail"]}})))
    assert status != 0
    assert "OSError: [Errno 28] No space left on device" in err and err.count("Traceback") == 1
    assert TensorFile(tmp_path / "run" / STATE_FILE).shapes, "the last state is whole"
    assert "step 6" not in out
