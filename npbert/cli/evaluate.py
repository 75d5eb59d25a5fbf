"""`npbert evaluate`: measures a model. Its tables also appear at the end of a run."""

from __future__ import annotations

from pathlib import Path
from textwrap import shorten
from typing import Any

from npbert.cli.command import UsageError, argument, switch
from npbert.cli.options import SettingsCommand, command_of
from npbert.io import Setting, printable, write_json_lines
from npbert.training import MODEL_FOLDER, FinetuneSettings, Pretraining, PretrainSettings
from npbert.training.finetune import Judged, evaluate_files

Numbers = dict[str, float]


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
        began = command_of(folder)
        if began == "pretrain":
            self._evaluate_pretraining(folder)
        else:
            settings = self.settings_of(folder, FinetuneSettings) if began else self.read_settings()
            self._print(evaluate_files(folder, self.files, settings))

    def _evaluate_pretraining(self, folder: Path) -> None:
        unknown = sorted(self.given.keys() - PretrainSettings.__dataclass_fields__.keys())
        if unknown:
            says = f" is for a labelled file, and {self.folder} holds a pre-trained model"
            raise UsageError((Setting(unknown[0]), says))
        of_run = {"model": folder / MODEL_FOLDER, "held_out": self.files}
        run = Pretraining(self.settings_of(folder, PretrainSettings, **of_run), folder)
        numbers = run.evaluate()
        if self.json:
            write_json_lines([{"files": self.files, **numbers, "baselines": run.baselines}])
        else:
            print_table(numbers, run.baselines)

    def _print(self, judged: list[Judged]) -> None:
        for path, metrics, task, baselines, classes in judged:
            if self.json:
                row: dict[str, Any] = {"file": path, **metrics}
                if classes:
                    row["labels"] = classes
                write_json_lines([row])
                continue
            print_table(metrics, baselines, title=path, task=task)
            if classes:
                print(f"{'label':<34}{'precision':>10}{'recall':>10}{'f1':>10}{'examples':>12}")
            for name, (precision, recall, f1, support) in classes.items():
                shown = shorten(printable(name), 30, placeholder="…")
                print(f"  {shown:<32}{precision:>10.4f}{recall:>10.4f}{f1:>10.4f}{support:>12,}")


def print_table(numbers: Numbers, baselines: Numbers, *, title: str = "held out", task: Any = None) -> None:
    """Print the metrics next to their baselines. task: a FinetuneTask, which has its own names."""
    if not numbers:
        return
    names = [task.title_of(name) if task else name.replace("_", " ") for name in numbers]
    width = max(24, len(title) + 1, *(len(name) + 3 for name in names))
    head = f"{task.before if task else 'knowing frequencies':>24}" if baselines else ""
    print(f"{title:<{width}}{'model':>10}{head}")
    for name, (key, value) in zip(names, numbers.items(), strict=True):
        baseline = f"{baselines[key]:>24.4f}" if key in baselines else ""
        print(f"  {name:<{width - 2}}{value:>10.4f}{baseline}")
