"""transformers on torch, eager, with SDPA attention, as its users write it: its tokenizers, collators and schedule."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
import transformers
from task import MAX_NORM, Array, Task, num_threads

torch.set_num_threads(num_threads())
torch.manual_seed(0)
ATTENTION: Any = {"attn_implementation": "sdpa"}
WEIGHT_DECAY, WARMUP, LOG_EVERY, EMBED_BATCH = 0.01, 0.1, 10, 32


def pretrain(task: Task) -> None:
    """Hidden words, from pieces of the text of equal length, as in its run_mlm.py."""
    settings = task.config["settings"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(settings["vocabulary"])
    texts = [Path(file).read_text(encoding="utf-8") for file in task.config["files"]]
    lines = [line for text in texts for line in text.splitlines() if line.strip()]
    ids = [index for row in tokenizer(lines)["input_ids"] for index in row]
    length = settings["max_length"]
    pieces = [{"input_ids": ids[start : start + length]} for start in range(0, len(ids) - length + 1, length)]
    collate = transformers.DataCollatorForLanguageModeling(tokenizer)
    model = transformers.BertForMaskedLM(transformers.BertConfig(**task.config["sizes"], **ATTENTION))
    train(model, loader(pieces, collate, settings["batch_size"]), settings["steps"], 1e-4, tokenizer, task)


def finetune(task: Task) -> None:
    """Classes of sentences, and at the end how many of the held-out ones are right."""
    settings = task.config["settings"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(task.checkpoint)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(task.checkpoint, num_labels=2, **ATTENTION)
    collate = transformers.DataCollatorWithPadding(tokenizer)
    learned, judged = (examples(settings[name], tokenizer, settings["max_length"]) for name in ("train", "held_out"))
    size = settings["batch_size"]
    batches = loader(learned, collate, size)
    train(model, batches, len(batches), settings["learning_rate"], tokenizer, task)
    model.eval()
    right = 0
    with torch.inference_mode():
        for batch in torch.utils.data.DataLoader(cast(Any, judged), size, collate_fn=collate):
            right += int((model(**batch).logits.argmax(-1) == batch["labels"]).sum())
    print(f"accuracy {right / len(judged):.4f}")


def examples(file: str, tokenizer: Any, max_length: int) -> list[dict[str, Any]]:
    """The rows of a file of CoLA: a label and a sentence each."""
    with Path(file).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    ids = tokenizer([row[3] for row in rows], truncation=True, max_length=max_length)["input_ids"]
    return [{"input_ids": each, "labels": int(row[1])} for each, row in zip(ids, rows, strict=True)]


def loader(rows: Any, collate: Any, batch_size: int) -> Any:
    return torch.utils.data.DataLoader(rows, batch_size, shuffle=True, collate_fn=collate)


def train(model: Any, batches: Any, steps: int, learning_rate: float, tokenizer: Any, task: Task) -> None:
    """The loop, and at the end the model, the tokenizer and the state of the optimizer in files."""
    parameters = list(model.parameters())
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": WEIGHT_DECAY},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=learning_rate, fused=True)
    schedule = cast(Any, transformers).get_linear_schedule_with_warmup(optimizer, int(WARMUP * steps), steps)
    model.train()
    step = 0
    while step < steps:
        for batch in batches:
            loss = model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, MAX_NORM)
            optimizer.step()
            schedule.step()
            step += 1
            if step % LOG_EVERY == 0:
                print(f"step {step}: loss {loss.item():.3f}")
            if step == steps:
                break
    with tempfile.TemporaryDirectory(dir=task.folder) as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        torch.save(optimizer.state_dict(), f"{folder}/optimizer.pt")


def embed(task: Task) -> None:
    """The mean of the vectors of all tokens, brought to length 1, in batches of sentences of like lengths."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(task.checkpoint)
    model = transformers.AutoModel.from_pretrained(task.checkpoint, **ATTENTION).eval()
    lines = Path(task.config["lines"]).read_text(encoding="utf-8").splitlines()
    order = sorted(range(len(lines)), key=lambda number: -len(lines[number]))
    vectors: Array = np.empty((len(lines), model.config.hidden_size), np.float32)
    with torch.inference_mode():
        for start in range(0, len(order), EMBED_BATCH):
            numbers = order[start : start + EMBED_BATCH]
            batch = tokenizer(
                [lines[number] for number in numbers],
                padding=True,
                truncation=True,
                max_length=task.config["max_length"],
                return_tensors="pt",
            )
            mask = batch["attention_mask"][..., None]
            mean = (model(**batch).last_hidden_state * mask).sum(dim=1) / mask.sum(dim=1)
            vectors[numbers] = torch.nn.functional.normalize(mean).numpy()
    np.save(f"{task.folder}/transformers.npy", vectors)
