"""`npbert doctor`: what is there, what is missing, and how to get it."""

import re
from importlib import metadata

import pytest

from npbert.cli import COMMANDS, doctor, main


@pytest.fixture(autouse=True)
def fast(monkeypatch):
    """A machine that makes any product at the same speed."""
    monkeypatch.setattr(doctor.timeit, "repeat", lambda *_, **__: [2e-9 * doctor.SIZE**3 / 50])


def test_it_says_what_is_missing_for_which_command(monkeypatch, capsys):
    versions = {"more-numbers": "1.5", "jinja-2": "3.0"}
    installed = {"tokenizers": ["more-numbers"], "jinja2": ["jinja-2"]}
    monkeypatch.setattr(metadata, "packages_distributions", lambda: installed)
    monkeypatch.setattr(metadata, "version", versions.__getitem__)
    monkeypatch.setattr(
        doctor, "EXTRAS", {**dict.fromkeys(doctor.USES, ()), "hf": ("tokenizers", "tqdm"), "train": ("jinja2",)}
    )
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    of_hf = doctor.USES["hf"].split(", ")
    assert {*of_hf, *doctor.USES["train"].split(", ")} <= COMMANDS.keys()
    assert f"\n[hf], for {', '.join(of_hf)}\n  tokenizers 1.5\n  tqdm is missing\n  to install what is missing: " in out
    assert re.search(r"missing: .*pip install .*\[hf\]", out)
    assert re.search(r"1024 × 1024 in float32: 50 on \d+ threads?, in billions of operations", out)
    assert "for pretrain, finetune, report\n  jinja2 3.0\n\n" in out
    installed["tqdm"] = ["more-numbers"]
    assert main(["doctor"]) == 0 and "missing" not in capsys.readouterr().out
