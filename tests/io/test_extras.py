"""Libraries that npbert can do without, and what a misspelt name was meant to be."""

import pytest

from npbert.io import extras
from npbert.io.extras import how_to_install
from npbert.io.messages import did_you_mean
from npbert.models import PRESETS


def test_a_checkout_and_an_installed_package_are_extended_in_their_own_ways(tmp_path, monkeypatch):
    """In double quotes, which every shell understands."""
    monkeypatch.setattr(extras, "__file__", str(tmp_path / "npbert" / "io" / "extras.py"))
    assert how_to_install("hf") == 'pip install "npbert[hf]"'
    (tmp_path / "pyproject.toml").touch()
    by_pip, by_uv = f'in {tmp_path}, pip install -e ".[train]"', "start commands with uv run --extra train npbert"
    assert how_to_install("train") == f"{by_pip}, or {by_uv}"


OPTIONS = ["--learning-rate", "--batch-size", "--epochs", "--max-length", "--held-out", "--mask-probability"]


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("--batchsize", OPTIONS, "--batch-size"),
        ("--Max_Length", OPTIONS, "--max-length"),
        ("--port", OPTIONS, None),
        ("--size", OPTIONS, "--batch-size"),
        ("learning-rate", ["learning_rate"], "learning_rate"),
        ("BERT_Tiny", PRESETS, "bert-tiny"),
    ],
)
def test_the_closest_name(name, known, meant):
    assert did_you_mean(name, known) == (f"; did you mean {meant}?" if meant else "")
