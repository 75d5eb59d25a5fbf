"""npbert, as its command line."""

from __future__ import annotations

import tempfile
from typing import Any

from task import Task

from npbert.cli import main


def pretrain(task: Task) -> None:
    with tempfile.TemporaryDirectory(dir=task.folder) as folder:
        command("pretrain", f"{folder}/run", **task.config["settings"])


def finetune(task: Task) -> None:
    with tempfile.TemporaryDirectory(dir=task.folder) as folder:
        command("finetune", f"{folder}/run", **task.config["settings"])


def embed(task: Task) -> None:
    command("embed", task.checkpoint, task.config["lines"], output=f"{task.folder}/npbert.npy")


def command(*words: str, **settings: Any) -> None:
    """Run a command with these options. Raises: RuntimeError when it fails."""
    options = []
    for name, value in settings.items():
        values = [] if value is True else value if isinstance(value, list) else [value]
        options += [f"--{name.replace('_', '-')}", *map(str, values)]
    if status := main([*words, *options]):
        raise RuntimeError(f"npbert {words[0]} ended with status {status}")
