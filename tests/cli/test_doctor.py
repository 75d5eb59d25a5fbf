"""`npbert doctor`: what is there, what is missing, and how to get it."""

import re
from importlib import metadata

import pytest

from npbert.cli import COMMANDS, doctor, main

NEEDED = ["numpy>=2.0", 'numbers>=1; extra == "hf"', 'more.numbers; extra == "hf"', 'npbert[hf]; extra == "train"']
NEEDED += ["bars>=3; extra == 'train'"]


@pytest.fixture(autouse=True)
def fast(monkeypatch):
    """A machine that makes any product at the same speed."""
    monkeypatch.setattr(doctor.timeit, "repeat", lambda *_, **__: [2e-9 * doctor.SIZE**3 / 50])


@pytest.fixture
def installed(monkeypatch):
    """What is installed of these packages, by name: a version."""
    versions = {"numbers": "1.5", "bars": "3.0"}

    def version(package):
        if package in versions:
            return versions[package]
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(metadata, "requires", lambda _: NEEDED)
    monkeypatch.setattr(metadata, "version", version)
    return versions


def test_it_says_what_is_missing_for_which_command(installed, capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    of_hf = doctor.USES["hf"].split(", ")
    assert {*of_hf, *doctor.USES["train"].split(", ")} <= COMMANDS.keys()
    assert (
        f"\n[hf], for {', '.join(of_hf)}\n  numbers 1.5\n  more.numbers is missing\n  to install what is missing: "
        in out
    )
    assert re.search(r"missing: .*pip install .*\[hf\]", out)
    assert re.search(r"1024 × 1024 in float32: 50 on \d+ threads?, in billions of operations", out)
    assert "for pretrain, finetune, report\n  bars 3.0\n" in out and out.count("\n[") == 2
    installed["more.numbers"] = "2"
    assert main(["doctor"]) == 0 and "missing" not in capsys.readouterr().out


def test_it_runs_from_a_folder_that_was_never_installed(monkeypatch, capsys):
    def requires(package):
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(metadata, "requires", requires)
    assert main(["doctor"]) == 0 and "pip install -e ." in capsys.readouterr().out
