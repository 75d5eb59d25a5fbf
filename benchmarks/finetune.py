"""Fine-tuning a real checkpoint on the paper's kinds of tasks, in npbert and in transformers with the same recipe.

    python benchmarks/finetune.py CHECKPOINT DATA TASK [--seeds 0 1 2] [--epochs 2] [--sides npbert transformers]

DATA is a folder with cola/, stsb/ and squad/ as published. Each seed trains both sides on the same batches, with
the same schedule, decay, clipping and dropout rate; the new head and the dropout are each side's own. Every result is a
line of JSON, on standard output and at the end of --output; `--table` prints the mean and the spread of such a file.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from npbert.optim import linear_warmup_decay
from npbert.training.finetune import FinetuneSettings, Finetuning

TASKS: dict[str, dict[str, Any]] = {
    "cola": {
        "task": "classification",
        "train": "cola/in_domain_train.tsv",
        "held_out": "cola/in_domain_dev.tsv",
        "text": "3",
        "label": "1",
        "metric": "matthews",
        "learning_rate": 5e-5,
    },
    "stsb": {
        "task": "regression",
        "train": "stsb/sts-train.csv",
        "held_out": "stsb/sts-dev.csv",
        "delimiter": "tab",
        "text": "5",
        "text_pair": "6",
        "label": "4",
        "learning_rate": 5e-5,
    },
    "squad": {
        "task": "squad",
        "train": "squad/train-40-articles.json",
        "held_out": "squad/dev-8-articles.json",
        "max_length": 384,
        "batch_size": 16,
        "learning_rate": 1e-4,
    },
}


SIDES = ("npbert", "transformers")


class TransformersModel:
    """A transformers model that the evaluation of an npbert task takes for npbert's own."""

    def __init__(self, checkpoint: str, run: Finetuning, seed: int) -> None:
        import torch
        import transformers

        torch.manual_seed(seed)
        self.torch = torch
        self.config = run.model.config
        model_class = getattr(transformers, type(run.model).__name__)
        self.module = model_class.from_pretrained(checkpoint, num_labels=self.config.num_labels)

    def tensors(self, batch: Any) -> dict[str, Any]:
        return {name: self.torch.as_tensor(value) for name, value in vars(batch).items() if value is not None}

    def __call__(self, batch: Any) -> Any:
        with self.torch.no_grad():
            output = self.module.eval()(**{k: v for k, v in self.tensors(batch).items() if not k.endswith("positions")})
        return output.logits.numpy() if "logits" in output else (output.start_logits.numpy(), output.end_logits.numpy())

    def train(self, run: Finetuning) -> None:
        """The loop of npbert's Trainer, in torch."""
        settings, total, torch = run.settings, run.trainer.progress.total_steps, self.torch
        parameters = list(self.module.parameters())
        groups = [
            {"params": [p for p in parameters if p.ndim > 1], "weight_decay": settings.weight_decay},
            {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
        ]
        optimizer = torch.optim.AdamW(groups, lr=settings.learning_rate)
        batches = run.trainer.progress.batches(run.data)
        for step in range(total):
            for group in optimizer.param_groups:
                group["lr"] = linear_warmup_decay(
                    step,
                    lr=settings.learning_rate,
                    warmup_steps=int(settings.warmup * total),
                    total_steps=total,
                )
            tensors = self.tensors(next(batches))
            if tensors.get("labels") is not None and tensors["labels"].dtype == torch.float64:
                tensors["labels"] = tensors["labels"].float()
            self.module.train()
            optimizer.zero_grad()
            self.module(**tensors).loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, settings.max_grad_norm)
            optimizer.step()


def measure(side: str, checkpoint: str, settings: FinetuneSettings) -> dict[str, float]:
    """Train one side with the seed in the settings; the task's metrics on the held-out file, and the seconds."""
    with tempfile.TemporaryDirectory() as folder:
        run = Finetuning(settings, folder)
        start = time.perf_counter()
        if side == "npbert":
            numbers = run.trainer.train()
        else:
            model = TransformersModel(checkpoint, run, settings.seed)
            model.train(run)
            run.task.model = model  # it is called as npbert's is
            numbers = run.evaluate()
        return {**numbers, "seconds": time.perf_counter() - start}


def table(path: Path) -> str:
    """Mean and standard deviation by task, side and metric, as Markdown."""
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in map(json.loads, path.read_text().splitlines()):
        for name, value in row["numbers"].items():
            values[row["task"], name, row["side"]].append(value)
    lines = ["| task | metric | npbert | transformers |", "|---|---|---|---|"]
    for task, name in dict.fromkeys(key[:2] for key in values):
        cells = []
        for side in SIDES:
            numbers = values[task, name, side]
            spread = statistics.stdev(numbers) if len(numbers) > 1 else float("nan")
            digits = 0 if name == "seconds" else 4 if max(numbers) < 2 else 2
            listed = ", ".join(f"{number:.{digits}f}" for number in numbers)
            cells.append(f"{statistics.mean(numbers):.{digits}f} ± {spread:.{digits}f} ({listed})")
        lines.append(f"| {task} | {name.replace('_', ' ')} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint")
    parser.add_argument("data", type=Path)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES))
    parser.add_argument("--epochs", type=float, default=2.0)
    parser.add_argument("--steps", type=int, default=0, help="instead of epochs")
    parser.add_argument("--output", type=Path, default=Path("finetune.jsonl"))
    parser.add_argument("--table", action="store_true", help="print the table of --output at the end")
    args = parser.parse_args()
    spec = dict(TASKS[args.task])
    for name in ("train", "held_out"):
        spec[name] = str(args.data / spec[name])
    for seed in args.seeds:
        settings = FinetuneSettings(
            **spec, model=args.checkpoint, seed=seed, epochs=args.epochs, steps=args.steps, save_every=10**9
        )
        for side in args.sides:
            row = {"task": args.task, "side": side, "seed": seed, "numbers": measure(side, args.checkpoint, settings)}
            print(json.dumps(row), flush=True)
            with args.output.open("a") as file:
                file.write(json.dumps(row) + "\n")
    if args.table:
        print(table(args.output))


if __name__ == "__main__":
    main()
