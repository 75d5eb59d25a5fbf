"""The facts of a run: its steps, its settings in words, and the command to repeat it."""

import shlex
from dataclasses import fields
from typing import Any

from npbert.pages.report.run import RunFiles
from npbert.training import SETTINGS_FILE, FinetuneSettings, PretrainSettings, version_in


def facts_of(run: RunFiles) -> dict[str, str]:
    """Return the steps of a run and the version of npbert that made it, by name."""
    return {"steps": f"{run.step:,}", "made by": f"npbert {version_in(run.folder / SETTINGS_FILE)}"}


def command_of(run: RunFiles) -> str:
    """Return the command to repeat this run in a new FOLDER, from its file of settings."""
    name = "pretrain" if _kind(run) is PretrainSettings else "finetune"
    return shlex.join(["npbert", name, "FOLDER", "--settings", str(run.folder / SETTINGS_FILE)])


def settings_of(run: RunFiles) -> list[tuple[str, str, str]]:
    """Return (name, value, description) of every setting."""
    meanings = {entry.name: entry.metadata["help"] for entry in fields(_kind(run))}
    return [(name, in_words(value), meanings.get(name, "")) for name, value in run.settings.items()]


def _kind(run: RunFiles) -> Any:
    return PretrainSettings if "corpus" in run.settings else FinetuneSettings


def in_words(value: Any) -> str:
    """Return the value of a setting in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
