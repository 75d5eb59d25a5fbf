"""`npbert pretrain` and `npbert finetune`: from text to a model. `npbert evaluate`: measures one, in the tables that
also appear at the end of a run."""

from __future__ import annotations

import logging
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ClassVar

from npbert.cli.command import Command, UsageError, argument, switch
from npbert.compute import num_threads
from npbert.io import (
    FileError,
    Setting,
    counted,
    import_extra,
    note,
    quiet,
    setting,
    write_json_lines,
)
from npbert.training import (
    MODEL_FOLDER,
    SETTINGS_FILE,
    STATE_FILE,
    FinetuneSettings,
    Finetuning,
    Pretraining,
    PretrainSettings,
    TaskSettings,
    evaluate_files,
    load_settings,
    read_settings,
    world,
)
from npbert.training.finetune import Judged

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


def kind_of_run(folder: Path) -> Any:
    """Return the settings class of the run in the folder: PretrainSettings or FinetuneSettings, or None without a
    run."""
    path = folder / SETTINGS_FILE
    if not path.is_file():
        return None
    return PretrainSettings if "corpus" in read_settings(path) else FinetuneSettings


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
            raise UsageError(f"{Setting('settings')} is not for a run: {folder} has its own settings")
        if run:
            return load_settings(run, folder / SETTINGS_FILE, **{**changes, **given})
        return load_settings(self.kind, Path(self.settings), **given) if self.settings else self.kind(**given)


class TrainCommand(SettingsCommand):
    """Base class of a command that trains a model in a folder, on one process or on all processes of a launcher."""

    folder: str = argument("FOLDER", "the folder of the run: its state, its log, and the best model in FOLDER/model")
    resume: bool = switch("continue the run in FOLDER; a finished one with more --steps or --epochs")
    changed_data: bool = switch(
        "continue even if files, vocabulary, labels or npbert have changed; earlier evaluations then do not count"
    )

    shares_work = True
    name: ClassVar[str]
    kind: ClassVar[Any]
    run_class: ClassVar[Any]

    def run(self) -> None:
        """Train. Of several processes, the first prints for all."""
        settings, communicator = self._settings_of_run(), world()
        with communicator.ending_together(), nullcontext() if communicator.is_first else quiet():
            import_extra("tomlkit")  # a missing extra is an error before the corpus is read
            with quiet(logging.WARNING) if self.resume else nullcontext():  # the new head is in the state by now
                run = self.run_class(settings, Path(self.folder), communicator=communicator)
            if not self.resume:
                note(run.summary())
            if communicator.size > 1:
                note(f"{communicator.size} processes, with {counted(num_threads(), 'thread')} each")
            numbers = run.trainer.train(changed_data=self.changed_data)
        if communicator.is_first:
            if numbers:
                print(Judged("held out", numbers, getattr(run, "task", None), run.baselines, {}))
            best, model = run.trainer.progress.best_step, Path(self.folder) / MODEL_FOLDER
            print(f"after {counted(run.trainer.step, 'step')}; the model of step {best} is in {model}")

    def _settings_of_run(self) -> Any:
        """Return the given settings, or with --resume those in the folder with the given ones; the run refuses those
        that may not change."""
        folder = Path(self.folder)
        if not self.resume:
            if (folder / STATE_FILE).exists():
                raise FileError(f"{folder} already has a run; continue it with --resume, or choose another folder")
            return self.read_settings()
        if kind_of_run(folder) is not self.kind:
            raise FileError(f"{folder} has no run of npbert {self.name} to continue")
        no_steps = {"steps": 0} if "epochs" in self.given else {}  # epochs replace an earlier number of steps
        return self.read_settings(folder, **no_steps)


class PretrainCommand(TrainCommand):
    """Pre-train a BERT on plain text: it learns to predict masked words, and whether one sentence follows another.
    Ctrl-C stops a run after the current step, and --resume continues it.

    examples:
      npbert vocab books --output vocabulary --size 8000
      npbert pretrain run --corpus books --vocabulary vocabulary --model bert-tiny
      npbert pretrain run --resume"""

    name = "pretrain"
    kind = PretrainSettings
    run_class = Pretraining


class FinetuneCommand(TrainCommand):
    """Fine-tune a pre-trained BERT on a labelled file, to predict a label, a number, tags, the right choice or an
    answer. Ctrl-C stops a run after the current step, and --resume continues it.

    examples:
      npbert finetune run --model folder --train train.tsv --held-out dev.tsv
      npbert finetune run --model folder --train train.conll --task tagging
      npbert finetune run --resume"""

    name = "finetune"
    kind = FinetuneSettings
    run_class = Finetuning


class EvaluateCommand(SettingsCommand):
    """Measure a fine-tuned model on labelled files, or a pre-trained one on files of text. Use files that it was not
    trained on.

    examples:
      npbert evaluate run test.tsv
      npbert evaluate folder test.conll --task tagging --json"""

    folder: str = argument("FOLDER", "the folder of a run, whose settings are used, or of a checkpoint")
    files: tuple[str, ...] = argument("FILE", "a file to measure the model on", default=())
    json: bool = switch(
        "print JSON instead of a table: a line for each file (for a pre-trained model, one line for all)"
    )

    def run(self) -> None:
        """Print the metrics."""
        folder = Path(self.folder)
        if kind_of_run(folder) is not PretrainSettings:
            for judged in evaluate_files(folder, self.files, self.read_settings(folder)):
                labels = {"labels": judged.classes} if judged.classes else {}
                self._show({"file": judged.path, **judged.metrics, **labels}, judged)
            return
        unknown = sorted(self.given.keys() - PretrainSettings.__dataclass_fields__.keys())
        if unknown:
            says = f"is for a labelled file, and {folder} holds a pre-trained model"
            raise UsageError(f"{Setting(unknown[0])} {says}")
        settings = self.read_settings(folder, model=folder / MODEL_FOLDER, held_out=self.files)
        run = Pretraining(settings, folder)
        numbers, baselines = run.evaluate(), run.baselines
        row = {"files": self.files, **numbers, "baselines": baselines}
        self._show(row, Judged("held out", numbers, None, baselines, {}))

    def _show(self, row: dict[str, Any], table: Judged) -> None:
        if self.json:
            write_json_lines([row])
        else:
            print(table)
