"""Every setting of a run, with what it means and its default: for Python, the command line and the TOML file."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import npbert
from npbert.io.errors import POSITIVE, Wanted, at_least
from npbert.io.extras import import_extra
from npbert.io.files import FileError, atomic_write, read_text
from npbert.io.messages import did_you_mean
from npbert.io.settings import Settings as Settings
from npbert.io.settings import setting as setting

SETTINGS_FILE = "settings.toml"
_VERSION = "npbert "

_TIMES, _LEAST_TIMES, _SHARE = 10, 3, 0.25  # of evaluations along the way

_NOTED = 0.1  # the share of the time from which on it is said
STEP_IN_FORWARDS = 3
"""The time of a step, in forward passes of its batch: there is the way back, too."""


@dataclass(frozen=True, kw_only=True)
class TrainerSettings(Settings):
    """Settings of the loop: how long and how fast it learns. (Devlin et al. 2018, appendix A.2 and A.3.)

    Raises: ValueError for a number out of range.
    """

    steps: int = setting(1000, "the number of updates", wanted=at_least(0))
    learning_rate: float = setting(1e-4, "the highest learning rate", value="RATE", wanted=POSITIVE)
    warmup: float = setting(
        0.1,
        "the share of warm-up steps, in which the learning rate rises",
        value="SHARE",
        wanted=Wanted("at least 0 and less than 1", lambda share: 0 <= share < 1),
    )
    weight_decay: float = setting(
        0.01, "the strength of decoupled weight decay, for matrices alone", value="RATE", wanted=at_least(0)
    )
    max_grad_norm: float = setting(1.0, "clip the norm of the gradient to this", value="NORM", wanted=POSITIVE)
    parts: int = setting(
        0,
        "compute each batch in at most this many parts, to share among threads and processes; their number "
        "changes no bit; 0: from one to four parts, by the size of batch and model",
        wanted=at_least(0),
    )
    gradient_checkpointing: bool = setting(
        False, "recompute each layer in backward, for less memory and the same result"
    )
    evaluate_every: int = setting(
        -1,
        "the steps between evaluations; 0: only at the end; -1: about ten in a run, fewer if they take long",
        value="STEPS",
        wanted=at_least(-1),
    )
    save_every: int = setting(
        200, "the steps between saved states, from which a run can continue", value="STEPS", wanted=at_least(1)
    )
    log_every: int = setting(
        10,
        "the steps between lines of the log, metrics.jsonl; about 20 in a run are also printed",
        value="STEPS",
        wanted=at_least(1),
    )
    keep_state: bool = setting(True, "keep the state of a finished run, its largest file, to continue it later")
    patience: int = setting(0, "stop after this many evaluations without a better result; 0: never", wanted=at_least(0))

    def steps_for(self, data: Any) -> int:
        """How many updates a run on these data makes."""
        return self.steps

    def with_interval(self, cost: float, *, is_judged: bool) -> TrainerSettings:
        """The same with the steps between evaluations in `evaluate_every`; 0 for none but the last.

        cost: how long an evaluation takes, in steps. By default there are ten in a run; but where they would take
        longer than a quarter of the steps, fewer, and at least three, enough for a curve; and none where nothing judges
        the model.
        """
        if self.evaluate_every >= 0 or not is_judged:
            return replace(self, evaluate_every=max(0, self.evaluate_every))
        times = min(_TIMES, max(_LEAST_TIMES, _SHARE * self.steps / cost)) if cost else _TIMES
        return replace(self, evaluate_every=math.ceil(self.steps / times))

    def is_logged(self, step: int) -> bool:
        """True if the log has a row for this step."""
        return step % self.log_every == 0 or step == self.steps

    def is_judged(self, step: int) -> bool:
        """True if the model is judged after this step. (`evaluate_every` is known: see `with_interval`.)"""
        return step == self.steps or (self.evaluate_every > 0 and step % self.evaluate_every == 0)


def when_judged(settings: TrainerSettings, cost: float) -> str:
    """At which of its steps a run is judged, and how much longer it takes for that. cost: of a judgement, in steps."""
    every = settings.evaluate_every
    if not 0 < every < settings.steps:
        return "at the end"
    share = cost * math.ceil(settings.steps / every) / settings.steps
    return ("after every step" if every == 1 else f"every {every:,} steps") + (
        f" (which takes about {share:.0%} more time)" if share >= _NOTED else ""
    )


Kind = TypeVar("Kind", bound=Settings)


def read_settings(path: Path) -> dict[str, Any]:
    """The values in a TOML file by name. Raises: FileError that names the file when it is not TOML; OSError."""
    tomlkit = import_extra("tomlkit", extra="train")
    try:
        values: dict[str, Any] = tomlkit.parse(read_text(path)).unwrap()
    except tomlkit.exceptions.ParseError as error:
        raise FileError(f"{path} is not valid TOML: {error}") from error
    return values


def save_settings(settings: Settings, folder: Path) -> None:
    """Write `folder`/settings.toml: the version of npbert, then each setting with a comment that says what it means.
    (Extra: train.)"""
    tomlkit = import_extra("tomlkit", extra="train")
    document = tomlkit.document()
    document.add(tomlkit.comment(f"{_VERSION}{npbert.__version__}"))
    for entry in fields(settings):
        document.add(tomlkit.comment(entry.metadata["help"]))
        document.add(entry.name, getattr(settings, entry.name))
    with atomic_write(folder / SETTINGS_FILE) as path:
        path.write_text(tomlkit.dumps(document), encoding="utf-8")


def version_in(path: Path) -> str:
    """The version of npbert that wrote a settings.toml; "" where an older one did. Raises: FileError; OSError."""
    first, *_ = read_text(path).splitlines() or [""]
    return first.removeprefix(f"# {_VERSION}") if first.startswith(f"# {_VERSION}") else ""


def load_settings(kind: type[Kind], path: Path, **changes: Any) -> Kind:
    """The settings of a TOML file, with `changes` made to them.

    Raises: FileError that names the file: not TOML, a setting that there is not, or a value that is not possible.
    """
    values = read_settings(path)
    known = {entry.name for entry in fields(kind)}
    unknown = values.keys() - known
    if unknown:
        hint = did_you_mean(min(unknown), known) or f"; wanted one of {', '.join(sorted(known))}"
        raise FileError(f"{path}: unknown setting {', '.join(sorted(unknown))}{hint}")
    try:
        return kind(**{**values, **changes})
    except (TypeError, ValueError) as error:
        raise FileError(f"{path}: {error}") from error
