"""`npbert evaluate`: measures a model. Its tables also appear at the end of a run."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from textwrap import shorten

from npbert.cli.command import argument, switch
from npbert.cli.options import SettingsCommand, command_of
from npbert.cli.text import write_json_lines
from npbert.data.tokenizer import Tokenizer
from npbert.io.errors import InputError, Setting
from npbert.io.files import FileError
from npbert.io.json_lines import finite_or_null
from npbert.io.messages import printable
from npbert.models import PRESETS, load_config
from npbert.training.finetune import FinetuneSettings, Judged, evaluate_files
from npbert.training.pretrain import Pretraining, PretrainSettings
from npbert.training.settings import SETTINGS_FILE, load_settings
from npbert.training.state import MODEL_FOLDER
from npbert.training.tasks import FinetuneTask, TaskSettings

_WIDTH = 80

Numbers = dict[str, float]


@dataclass
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

    def run(self) -> int:
        """Print the metrics."""
        path = Path(self.folder) / SETTINGS_FILE
        if not path.is_file():
            self._print(evaluate_files(self.folder, self.files, self._settings_of_checkpoint()))
        elif self.settings:
            says = f" is only for a checkpoint: {self.folder} is a run, and its settings are used"
            raise InputError((Setting("settings"), says))
        elif command_of(path.parent) == "pretrain":
            self._evaluate_pretraining(path)
        else:
            settings = load_settings(FinetuneSettings, path, **self.given)
            self._print(evaluate_files(path.parent / MODEL_FOLDER, self.files, settings))
        return 0

    def _settings_of_checkpoint(self) -> TaskSettings:
        settings: TaskSettings = self.read_settings()
        load_config(self.folder)  # raises the error for a wrong folder
        if "max_length" in self.given or self.settings:
            return settings
        length = Tokenizer.from_pretrained(self.folder).max_length  # the length of its training
        return replace(settings, max_length=length or settings.max_length)

    def _evaluate_pretraining(self, path: Path) -> None:
        unknown = sorted(self.given.keys() - {entry.name for entry in fields(PretrainSettings)})
        if unknown:
            says = f" is for a labelled file, and {self.folder} holds a pre-trained model"
            raise InputError((Setting(unknown[0]), says))
        of_run = {"model": str(path.parent / MODEL_FOLDER), "held_out": self.files}
        settings = load_settings(PretrainSettings, path, **self.given, **of_run)
        check_places(settings, path, ("corpus", "vocabulary"))
        run = Pretraining(settings, path.parent)
        numbers = run.evaluate()
        if self.json:
            write_json_lines([finite_or_null({"files": self.files, **numbers, "baselines": run.baselines})])
        else:
            print_table(numbers, run.baselines)

    def _print(self, judged: list[Judged]) -> None:
        for path, metrics, task, baselines, classes in judged:
            labels = {name: scores._asdict() for name, scores in classes.items()}
            if self.json:
                row = {"file": path, **finite_or_null(metrics)}
                write_json_lines([{**row, "labels": labels} if labels else row])
                continue
            print_table(metrics, baselines, title=path, task=task)
            if labels:
                print(f"{'label':<34}{'precision':>10}{'recall':>10}{'f1':>10}{'examples':>12}")
            for name, (precision, recall, f1, support) in classes.items():
                shown = shorten(printable(name), 30, placeholder="…")
                print(f"  {shown:<32}{precision:>10.4f}{recall:>10.4f}{f1:>10.4f}{support:>12,}")
        if not self.json:
            print_advice(*((each.metrics, each.baselines) for each in judged))


def print_advice(*judged: tuple[Numbers, Numbers]) -> None:
    """Print advice, once, for a model that gives all examples of a file the same label."""
    accuracies = [(own["accuracy"], known.get("accuracy")) for own, known in judged if own.get("matthews") == 0]
    if any(own == known for own, known in accuracies):
        print("the model gives every example the same label; train longer, or with a higher --learning-rate")


def print_table(
    numbers: Numbers, baselines: Numbers, *, title: str = "held out", task: FinetuneTask | None = None
) -> None:
    """Print the metrics next to their baselines, at most 80 columns wide."""
    if not numbers:
        return
    head = f"{task.before if task else 'knowing frequencies':>24}" if baselines else ""
    names = [task.title_of(name) if task else name.replace("_", " ") for name in numbers]
    longest = _WIDTH - 12 - len(head)
    title = title if len(title) <= longest else f"…{title[1 - longest :]}"
    width = max(24, len(title) + 1, *(len(name) + 3 for name in names))
    print(f"{title:<{width}}{'model':>10}{head}")
    for name, (key, value) in zip(names, numbers.items(), strict=True):
        baseline = f"{baselines[key]:>24.4f}" if key in baselines else ""
        print(f"  {name:<{width - 2}}{value:>10.4f}{baseline}")


def check_places(settings: PretrainSettings | FinetuneSettings, path: Path, names: tuple[str, ...]) -> None:
    """Check that files and folders in these settings exist, as seen from the current folder.

    Raises: FileError for the first missing one.
    """
    for name in names:
        given = getattr(settings, name, ())
        for place in (given,) if isinstance(given, str) else given:
            if place and place not in PRESETS and not Path(place).exists():
                none = f"{name} is {place!r} in {path}, which does not exist in {Path.cwd()}"
                raise FileError(f"{none}; start this command in the folder where the run was started")
