"""Options that several commands share: those of a settings class, and those of a command that reads a checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from npbert.cli.command import Command, Entry, argument, entries_of
from npbert.cli.text import JSON_LINES, STANDARD_INPUT, check_output, name_of, read_all, write_json_lines
from npbert.data.tables import read_table
from npbert.io.settings import setting
from npbert.training.finetune import FinetuneSettings
from npbert.training.settings import SETTINGS_FILE, Settings, load_settings, read_settings
from npbert.training.tasks import TaskSettings

GROUPS = {
    "training data": "corpus document_per_file train model new_head vocabulary held_out",
    "format of labelled files": "task text text_pair choices negatives label delimiter first_row",
    "text": "objective mask_probability whole_words prompts pooling loss max_length batch_size",
    "optimization": "epochs steps learning_rate warmup weight_decay max_grad_norm seed",
    "weights": "class_weight sample_weight",
    "evaluation": "held_out_batches metric positive evaluate_every patience",
    "saving and logging": "save_every log_every keep_state",
    "memory": "parts gradient_checkpointing",
}
"""The settings under each title of --help."""
COLUMNS = "text text_pair delimiter first_row"
"""The settings of a task for the columns of a table of texts."""


@dataclass
class SharedCommand(Command):
    """A command with options for the settings of a class, in groups: names by title."""

    kind: ClassVar[type[Settings]] = TaskSettings
    shared: ClassVar[dict[str, str]] = GROUPS

    @classmethod
    def groups(cls) -> dict[str, list[Entry]]:
        """Return the groups, with the settings."""
        known = {entry.name: entry for entry in entries_of(cls.kind)}
        groups = super().groups()
        for title, names in cls.shared.items():
            groups[title] = [known[name] for name in names.split() if name in known]
        return groups


@dataclass
class SettingsCommand(SharedCommand):
    """A command with an option for every setting of a class, and --settings for a file of them."""

    settings: str = setting(
        "", "a TOML file of settings, such as a run's settings.toml; options override it", value="FILE"
    )

    def read_settings(self) -> Any:
        """Return the settings: options over the file of --settings over the defaults.

        Raises: FileError for a wrong file; InputError for a wrong option.
        """
        given = self.given
        return load_settings(self.kind, Path(self.settings), **given) if self.settings else self.kind(**given)


@dataclass
class FilesCommand(SharedCommand):
    """A command that reads a checkpoint and text, and writes a line of JSON for each."""

    folder: str = argument(
        "FOLDER",
        "the folder of a run, or of a checkpoint, with its config.json, model.safetensors, and tokenizer.json or "
        "vocab.txt",
    )
    input: str = argument("FILE", "a file of text (default: standard input)", default=STANDARD_INPUT)
    output: str = setting("", "the file to write (default: standard output)", value="FILE")

    shared: ClassVar = {}
    endings: ClassVar[Sequence[str]] = JSON_LINES
    """The possible endings of the output's name."""

    def run(self) -> int:
        """Check the output, then write the results."""
        check_output(self.output, self.input, endings=self.endings)
        self.write(self.rows())
        return 0

    def write(self, rows: Iterable[Any]) -> None:
        """Write the results."""
        write_json_lines(rows, self.output)

    def rows(self) -> Iterable[Any]:
        """Read the model, as a wrong folder is an error before texts are read, and compute a result for each text."""
        raise NotImplementedError

    def model_of_run(self, kind: Any) -> tuple[Any, FinetuneSettings | None]:
        """Return the model in the folder as a task of this kind, and the settings of the fine-tuning run there, or
        None. The model reads as many tokens of a text as in training."""
        path, run = Path(self.folder) / SETTINGS_FILE, None
        if path.is_file() and command_of(path.parent) == "finetune":
            run = load_settings(FinetuneSettings, path)
        return kind.from_pretrained(self.folder, max_length=run.max_length if run else None), run

    def columns_of(self, run: FinetuneSettings | None, endings: tuple[str, ...] = ()) -> TaskSettings | None:
        """Return the columns of the file: the options over those of the run. None for a text on each line: if no option
        names a column, and there is no run with columns or the file has none of `endings`."""
        if self.given or (run and self.input.endswith(endings)):
            return replace(run or TaskSettings(), **self.given)
        return None

    def read_columns(self, columns: TaskSettings) -> tuple[list[int], list[Any]]:
        """Return the number of the line where each row ends, and its text, or two, from the columns."""
        names = [name for name in (columns.text, columns.text_pair) if name]
        header, text = columns.first_row == "header", read_all(self.input)
        rows = read_table(name_of(self.input), names, delimiter=columns.delimiter, header=header, text=text)
        return [row.place.line for row in rows], [
            row.values[0] if len(names) == 1 else tuple(row.values) for row in rows
        ]


def command_of(folder: Path) -> str:
    """Return the command that started the run in the folder: pretrain or finetune."""
    return "pretrain" if "corpus" in read_settings(folder / SETTINGS_FILE) else "finetune"
