"""A real process, killed at random moments: what is on disk is whole, and the run ends as if nothing had happened."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from npbert.models.tensor_file import TensorFile

from npbert import BertForPreTraining, Tokenizer
from npbert.cli import main
from npbert.training.log import METRICS_FILE
from npbert.training.pretrain import PretrainSettings
from npbert.training.settings import SETTINGS_FILE, load_settings
from npbert.training.state import STATE_FILE
from tests.training.tiny import results, write_checkpoint, write_corpus

STEPS, KILLS = 36, 10

# npbert as it is, but that half a file of tensors is on disk for a while before the rest of it
SLOW_SAVES = """
import sys, time
from npbert.cli import main
from npbert.models import pretrained
from npbert.training import state

write = state.write_tensors

def slowly(path, *rest):
    write(path, *rest)
    whole = path.read_bytes()
    with path.open("wb", buffering=0) as file:
        file.write(whole[: len(whole) // 2])
        time.sleep(0.04)
        file.write(whole[len(whole) // 2 :])

state.write_tensors = pretrained.write_tensors = slowly
sys.exit(main())
"""


@pytest.fixture(autouse=True)
def no_picture(monkeypatch):
    monkeypatch.setattr("npbert.training.trainer.plot_curves", lambda *_: None)


@pytest.fixture
def arguments(tmp_path):
    corpus, held_out = write_corpus(tmp_path / "corpus.txt"), write_corpus(tmp_path / "held_out.txt", seed=1)
    checkpoint = str(write_checkpoint(tmp_path / "checkpoint"))
    options = {
        "--corpus": corpus,
        "--held-out": held_out,
        "--vocabulary": checkpoint,
        "--model": checkpoint,
        "--max-length": 20,
        "--batch-size": 4,
        "--steps": STEPS,
        "--learning-rate": 0.01,
        "--save-every": 2,
        "--evaluate-every": 4,
        "--log-every": 3,
    }
    return [str(part) for option in options.items() for part in option]


@pytest.fixture
def wanted(tmp_path, arguments, capsys):
    """What a run leaves that nobody stopped."""
    assert main(["pretrain", str(tmp_path / "whole"), *arguments]) == 0
    capsys.readouterr()
    return results(tmp_path / "whole")


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    script = folder.parent / "slow.py"
    script.write_text(SLOW_SAVES, encoding="utf-8")
    command = [sys.executable, str(script), "pretrain", str(folder), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(process: subprocess.Popen[str], path: Path, since: int = 0) -> None:
    """Until `path` is written anew."""
    for _ in range(6000):
        if path.exists() and path.stat().st_mtime_ns > since:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    raise TimeoutError(path)


def saved_step(folder: Path) -> int:
    step: int = json.loads(TensorFile(folder / STATE_FILE).metadata["npbert"])["steps"]
    return step


def assert_whole(folder: Path) -> None:
    """Every file under its final name can be read."""
    assert load_settings(PretrainSettings, folder / SETTINGS_FILE).steps == STEPS
    text = (folder / METRICS_FILE).read_text(encoding="utf-8")
    assert all("step" in json.loads(line) for line in text.splitlines())
    assert text == "" or text.endswith("\n")
    if (folder / STATE_FILE).exists():
        assert "npbert" in TensorFile(folder / STATE_FILE).metadata
    model = folder / "model"
    if (model / "model.safetensors").exists():
        BertForPreTraining.from_pretrained(model)
    if (model / "tokenizer.json").exists():
        Tokenizer.from_pretrained(model)


def stop_in_a_save(process: subprocess.Popen[str], folder: Path) -> None:
    """Let the process run in small steps until a file is half-written."""
    while not leftovers(folder):
        process.send_signal(signal.SIGCONT)
        time.sleep(0.005)
        process.send_signal(signal.SIGSTOP)
        assert process.poll() is None


def leftovers(folder: Path) -> list[str]:
    return [file.name for file in folder.rglob(".*.safetensors.*")]


def test_killed_ten_times(tmp_path, arguments, wanted, capsys):
    folder, moments, in_a_save = tmp_path / "run", random.Random(0), 0
    for kill in range(KILLS):
        saved = (folder / STATE_FILE).stat().st_mtime_ns if (folder / STATE_FILE).exists() else 0
        process = start(folder, *(["--resume"] if (folder / SETTINGS_FILE).exists() else arguments))
        # the first is killed as soon as it trains, all others after they have saved a state
        wait_for(process, folder / (STATE_FILE if kill else "tensorboard"), saved)
        time.sleep(moments.uniform(0, 0.1))
        if kill % 2:
            stop_in_a_save(process, folder)
        process.kill()
        assert process.wait() == -signal.SIGKILL, "it should be killed before it is done"
        process.communicate()

        in_a_save += bool(leftovers(folder))
        assert_whole(folder)
        copy = tmp_path / f"copy{kill}"
        shutil.copytree(folder, copy)
        assert main(["pretrain", str(copy), "--resume"]) == 0
        assert results(copy) == wanted
        assert leftovers(copy) == []
    assert in_a_save >= KILLS // 2 - 1
    assert KILLS // 2 < saved_step(folder) < STEPS, "it should get somewhere between the kills"
    assert main(["pretrain", str(folder), "--resume"]) == 0
    assert results(folder) == wanted


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_stop(tmp_path, arguments, wanted, number, capsys):
    folder = tmp_path / "run"
    process = start(folder, *arguments)
    wait_for(process, folder / STATE_FILE)
    os.kill(process.pid, number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    step = saved_step(folder)
    assert 0 < step < STEPS
    assert err.splitlines()[-1] == f"stopped at step {step}; to go on: npbert pretrain {folder} --resume"
    assert "the model is in" not in out
    assert leftovers(folder) == []
    assert_whole(folder)
    assert main(["pretrain", str(folder), "--resume"]) == 0
    assert results(folder) == wanted
