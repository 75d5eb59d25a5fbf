"""What a run is made with: its settings, with description and default, for Python, the command line and the TOML file;
and checksums of its inputs, so that a resumed run, or one of several processes, detects differences."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import npbert
from npbert.data import Tokenizer
from npbert.io import (
    POSITIVE,
    RATE,
    Settings,
    as_file_error,
    at_least,
    did_you_mean,
    import_extra,
    read_text,
    setting,
    write_text,
)

SETTINGS_FILE = "settings.toml"

_TIMES, _LEAST_TIMES, _SHARE = 10, 3, 0.25  # evaluations during a run

_STEP_IN_FORWARDS = 3  # the time of a step with its backward, in forward passes of its batch

_SHOWN = 40  # letters of a value


@dataclass(frozen=True, kw_only=True)
class TrainerSettings(Settings):
    """Settings of the training loop. (Devlin et al. 2018, appendix A.2 and A.3.)

    Raises: ValueError for a number out of range.
    """

    steps: int = setting(1000, "the number of updates", wanted=at_least(1))
    learning_rate: float = setting(1e-4, "the highest learning rate", wanted=POSITIVE)
    warmup: float = setting(
        0.1,
        "the share of warm-up steps, in which the learning rate rises",
        wanted=RATE,
    )
    weight_decay: float = setting(
        0.01, "the strength of decoupled weight decay, for matrices alone", wanted=at_least(0)
    )
    max_grad_norm: float = setting(1.0, "clip the norm of the gradient to this", wanted=POSITIVE)
    parts: int = setting(
        0,
        "compute each batch in at most this many parts, which threads and processes share; how many share them "
        "changes no bit; 0: one, two or four parts, by the sizes of batch and model",
        wanted=at_least(0),
    )
    gradient_checkpointing: bool = setting(
        False, "recompute each layer in backward, for less memory and the same result"
    )
    evaluate_every: int = setting(
        -1,
        "the steps between evaluations; 0: only at the end; -1: about ten in a run, fewer if they take long",
        wanted=at_least(-1),
    )
    save_every: int = setting(200, "the steps between saved states, from which a run can continue", wanted=at_least(1))
    log_every: int = setting(
        10,
        "the steps between lines of the log, metrics.jsonl; about 20 in a run are also printed",
        wanted=at_least(1),
    )
    patience: int = setting(0, "stop after this many evaluations without a better result; 0: never", wanted=at_least(0))

    def steps_for(self, data: Any) -> int:
        """Return the number of updates of a run on these data."""
        return self.steps

    def interval(self, steps: int, cost: float) -> int:
        """Return the steps between the evaluations of a run of so many steps.

        cost: the time of an evaluation, in forward passes of a batch. By default a run has ten; fewer, but at least
        three for a curve, if they would take more than a quarter of the time.
        """
        if self.evaluate_every >= 0:
            return self.evaluate_every or steps
        takes_a_quarter = cost / (_SHARE * _STEP_IN_FORWARDS)
        return math.ceil(max(steps / _TIMES, min(takes_a_quarter, steps / _LEAST_TIMES)))


Kind = TypeVar("Kind", bound=Settings)


def read_settings(path: Path) -> dict[str, Any]:
    """Return the values in a TOML file by name. Raises: FileError if it is not TOML; OSError."""
    tomlkit = import_extra("tomlkit")
    with as_file_error(f"{path} is not valid TOML"):
        return tomlkit.parse(read_text(path)).unwrap()


def save_settings(settings: Settings, folder: Path) -> None:
    """Write `folder`/settings.toml: the version of npbert, then each setting with its description."""
    lines = [f"# npbert {npbert.__version__}"]
    for entry in fields(settings):
        value = json.dumps(getattr(settings, entry.name), ensure_ascii=False)  # which is TOML, too
        lines += [f"# {entry.metadata['help']}", f"{entry.name} = {value}"]
    write_text(folder / SETTINGS_FILE, "\n".join([*lines, ""]))


def check_names(kind: type[Settings], given: Iterable[str]) -> None:
    """Raise TypeError for an unknown setting, with the closest name."""
    known = kind.__dataclass_fields__
    for name in given:
        if name not in known:
            raise TypeError(f"unknown setting {name}{did_you_mean(name, known)}")


def load_settings(kind: type[Kind], path: Path, **changes: Any) -> Kind:
    """Return the settings of a TOML file, with `changes`.

    Raises: FileError if it is not TOML, for an unknown setting, or a wrong value.
    """
    values = read_settings(path)
    with as_file_error(path):
        check_names(kind, values)
        return kind(**{**values, **changes})


def digests(inputs: Mapping[str, Path | str]) -> dict[str, str]:
    """Return the size and the SHA-256 of each file, of each text, and of npbert's code, by name.

    Raises: OSError for a file that cannot be read.
    """
    found = {"code of npbert": _code()}
    for name, each in inputs.items():
        found[name] = _sum(each.open("rb") if isinstance(each, Path) else BytesIO(each.encode()))
    return found


def vocabulary(tokenizer: Tokenizer) -> str:
    """Return a tokenizer as text: the content of its tokenizer.json, and its other settings."""
    whole = tokenizer.library_tokenizer.to_str()
    return f"{whole} {tokenizer!r} {tokenizer.truncation_side} {tokenizer.has_types}"


def differences(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """What has changed, each as a sentence without its end."""
    found = []
    for name in {**before, **now}:
        old, new = before.get(name, "missing"), now.get(name, "missing")
        if old != new:
            found.append(f"{name} was {str(old)[:_SHOWN]} and is {str(new)[:_SHOWN]}")
    return found


def _code() -> str:
    root = Path(npbert.__file__).parent
    files = sorted([*root.rglob("*.py"), *root.rglob("*.json")])
    return _sum(BytesIO(b"".join(file.read_bytes() for file in files)))


def _sum(stream: BinaryIO) -> str:
    found = sha256()
    with stream:
        for data in iter(lambda: stream.read(2**20), b""):
            found.update(data)
        return f"{stream.tell():,} bytes, SHA-256 {found.hexdigest()}"
