"""Options that several commands share: those of a settings class, and those of a command that reads a checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from npbert.cli.command import Command, Entry, argument, entries_of
from npbert.cli.text import JSON_LINES, STANDARD_INPUT, check_output, write_json_lines
from npbert.io.settings import setting
from npbert.models import load_config
from npbert.training.finetune import FinetuneSettings
from npbert.training.settings import SETTINGS_FILE, Settings, load_settings, read_settings
from npbert.training.tasks import TaskSettings

GROUPS = {
    "training data": ("corpus", "document_per_file", "train", "model", "new_head", "vocabulary", "held_out"),
    "format of labelled files": (
        "task",
        "text",
        "text_pair",
        "choices",
        "negatives",
        "label",
        "delimiter",
        "first_row",
    ),
    "text": (
        "objective",
        "mask_probability",
        "whole_words",
        "prompts",
        "pooling",
        "loss",
        "max_length",
        "batch_size",
    ),
    "optimization": ("epochs", "steps", "learning_rate", "warmup", "weight_decay", "max_grad_norm", "seed"),
    "weights": ("class_weight", "sample_weight"),
    "evaluation": ("held_out_batches", "metric", "positive", "evaluate_every", "patience"),
    "saving and logging": ("save_every", "log_every", "keep_state"),
    "memory": ("parts", "gradient_checkpointing"),
}
"""The settings under each title of --help."""

COLUMNS = ("text", "text_pair", "delimiter", "first_row")
"""The settings of a task for the columns of a table of texts."""


@dataclass
class SettingsCommand(Command):
    """A command with an option for every setting of a class, and --settings for a file of them."""

    settings: str = setting(
        "", "a TOML file of settings, such as a run's settings.toml; options override it", value="FILE"
    )

    kind: ClassVar[type[Settings]]

    @classmethod
    def groups(cls) -> dict[str, list[Entry]]:
        """Return the groups, with the settings."""
        known = {entry.name: entry for entry in entries_of(cls.kind)}
        groups = super().groups()
        for title, names in GROUPS.items():
            groups[title] = [known[name] for name in names if name in known]
        return groups

    def read_settings(self) -> Any:
        """Return the settings: options over the file of --settings over the defaults.

        Raises: FileError for a wrong file; InputError for a wrong option.
        """
        given = self.given
        return load_settings(self.kind, Path(self.settings), **given) if self.settings else self.kind(**given)


@dataclass
class FilesCommand(Command):
    """A command that reads a checkpoint and text, and writes a line of JSON for each."""

    folder: str = argument(
        "FOLDER",
        "the folder of a run, or of a checkpoint, with its config.json, model.safetensors, and tokenizer.json or "
        "vocab.txt",
    )
    input: str = argument("FILE", "a file of text (default: standard input)", default=STANDARD_INPUT)
    output: str = setting("", "the file to write (default: standard output)", value="FILE")

    columns: ClassVar[tuple[str, ...]] = ()
    """The settings for the columns of a labelled file that the command reads."""
    endings: ClassVar[Sequence[str]] = JSON_LINES
    """The possible endings of the output's name."""

    @classmethod
    def groups(cls) -> dict[str, list[Entry]]:
        """Return the groups, with the columns."""
        columns = [entry for entry in entries_of(TaskSettings) if entry.name in cls.columns]
        return {**super().groups(), "for a file with columns": columns}

    def run(self) -> int:
        """Check the output and the folder, then write the results."""
        check_output(self.output, self.input, endings=self.endings)
        load_config(self.folder)  # a wrong folder is an error before texts are read
        self.write()
        return 0

    def write(self) -> None:
        """Write the results."""
        write_json_lines(self.rows(), self.output)

    def rows(self) -> Iterable[Any]:
        """Read the texts, and compute a result for each."""
        raise NotImplementedError

    def run_settings(self) -> FinetuneSettings | None:
        """Return the settings of the fine-tuning run in the folder, or None."""
        path = Path(self.folder) / SETTINGS_FILE
        is_run = path.is_file() and command_of(path.parent) == "finetune"
        return load_settings(FinetuneSettings, path) if is_run else None

    def columns_of(self, run: FinetuneSettings | None, endings: tuple[str, ...] = ()) -> TaskSettings | None:
        """Return the columns of the file: the options over those of the run. None for a text on each line: if no option
        names a column, and there is no run with columns or the file has none of `endings`."""
        if self.given or (run and self.input.endswith(endings)):
            return replace(run or TaskSettings(), **self.given)
        return None

    def use(self, kind: Any, run: FinetuneSettings | None) -> Any:
        """Return the model in the folder as a task of this kind, with the run's length of texts."""
        return kind.from_pretrained(self.folder, max_length=run.max_length if run else None)


def command_of(folder: Path) -> str:
    """Return the command that started the run in the folder: pretrain or finetune."""
    return "pretrain" if "corpus" in read_settings(folder / SETTINGS_FILE) else "finetune"
