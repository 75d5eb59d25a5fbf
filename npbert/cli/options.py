"""Options that several commands share: those of a settings class, and those of a command that reads a checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from npbert.cli.command import Command, UsageError, argument
from npbert.data import read_table
from npbert.io import (
    JSON_LINES,
    STANDARD_INPUT,
    InputError,
    Setting,
    check_writable,
    setting,
    write_json_lines,
)
from npbert.training import (
    SETTINGS_FILE,
    FinetuneSettings,
    PretrainSettings,
    TaskSettings,
    load_settings,
    read_settings,
)

GROUPS = {
    "training data": "corpus document_per_file train model new_head vocabulary held_out",
    "format of labelled files": "task text text_pair choices negatives label delimiter first_row",
    "text": "objective mask_probability whole_words prompts pooling loss max_length batch_size",
    "optimization": "epochs steps learning_rate warmup weight_decay max_grad_norm seed",
    "weights": "class_weight sample_weight",
    "evaluation": "held_out_batches metric positive evaluate_every patience",
    "saving and logging": "save_every log_every",
    "memory": "parts gradient_checkpointing",
}
"""The settings under each title of --help."""
COLUMNS = {"for a file with columns": "text text_pair delimiter first_row"}
"""The settings of a task for the columns of a table of texts."""

Row = tuple[dict[str, int], Any]
"""The place of a text, {"line": 3} in a table or {} with a text on each line, and the text, or two."""


class SettingsCommand(Command):
    """A command with an option for every setting of a class, and --settings for a file of them."""

    settings: str = setting(
        "", "a TOML file of settings, such as a run's settings.toml; options override it", value="FILE"
    )

    kind = TaskSettings
    shared = GROUPS

    def read_settings(self, folder: Any = None, **changes: Any) -> Any:
        """Return the settings: options over changes over those of the run in the folder; without a run, over the file
        of --settings, or the defaults.

        Raises: UsageError for --settings beside a run; FileError for a wrong file; InputError for a wrong option.
        """
        given, run = self.given, folder and kind_of_run(folder)
        if run and self.settings:
            raise UsageError((Setting("settings"), f" is not for a run: {folder} has its own settings"))
        if run:
            return load_settings(run, folder / SETTINGS_FILE, **{**changes, **given})
        return load_settings(self.kind, Path(self.settings), **given) if self.settings else self.kind(**given)


class FilesCommand(Command):
    """A command that reads a checkpoint and text, and writes a line of JSON for each."""

    folder: str = argument(
        "FOLDER",
        "the folder of a run, or of a checkpoint, with its config.json, model.safetensors, and tokenizer.json or "
        "vocab.txt",
    )
    input: str = argument("FILE", "a file of text (default: standard input)", default=STANDARD_INPUT)
    output: str = setting("", "the file to write (default: standard output)", value="FILE")

    kind = TaskSettings
    endings: ClassVar[Sequence[str]] = JSON_LINES
    """The possible endings of the output's name."""

    def run(self) -> None:
        """Check the output, before the work, then write the results."""
        if self.output:
            path = Path(self.output)
            check_writable(path)
            wanted = ""
            if path.resolve() == Path(self.input).resolve():
                wanted = "another file than the input, which would be lost"
            elif path.suffix not in ("", *self.endings):
                wanted = f"a name that ends in one of {', '.join(self.endings)}"
            if wanted:
                raise InputError("output", self.output, wanted)
        self.write(self.rows())

    def write(self, rows: Iterable[Any]) -> None:
        """Write the results."""
        write_json_lines(rows, self.output)

    def rows(self) -> Iterable[Any]:
        """Read the model, as a wrong folder is an error before texts are read, and compute a result for each text."""
        raise NotImplementedError

    def columns(self, endings: tuple[str, ...]) -> TaskSettings | None:
        """Return the columns of the file: the options over those of the run in the folder. None for a text on each
        line: if no option names a column, and there is no run of npbert finetune or the file has none of `endings`."""
        if not self.given and not self.input.endswith(endings):
            return None
        folder = Path(self.folder)
        if kind_of_run(folder) is FinetuneSettings:
            return load_settings(FinetuneSettings, folder / SETTINGS_FILE, **self.given)
        return TaskSettings(**self.given) if self.given else None

    def read_columns(self, columns: TaskSettings) -> list[Row]:
        """Return the text, or two, of each row of the file, and the number of the line where it ends."""
        names = [name for name in (columns.text, columns.text_pair) if name]
        header = columns.first_row == "header"
        rows = read_table(self.input, names, delimiter=columns.delimiter, header=header)
        return [({"line": place.line}, values[0] if len(values) == 1 else values) for values, place in rows]


def kind_of_run(folder: Path) -> Any:
    """Return the settings class of the run in the folder: PretrainSettings or FinetuneSettings, or None without a
    run."""
    path = folder / SETTINGS_FILE
    if not path.is_file():
        return None
    return PretrainSettings if "corpus" in read_settings(path) else FinetuneSettings
