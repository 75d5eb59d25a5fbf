"""The facts of a run: its time and speed, the size of its model, and its command."""

import shlex
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

import npbert
from npbert.io import FileError, counted, import_extra
from npbert.models.hugging_face import TensorFile
from npbert.models.hugging_face.checkpoint import find_weights
from npbert.pages.report.run import RunFiles
from npbert.training import EVENTS_FOLDER, SETTINGS_FILE, FinetuneSettings, PretrainSettings, version_in


def facts_of(run: RunFiles) -> dict[str, str]:
    """Return the known facts of a run by name, without those that it has not recorded."""
    seconds, speed = _clock(run.folder)
    known = {
        "steps": f"{run.step:,}",
        "time": str(timedelta(seconds=round(seconds, 1))) if seconds else "",
        "speed": f"{speed:,.0f} tokens a second" if speed else "",
        "parameters": _parameters(run.folder),
        "made by": f"npbert {version}" if (version := version_in(run.folder / SETTINGS_FILE)) else "",
        "report by": f"npbert {npbert.__version__}",
    }
    return {name: value for name, value in known.items() if value}


def command_of(run: RunFiles) -> str:
    """Return the command to repeat this run, with the settings that differ from the defaults."""
    kind = _kind(run)
    words = ["npbert", "pretrain" if kind is PretrainSettings else "finetune", str(run.folder)]
    for entry in fields(kind):
        value = run.settings.get(entry.name, entry.default)
        value = tuple(value) if isinstance(value, list) else value
        option = f"--{entry.name.replace('_', '-')}"
        if value == entry.default:
            continue
        if isinstance(value, bool):
            words.append(option if value else option.replace("--", "--no-", 1))
        else:
            words += [option, *map(str, value if isinstance(value, tuple) else [value])]
    return shlex.join(words)


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


def _parameters(folder: Path) -> str:
    try:
        shapes = TensorFile(find_weights(folder)).shapes
    except FileNotFoundError:
        return ""
    except (OSError, FileError) as error:
        return str(error)
    return f"{sum(int(np.prod(shape)) for shape in shapes.values()):,} in {counted(len(shapes), 'tensor')}"


def _clock(folder: Path) -> tuple[float, float]:
    """Return the seconds of a run, and the usual tokens per second."""
    loader = import_extra("tensorboard.backend.event_processing.event_file_loader", extra="train").LegacyEventFileLoader
    seconds, speeds = 0.0, []
    for path in filter(Path.is_file, (folder / EVENTS_FOLDER).glob("events.out.tfevents.*")):
        events = list(loader(str(path)).Load())
        seconds += events[-1].wall_time - events[0].wall_time if events else 0
        values = [value for event in events for value in event.summary.value]
        speeds += [value.simple_value for value in values if value.tag == "tokens_per_second"]
    return seconds, float(np.median(speeds)) if speeds else 0.0
