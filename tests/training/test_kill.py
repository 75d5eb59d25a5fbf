"""A real process, killed when that is worst: what is on disk is whole, and the run ends as if nothing had been."""

import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from npbert.cli import main
from npbert.io.lines import read_json_lines
from npbert.training import SETTINGS_FILE, PretrainSettings, load_settings
from tests.training.tiny import results, saved_step, write_checkpoint, write_corpus

STEPS = 16
OPTIONS = f"--max-length 20 --batch-size 4 --steps {STEPS} --save-every 2 --evaluate-every 4 --log-every 3"

# npbert as it is, but that the file that is the n-th called so stays half-written until a line comes in
PAUSES = """
import signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # or it is ignored where the tests run under nohup
from npbert.cli import main
from npbert.models import pretrained
from npbert.training import state
write, name, left = state.write_tensors, sys.argv[1], int(sys.argv[2])
def pause(path, *rest):
    global left
    write(path, *rest)
    is_it = path.name.startswith(f"{name}.")
    left -= is_it
    if is_it and left == 0:
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        print("half-written", flush=True)
        sys.stdin.readline()
        path.write_bytes(whole)
state.write_tensors = pretrained.write_tensors = pause
sys.exit(main(sys.argv[3:]))
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The arguments of a run, and what it leaves when nobody stops it."""
    tmp_path = tmp_path_factory.mktemp("files")
    corpus, held_out = write_corpus(tmp_path / "a.txt"), write_corpus(tmp_path / "b.txt", documents=2, seed=1)
    checkpoint = write_checkpoint(tmp_path / "checkpoint")
    files = f"--corpus {corpus} --held-out {held_out} --vocabulary {checkpoint} --model {checkpoint}"
    arguments = f"{files} {OPTIONS}".split()
    assert main(["pretrain", str(tmp_path / "whole"), *arguments]) == 0
    return arguments, results(tmp_path / "whole")


@contextmanager
def running(folder, pause, *arguments):
    """A process that trains, and has come to its pause; it is killed at the latest afterwards."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = [sys.executable, "-c", PAUSES, *map(str, pause), "pretrain", str(folder), *arguments]
    with subprocess.Popen(command, text=True, **pipes) as process:
        try:
            assert "half-written\n" in process.stdout, process.communicate()
            yield process
        finally:
            process.kill()


def leftovers(folder):
    return [place.stem for place in folder.rglob(".*.npbert-unfinished/*.safetensors")]


def stopped_at(folder, step):
    """What the command says last, and that the files and the state of this step are whole."""
    assert load_settings(PretrainSettings, folder / SETTINGS_FILE).steps == STEPS
    for file in folder.glob("*.jsonl"):
        assert len(read_json_lines(file)) == file.read_bytes().count(b'"step"')
    assert saved_step(folder) == step
    again = "start the same run again (on the command line: with --resume)"
    return f"stopped at step {step} of {STEPS}, saved in {folder}; to continue, {again}"


@pytest.mark.thorough
def test_killed_or_asked_to_stop_again_and_again(tmp_path, run):
    """In the middle of a file: of a state after another, and of a model."""
    (arguments, wanted), folder = run, tmp_path / "run"
    with running(folder, ("state", 2), *arguments) as process:
        assert leftovers(folder) == ["state"]
        process.kill()
        assert process.wait() == -signal.SIGKILL, "it should be killed before it is done"
    stopped_at(folder, 2)
    with running(folder, ("model", 1), "--resume") as process:  # stopped while its output is closed, as by `| head`
        process.stdout.close()
        process.stdin.write("go on\n")
        process.stdin.close()
        said, status = process.stderr.read().splitlines(), process.wait(timeout=300)
    assert status == 130, said
    closed = "npbert: standard output is closed (Broken pipe): the run stops"
    assert said[-3:] == [closed, "", stopped_at(folder, 5)], "the step in progress is finished, and saved"
    assert main(["pretrain", str(folder), "--resume"]) == 0
    assert results(folder) == wanted
    assert leftovers(folder) == []
