"""torch at its best on a CPU: a model written for speed, and the fused AdamW."""

from __future__ import annotations

import torch
from task import MAX_NORM, Arrays, Step, Task, num_threads

from sides.torch_model import PreTraining, rename

torch.set_num_threads(num_threads())


def training_step(task: Task) -> Step:
    torch.manual_seed(0)
    model = PreTraining(task.config)
    if task.weights:
        from safetensors.torch import load_file

        model.load_state_dict(rename(load_file(f"{task.weights}/model.safetensors")))
    parameters = list(model.parameters())
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": task.weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=task.learning_rate, fused=True)

    def step(batch: Arrays) -> float:
        loss = model({name: torch.from_numpy(array) for name, array in batch.items()})
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, MAX_NORM)
        optimizer.step()
        return float(loss.item())

    return step
