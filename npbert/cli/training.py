"""`npbert pretrain` and `npbert finetune`: from text to a model."""

from __future__ import annotations

import logging
import shlex
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ClassVar

from npbert.cli.command import argument, switch
from npbert.cli.evaluate import print_table
from npbert.cli.log import in_silence, note, tell
from npbert.cli.options import SettingsCommand, command_of
from npbert.compute import num_threads
from npbert.io import Communicator, FileError, counted, import_extra, quiet
from npbert.training import (
    MODEL_FOLDER,
    STATE_FILE,
    FinetuneSettings,
    Finetuning,
    Pretraining,
    PretrainSettings,
    world,
)
from npbert.training.parallel import share_cores


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

    def run(self) -> int:
        """Train. Of several processes, the first prints for all."""
        if not self.resume and (Path(self.folder) / STATE_FILE).exists():
            raise FileError(f"{self.folder} already has a run; continue it with --resume, or choose another folder")
        settings: Any = self._settings_to_go_on_with() if self.resume else self.read_settings()
        communicator = world()
        try:
            with communicator.ending_together(), nullcontext() if communicator.is_first else in_silence():
                share_cores(communicator)
                return self._train(settings, communicator)
        except Exception:
            if communicator.is_first:
                raise
            return 1  # all processes have failed with it

    def _train(self, settings: Any, communicator: Communicator) -> int:
        import_extra("tomlkit")  # a missing extra is an error before the corpus is read
        with quiet(logging.WARNING) if self.resume else nullcontext():  # the new head is in the state by now
            run = self.run_class(settings, Path(self.folder), communicator=communicator)
        if not self.resume:
            note(run.summary())
        if communicator.size > 1:
            note(f"{communicator.size} processes, with {counted(num_threads(), 'thread')} each")
        try:
            numbers = run.trainer.train(changed_data=self.changed_data)
        except KeyboardInterrupt:
            if communicator.is_first:
                again = shlex.join(["npbert", self.name, self.folder, "--resume"])
                tell(f"\nstopped at step {run.trainer.step}; to continue: {again}")
            return 130
        print_table(numbers, run.baselines, task=getattr(run, "task", None))
        best, model = run.trainer.progress.best_step, Path(self.folder) / MODEL_FOLDER
        print(f"after {counted(run.trainer.step, 'step')}; the model of step {best} is in {model}")
        return 0

    def _settings_to_go_on_with(self) -> Any:
        """Return the settings in the folder with the given ones; the run refuses those that may not change."""
        if command_of(Path(self.folder)) != self.name:
            raise FileError(f"{self.folder} has no run of npbert {self.name} to continue")
        no_steps = {"steps": 0} if "epochs" in self.given else {}  # epochs replace an earlier number of steps
        return self.settings_of(Path(self.folder), self.kind, **no_steps)


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
