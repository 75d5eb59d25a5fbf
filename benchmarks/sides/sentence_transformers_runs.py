"""sentence-transformers: the library that the checkpoints for sentences were made with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from task import Task, num_threads

torch.set_num_threads(num_threads())


def embed(task: Task) -> None:
    model = SentenceTransformer(task.checkpoint, device="cpu")
    lines = Path(task.config["lines"]).read_text(encoding="utf-8").splitlines()
    np.save(f"{task.folder}/sentence_transformers.npy", model.encode(lines))
