"""The commands, run as a user runs them."""

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from npbert import Init, Linear, __version__
from npbert.cli import main


@pytest.mark.parametrize(("preset", "total"), [("bert-base-uncased", "109,482,240"), ("bert-tiny", "4,385,920")])
def test_params(preset, total, capsys):
    assert main(["params", preset]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["total", total]


def test_a_reader_that_has_gone():
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "npbert", "params", "bert-tiny"]
    process = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (process.returncode, process.stderr) == (1, b"")


def test_ctrl_c(monkeypatch, capsys):
    def stopped(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("npbert.cli.parameter_table", stopped)
    assert main(["params", "bert-tiny"]) == 130
    assert capsys.readouterr().err == "\nstopped\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["params", "bert-huge"], ["'bert-huge'", "bert-large-uncased"]),
        (["vocab", "--out", "x", "text.txt"], ["--output"]),  # options are written out
        ([], ["required: command"]),
        (["embed", "folder", "--pooling", "max"], ["'max'", "'mean', 'cls', 'pooler'"]),
        (["embed", "folder", "--layer", "last"], ["'last'"]),
        (["embed", "folder", "file", "another"], ["another"]),
    ],
)
def test_arguments_that_are_not_understood(arguments, said, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    error = capsys.readouterr().err
    assert all(part in error for part in said)


def test_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"npbert {__version__}\n"


class WrongLinear(Linear):
    """Its dx is doubled."""

    def backward(self, dy, tape):
        return 2 * super().backward(dy, tape)


@pytest.mark.parametrize(("kind", "status"), [(Linear, 0), (WrongLinear, 1)])
def test_gradcheck_has_a_line_for_each_block_and_a_status(kind, status, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    layers = [layer_class(3, 2, Init(rng, 1.0, np.float64)) for layer_class in (kind, Linear)]
    blocks = [SimpleNamespace(make=lambda layer=layer: (layer, (rng.normal(size=(4, 3)),), None)) for layer in layers]
    monkeypatch.setattr("npbert.cli.gradcheck.CATALOGUE", {"the first": blocks[0], "the last": blocks[1]})
    assert main(["gradcheck"]) == status
    out = capsys.readouterr().out
    assert re.findall("^the \\w+ +20 ", out, re.MULTILINE) == [
        f"{name:<40}{20:>12} " for name in ("the first", "the last")
    ]
    assert ("WRONG" in out) == ("NOT ALL of them right" in out) == bool(status)
    assert out.splitlines()[-1].startswith("40 derivatives, ")
