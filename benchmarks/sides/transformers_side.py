"""transformers on torch, eager, with SDPA attention: what most people use today."""

from __future__ import annotations

from typing import Any

import torch
import transformers
from task import MAX_NORM, SENTENCE, Array, Arrays, Encode, Step, Task, num_threads

torch.set_num_threads(num_threads())
ATTENTION: Any = {"attn_implementation": "sdpa"}


def tensors(batch: Arrays) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(array) for name, array in batch.items()}


def training_step(task: Task) -> Step:
    torch.manual_seed(0)
    model_class, config = transformers.BertForPreTraining, {**task.config, **ATTENTION}
    if task.weights:
        model = model_class.from_pretrained(task.weights, **ATTENTION)
    else:
        model = model_class(transformers.BertConfig(**config))
    model.train()
    parameters = list(model.parameters())
    groups = [  # as in BERT's code, matrices decay and vectors do not
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": task.weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=task.learning_rate)

    def step(batch: Arrays) -> float:
        inputs = tensors(batch)
        loss = model(**inputs).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, MAX_NORM)
        optimizer.step()
        return float(loss.item())

    return step


def encode(task: Task) -> Encode:
    model = transformers.AutoModel.from_pretrained(task.checkpoint, **ATTENTION).eval()

    @torch.inference_mode()
    def run(batch: Arrays) -> Array:
        hidden: Array = model(**tensors(batch)).last_hidden_state.numpy()
        return hidden

    return run


def first_vector(task: Task) -> list[float]:
    tokenizer = transformers.AutoTokenizer.from_pretrained(task.checkpoint)
    model = transformers.AutoModel.from_pretrained(task.checkpoint).eval()
    with torch.no_grad():
        hidden = model(**tokenizer(SENTENCE, return_tensors="pt")).last_hidden_state
    vector: list[float] = hidden.mean(dim=1)[0, :5].tolist()
    return vector
