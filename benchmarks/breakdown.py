"""Where the time of npbert goes, in a training step or a forward: `python benchmarks/breakdown.py a`.

Prints a Markdown table. A line counts what no line inside it counts; the medians of the steps, in milliseconds. One
thread is looked at: of several, each takes sequences of its own, and there is no order to count in. `--checkpoint`
and `--data` are those of speed.py, for the workloads that need them.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sides.npbert_side import encode, training_step
from task import Task
from workloads import WORKLOADS

import npbert
from npbert.blocks import masked_lm_head
from npbert.compute import products
from npbert.layers import linear


def passes(*layers: type[npbert.Layer]) -> list[tuple[Any, str]]:
    """Forward and backward of these kinds of layers."""
    return [(layer, name) for layer in layers for name in ("forward", "backward")]


PARTS: dict[str, list[tuple[Any, str]]] = {
    "matrix products": [(module, "matmul") for module in (linear, masked_lm_head, products)],
    "attention between the projections": passes(npbert.DotProductAttention),
    "GELU": passes(npbert.GELU),
    "dropout, addition and LayerNorm": passes(npbert.EncoderLayer, npbert.Dropout, npbert.LayerNorm),
    "embeddings": passes(npbert.BertEmbeddings),
    "cross-entropy": passes(npbert.SoftmaxCrossEntropy),
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


def breakdown(name: str, steps: int, checkpoint: str = "", data: Path = Path()) -> dict[str, float]:
    """Milliseconds by part of a step of this workload; "the rest" with clipping, and "the step" in all."""
    workload = WORKLOADS[name]
    config, batches = workload.make(checkpoint, data)
    task = Task("", workload.kind, config, checkpoint)
    step: Callable[[Any], Any] = training_step(task) if workload.kind == "train" else encode(task)
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
    parser.add_argument("workload", choices=WORKLOADS, metavar="WORKLOAD")
    parser.add_argument("--checkpoint", default="")
    parser.add_argument("--data", type=Path, default=Path())
    parser.add_argument("--steps", type=int, default=5)
    args = parser.parse_args()
    npbert.set_num_threads(1)
    found = breakdown(args.workload, args.steps, args.checkpoint, args.data)
    print(f"| {args.workload} | ms | share |\n|---|---|---|")
    for part in (*PARTS, "the rest", "the step"):
        if part in found:
            print(f"| {part} | {found[part]:.4g} | {found[part] / found['the step']:.0%} |")


if __name__ == "__main__":
    main()
