"""Task: what every side is given, in a folder, so that all get the same arrays and each a process of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = dict[str, Array]
"""A batch: input_ids, token_type_ids and attention_mask (B, T), and for training labels and next_sentence_label."""

Step: TypeAlias = Callable[[Arrays], float]
"""One whole training step on a batch; the loss before it."""
Encode: TypeAlias = Callable[[Arrays], Array]
"""The last hidden state (B, T, D) of a batch."""

WHOLE = ("pretrain", "finetune", "embed")
"""The kinds of tasks that are whole runs, from files to files: each has a function of its name in sides/*_runs.py."""

MAX_NORM = 1.0
SENTENCE = "A plane is taking off."


@dataclass(frozen=True)
class Task:
    """A workload as it is measured: passes over all its batches, or for `start` a process from beginning to end.

    kind: `train` for whole training steps, `encode` for inference, `start` for a first sentence vector; or of WHOLE.
    config: the sizes and choices of the model, by Hugging Face's names; of a whole run, what whole.py says.
    checkpoint: where all but `train` and `pretrain` find the model.
    weights: a folder with weights to train from; without one, each side draws its own.
    """

    folder: str
    kind: str
    config: dict[str, Any]
    checkpoint: str = ""
    weights: str = ""
    learning_rate: float = 1e-4
    weight_decay: float = 0.01
    passes: int = 5
    warm_up: int = 2

    def save(self, batches: list[Arrays]) -> None:
        """Write the task and its batches into its folder."""
        folder = Path(self.folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "task.json").write_text(json.dumps(asdict(self)))
        for number, batch in enumerate(batches):
            np.savez(folder / f"batch{number:04}.npz", **batch)  # type: ignore[arg-type]

    @classmethod
    def load(cls, folder: str) -> Task:
        return cls(**json.loads(Path(folder, "task.json").read_text()))

    def batches(self) -> list[Arrays]:
        return [dict(np.load(path)) for path in sorted(Path(self.folder).glob("batch*.npz"))]


def num_threads() -> int:
    """How many threads this process may use, as the parent says."""
    return int(os.environ["OMP_NUM_THREADS"])
