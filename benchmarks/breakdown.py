"""Where the time of a training step of npbert goes: `python benchmarks/breakdown.py a [--threads 2] [--steps 5]`.

Prints a Markdown table. A line counts what no line inside it counts; the medians of the steps, in milliseconds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sides.npbert_side import training_step
from task import Task
from workloads import WORKLOADS

import npbert
from npbert.layers import linear, masked_lm_head, product

PARTS: dict[str, list[tuple[Any, str]]] = {
    "matrix products": [
        (linear, "product"),
        (linear, "add_product"),
        (masked_lm_head, "product"),
        (masked_lm_head, "add_product"),
        (product, "product"),
    ],
    "attention between the projections": [
        (npbert.DotProductAttention, "forward"),
        (npbert.DotProductAttention, "backward"),
    ],
    "GELU": [(npbert.GELU, "forward"), (npbert.GELU, "backward")],
    "dropout, addition and LayerNorm": [
        (owner, name) for owner in (npbert.AddNorm, npbert.LayerNorm) for name in ("forward", "backward")
    ],
    "embeddings": [(npbert.BertEmbeddings, "forward"), (npbert.BertEmbeddings, "backward")],
    "cross-entropy": [(npbert.SoftmaxCrossEntropy, "forward"), (npbert.SoftmaxCrossEntropy, "backward")],
    "AdamW": [(npbert.AdamW, "step")],
}


class Clock:
    """Counts the seconds of parts that may lie inside one another, each without those inside it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.open: list[float] = []  # for each part that has begun, the seconds of the parts inside it

    def counted(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            self.open.append(0.0)
            start = time.perf_counter()
            try:
                return function(*args, **options)
            finally:
                whole = time.perf_counter() - start
                self.seconds[part] += whole - self.open.pop()
                if self.open:
                    self.open[-1] += whole

        return call


def breakdown(name: str, steps: int) -> dict[str, float]:
    """Milliseconds by part of a step of this workload; "the rest" with clipping, and "the step" in all."""
    config, batches = WORKLOADS[name].make("", Path())
    step = training_step(Task("", "train", config))
    clock, numbers = Clock(), defaultdict(list)
    for part, places in PARTS.items():
        for owner, attribute in places:
            setattr(owner, attribute, clock.counted(part, getattr(owner, attribute)))
    for number in range(steps + 2):
        clock.seconds.clear()
        start = time.perf_counter()
        step(batches[0])
        whole = time.perf_counter() - start
        for part, seconds in {
            **clock.seconds,
            "the rest": whole - sum(clock.seconds.values()),
            "the step": whole,
        }.items():
            if number >= 2:  # the first two warm up
                numbers[part].append(1000 * seconds)
    return {part: statistics.median(values) for part, values in numbers.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workload", choices=("a", "b", "c"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5)
    args = parser.parse_args()
    npbert.set_num_threads(args.threads)
    found = breakdown(args.workload, args.steps)
    print(f"| {args.workload} | ms | share |\n|---|---|---|")
    for part in (*PARTS, "the rest", "the step"):
        print(f"| {part} | {found[part]:.0f} | {found[part] / found['the step']:.0%} |")


if __name__ == "__main__":
    main()
