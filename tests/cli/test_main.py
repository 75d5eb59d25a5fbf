"""The commands, run as a user runs them."""

import os
import subprocess
import sys

import pytest

import npbert
from npbert.cli import main


@pytest.mark.parametrize(
    ("preset", "total"),
    [("bert-base-uncased", "109,482,240"), ("bert-large-uncased", "335,141,888"), ("bert-tiny", "4,385,920")],
)
def test_params(preset, total, capsys):
    assert main(["params", preset]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["total", total]


def test_params_lists_every_tensor_in_the_groups_of_the_paper(capsys):
    main(["params", "bert-base-uncased"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == (1 + 5) + 12 * (1 + 16) + (1 + 2) + 1
    sums = {line.split()[0]: line.split()[1] for line in lines if not line.startswith(" ")}
    assert sums["embeddings"] == "23,837,184"
    assert sums["encoder.layers.11"] == "7,087,872"
    assert sums["pooler"] == "590,592"
    assert lines[1].split() == ["embeddings.word_embeddings.weight", "(30522,", "768)", "23,440,896"]


def test_unknown_preset_names_the_known(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["params", "bert-huge"])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert "'bert-huge'" in error
    assert "bert-large-uncased" in error


def test_a_reader_that_has_gone():
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "npbert", "params", "bert-tiny"]
    process = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (process.returncode, process.stderr) == (1, b"")


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert (stop.value.code, capsys.readouterr().out) == (0, f"npbert {npbert.__version__}\n")


def test_options_are_written_out(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["vocab", "--out", "x", "text.txt"])
    assert stop.value.code == 2
    assert "--output" in capsys.readouterr().err


@pytest.mark.parametrize("proved", [True, False])
def test_gradcheck_status(proved, monkeypatch):
    monkeypatch.setattr("npbert.cli.prove_all", lambda: proved)
    assert main(["gradcheck"]) == (0 if proved else 1)
