"""The benchmarks: what they print, and that they run."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)


def speed(*arguments):
    command = [sys.executable, BENCHMARKS / "speed.py", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def row(workload, side, number, seconds, run=1.0):
    return {
        "workload": workload,
        "run": run,
        "side": side,
        "round": number,
        "seconds": [seconds],
        "median": seconds,
        "tokens": 100,
        "peak_mib": 1000.0,
        "others": 0.25,
        "threads": 2,
        "versions": {"numpy": "2.0"},
    }


def test_the_table_is_of_the_last_run_and_of_ratios_round_by_round(tmp_path):
    rows = [row("b", "npbert", 0, 100.0, run=0.5)]
    for number, (ours, theirs) in enumerate([(0.2, 0.4), (0.3, 0.4), (0.9, 1.0)]):
        rows += [row("b", "npbert", number, ours), row("b", "transformers", number, theirs)]
    path = tmp_path / "speed.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    lines = speed("--table", "--output", path).stdout.splitlines()
    b = "b: BERT-mini, 32 × 128"
    assert lines[2:4] == [
        f"| {b} | npbert | 300 ms | 200 ms – 900 ms | 333 | 1,000 MiB |  |  |",
        f"| {b} | transformers | 400 ms | 400 ms – 1,000 ms | 250 | 1,000 MiB | **0.75** (0.50 – 0.90) |  |",
    ]
    assert lines[-1].startswith("Threads: 2. Rounds: 3. numpy 2.0. Other processes had 25% of the machine")


@pytest.mark.thorough
def test_a_workload_runs_and_what_is_missing_is_said_and_left_out(tmp_path):
    path = tmp_path / "speed.jsonl"
    options = ["--sides", "npbert", "--rounds", 1, "--threads", 1, "--output", path]
    result = speed("g-B1", "e1", "d1", *options)
    assert result.returncode == 0, result.stderr
    assert result.stderr.splitlines() == ["without d1: it needs --data", "without e1: it needs --checkpoint and --data"]
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(row["round"], row["tokens"], len(row["seconds"])) for row in rows] == [(0, 128, 5)]
    assert all(row["median"] > 0 and 50 < row["peak_mib"] < 2000 for row in rows)


def test_the_products_are_those_of_bert():
    from sides.products_side import linears, sizes_of
    from workloads import WORKLOADS

    config, (batch,) = WORKLOADS["c"].make("", Path())
    sizes = sizes_of(batch)
    assert sizes == (8, 128, 1024, 8 * 19)
    assert (batch["labels"] != -100).sum(axis=1).tolist() == [19] * 8
    rows = 1024 * 12 * (4 * 768 * 768 + 2 * 768 * 3072) + 8 * 19 * 768 * (768 + 30522) + 8 * 768 * (768 + 2)
    assert sum(np.prod(product) * count for product, count in linears(config, sizes).items()) == rows
