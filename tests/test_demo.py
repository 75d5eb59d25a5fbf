"""The demo, run as a person runs it."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parent.parent / "demo.py"


def run(*arguments):
    return subprocess.run([sys.executable, DEMO, *arguments], capture_output=True, text=True, check=False)


def test_it_learns_and_prints_the_same_numbers_twice():
    outputs = [re.sub(r" +\d+ s, +\d+ s left", "", run("--dialogue", "6", "--epochs", "25").stdout) for _ in range(2)]
    assert outputs[0] == outputs[1]
    losses = [float(loss) for loss in re.findall(r"MLM (\d\.\d+) ", outputs[0])]
    assert len(losses) == 3, "a line every 10 epochs, and one at the end"
    assert losses[-1] < 2 < losses[0]
    assert "(3.367)   NSP" in outputs[0]
    right, total = map(int, re.search(r"masked words   (\d+) of (\d+) right", outputs[0]).groups())
    assert total == 468
    assert right > 234
    assert " of 36 right" in outputs[0].splitlines()[-1]


@pytest.mark.parametrize("options", [("--optimizer", "adadelta"), ("--optimizer", "adam"), ("--seed", "3")])
def test_options(options):
    result = run("--epochs", "1", *options)
    assert result.returncode == 0, result.stderr
    assert " of 1116 right" in result.stdout
    assert " of 81 right" in result.stdout


def test_ctrl_c_ends_with_what_it_has_learned():
    process = subprocess.Popen([sys.executable, DEMO, "--epochs", "5000"], stdout=subprocess.PIPE, text=True)
    while "epoch" not in process.stdout.readline():
        pass
    os.kill(process.pid, signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "stopped; this is what it has learned so far" in rest
    assert " of 81 right" in rest.splitlines()[-1]


def test_a_loss_that_is_no_number_stops_it():
    result = run("--learning-rate", "1e30", "--epochs", "2")
    assert result.returncode == 1
    assert "try a smaller --learning-rate" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_reader_that_has_gone():
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run(
        [sys.executable, DEMO, "--epochs", "1"], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert process.stderr == b""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--dialogue", "7"), "argument --dialogue: invalid choice: 7"),
        (("--epochs", "0"), "'0' is not a whole number of at least 1"),
        (("--seed", "-1"), "'-1' is not a whole number of at least 0"),
        (("--seed", "many"), "'many' is not a whole number of at least 0"),
        (("--optimizer", "sgd"), "invalid choice: 'sgd'"),
        (("--learning-rate", "-1"), "'-1' is not a positive number"),
    ],
)
def test_wrong_arguments(arguments, message):
    result = run(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
