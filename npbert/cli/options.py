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
    "what to learn from": ("corpus", "document_per_file", "train", "model", "new_head", "vocabulary", "held_out"),
    "what the labelled files look like": (
        "task",
        "text",
        "text_pair",
        "choices",
        "negatives",
        "label",
        "delimiter",
        "first_row",
    ),
    "how the text is used": (
        "objective",
        "mask_probability",
        "whole_words",
        "prompts",
        "pooling",
        "loss",
        "max_length",
        "batch_size",
    ),
    "how long and how fast": ("epochs", "steps", "learning_rate", "warmup", "weight_decay", "max_grad_norm", "seed"),
    "what weighs more": ("class_weight", "sample_weight"),
    "how it is judged": ("held_out_batches", "metric", "positive", "evaluate_every", "patience"),
    "what is kept": ("save_every", "log_every", "keep_state"),
    "how to save memory": ("parts", "gradient_checkpointing"),
}
"""The settings that belong together in --help."""

COLUMNS = ("text", "text_pair", "delimiter", "first_row")
"""The settings of a task that name the columns of a table of texts."""


@dataclass
class SettingsCommand(Command):
    """A command with an option for every setting of a kind, and --settings for a file of them."""

    settings: str = setting(
        "", "a TOML file of settings, as a run keeps them; options on the command line override the file", value="FILE"
    )

    kind: ClassVar[type[Settings]]

    @classmethod
    def groups(cls) -> dict[str, list[Entry]]:
        """The settings, too."""
        known = {entry.name: entry for entry in entries_of(cls.kind)}
        groups = super().groups()
        for title, names in GROUPS.items():
            groups[title] = [known[name] for name in names if name in known]
        return groups

    def read_settings(self) -> Any:
        """The settings that the options say, over those of --settings, over the defaults.

        Raises: FileError for a file that is wrong; InputError for an option that is.
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
    input: str = argument("FILE", "a file of text; without it, standard input is read", default=STANDARD_INPUT)
    output: str = setting("", "where to write; without it, to standard output", value="FILE")

    columns: ClassVar[tuple[str, ...]] = ()
    """The settings of a task that name the columns of a labelled file, as far as the command reads one."""
    endings: ClassVar[Sequence[str]] = JSON_LINES
    """How the name of the output may end."""

    @classmethod
    def groups(cls) -> dict[str, list[Entry]]:
        """The columns, too."""
        columns = [entry for entry in entries_of(TaskSettings) if entry.name in cls.columns]
        return {**super().groups(), "for a file with columns": columns}

    def run(self) -> int:
        """Do it when it is clear that the output can be written, and what the folder holds."""
        check_output(self.output, self.input, endings=self.endings)
        load_config(self.folder)  # what is wrong with it is said before anybody types a text
        self.write()
        return 0

    def write(self) -> None:
        """Write the answers."""
        write_json_lines(self.rows(), self.output)

    def rows(self) -> Iterable[Any]:
        """Read the texts, and find an answer to each."""
        raise NotImplementedError

    def run_settings(self) -> FinetuneSettings | None:
        """The settings of the run of fine-tuning in the folder, if it is one."""
        path = Path(self.folder) / SETTINGS_FILE
        is_run = path.is_file() and command_of(path.parent) == "finetune"
        return load_settings(FinetuneSettings, path) if is_run else None

    def columns_of(self, run: FinetuneSettings | None, endings: tuple[str, ...] = ()) -> TaskSettings | None:
        """The columns in the file: those of the options over those of the run. None for a text on each line: where no
        option names a column, and no run knows those of a file whose name ends in one of `endings`."""
        if self.given or (run and self.input.endswith(endings)):
            return replace(run or TaskSettings(), **self.given)
        return None

    def use(self, kind: Any, run: FinetuneSettings | None) -> Any:
        """The model in the folder, as a task of this kind, which reads as much of a text as the run did."""
        return kind.from_pretrained(self.folder, max_length=run.max_length if run else None)


def command_of(folder: Path) -> str:
    """The command by which the run in the folder was begun: pretrain or finetune."""
    return "pretrain" if "corpus" in read_settings(folder / SETTINGS_FILE) else "finetune"
