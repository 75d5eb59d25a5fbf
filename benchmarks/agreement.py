"""Do all sides compute the same? The same weights and batches, without dropout, give the same losses and outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from rounds import prepare, run_side
from task import Array, Task

from npbert import BertConfig, BertForPreTraining

TOLERANCE = 1e-5
STEPS = 3
# Steps so large that a wrong gradient, or decay, shows in the next loss.
LARGE_STEPS: Any = {"learning_rate": 1e-3, "weight_decay": 0.1}
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def differences(task: Task, sides: Sequence[str], threads: int) -> Iterator[tuple[str, float]]:
    """For each other side, by how much of the largest number its results differ at most from those of the first.

    Of training, the results are the losses of the first three steps, which say that gradients, clipping and
    AdamW agree too; of inference, the hidden states of real tokens; of a start, the beginning of the vector.
    """
    batches = task.batches()
    prepare(task, sides, threads)
    if task.kind == "train":
        task = replace(task, folder=f"{task.folder}-check", config={**task.config, **NO_DROPOUT}, **LARGE_STEPS)
        task = replace(task, weights=save_weights(task))
        batches = (batches * STEPS)[:STEPS]
        task.save(batches)
    real: Any = [batch["attention_mask"] != 0 for batch in batches] if task.kind == "encode" else repeat(...)
    results: dict[str, list[Array]] = {}
    for side in sides:
        path = Path(task.folder, f"{side}.npz")
        run_side(side, task, threads, "--outputs", str(path))
        with np.load(path) as outputs:
            results[side] = [outputs[name][where] for name, where in zip(outputs, real, strict=False)]
    first, *others = sides
    for side in others:
        yield side, largest_difference(results[side], results[first])


def largest_difference(results: Sequence[Array], wanted: Sequence[Array]) -> float:
    """max |result − wanted| / max |wanted|, the largest of all pairs; NaN where there is one."""
    return float(np.max([np.abs(a - b).max() / np.abs(b).max() for a, b in zip(results, wanted, strict=True)]))


def save_weights(task: Task) -> str:
    """Weights so large that attention is uneven, with biases and γ that differ: as they are at first, errors hide."""
    rng = np.random.default_rng(0)
    model = BertForPreTraining(BertConfig(**task.config), rng=rng)
    for parameter in model.parameters():
        parameter.value += rng.uniform(-0.1, 0.1, parameter.value.shape).astype(parameter.value.dtype)
    folder = f"{task.folder}/weights"
    model.save_pretrained(folder)
    return folder
