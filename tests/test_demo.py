"""The demo, run as a person runs it."""

import importlib.util
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


def test_it_learns():
    out = run("--dialogue", "6", "--epochs", "11").stdout
    losses = [float(loss) for loss in re.findall(r"MLM (\d\.\d+) ", out)]
    assert len(losses) == 2, "a line every 10 epochs, and one at the end"
    assert 0 < losses[1] < losses[0] < 3.367
    assert "(3.367)   NSP" in out, "the loss of knowing nothing"
    right, total = map(int, re.search(r"masked words   (\d+) of (\d+) right", out).groups())
    assert (total, right > 120) == (468, True), "twice as many as the commonest word"
    assert " of 36 right" in out.splitlines()[-1]


def test_options_and_the_same_numbers_twice():
    options = [("--optimizer", "adadelta")] * 2 + [("--optimizer", "adam", "--seed", "3")]
    results = [run("--dialogue", "6", "--epochs", "1", *some) for some in options]
    assert [(result.returncode, result.stderr) for result in results] == [(0, "")] * 3
    one, same, other = (re.sub(r" +\d+ s, +\d+ s left", "", result.stdout) for result in results)
    assert one == same != other


def test_ctrl_c_ends_with_what_it_has_learned():
    command = [sys.executable, DEMO, "--dialogue", "6", "--epochs", "5000"]
    heeds = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}  # where a parent ignores it, too
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **heeds) as process:
        try:
            while "epoch" not in process.stdout.readline():
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0
    assert "stopped; this is what it has learned so far" in rest
    assert " of 36 right" in rest.splitlines()[-1]


def test_a_loss_that_is_no_number_stops_it():
    result = run("--learning-rate", "1e30", "--epochs", "2")
    assert (result.returncode, "Traceback" in result.stderr) == (1, False)
    assert "try a smaller --learning-rate" in result.stderr


def test_a_reader_that_has_gone():
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run([sys.executable, DEMO, "--epochs", "1"], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert result.stderr == b""


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--dialogue", "7", "argument --dialogue: invalid choice: 7"),
        ("--epochs", "0", "'0' is not a whole number of at least 1"),
        ("--seed", "-1", "'-1' is not a whole number of at least 0"),
        ("--seed", "many", "'many' is not a whole number of at least 0"),
        ("--optimizer", "sgd", "invalid choice: 'sgd'"),
        ("--learning-rate", "inf", "'inf' is not a positive number"),
    ],
)
def test_wrong_arguments(option, value, message, monkeypatch, capsys):
    spec = importlib.util.spec_from_file_location("demo", DEMO)
    monkeypatch.setattr(sys, "argv", ["demo.py", option, value])
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # which the demo would set
    monkeypatch.setitem(sys.modules, "demo", importlib.util.module_from_spec(spec))
    spec.loader.exec_module(sys.modules["demo"])
    with pytest.raises(SystemExit, match="2"):
        sys.modules["demo"].main()
    assert message in capsys.readouterr().err
