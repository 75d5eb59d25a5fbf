"""The report of a run as one self-contained HTML file, from the files in its folder: its result in a sentence, notes,
pictures and tables."""

import shlex
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from npbert import plots
from npbert.io import (
    METRICS_FILE,
    SHOWN_FILE,
    FileError,
    check_writable,
    import_extra,
    read_json_lines,
    write_text,
    write_where_asked,
)
from npbert.pages.html import ICON, PAGES, page, resource, visible
from npbert.plots.curves import curves_figure, judged_in
from npbert.plots.drawing import as_bytes
from npbert.training import SETTINGS_FILE, read_settings

_STEPS, _CHARACTERS = 6, 40
_LEARNED = ((0.0, "it has learned nothing yet"), (0.1, "it has barely learned"), (0.5, "it has begun to learn"))
"""The sentence up to each share of the way from the baseline to the best value, 1, or 0 of a loss."""


class Run:
    """The run in `folder`, also during the run. (Extra: train.)

    settings: as texts, by name   step: the last with a number   metrics, shown: the rows of metrics.jsonl and
    shown.jsonl   last: the last row of shown.jsonl, with what `judged_in` adds   judged: the numbers of
    evaluations on the held-out set, by step and name

    Raises: FileError if it is not a run's folder, has no numbers yet, or a wrong row; OSError.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        path = self.folder / SETTINGS_FILE
        if not path.is_file():
            raise FileError(f"{folder} is not a run of npbert pretrain or npbert finetune: it has no {SETTINGS_FILE}")
        self.metrics, self.shown = (read_json_lines(self.folder / name) for name in (METRICS_FILE, SHOWN_FILE))
        if not self.metrics:
            raise FileError(f"{self.folder / METRICS_FILE} has no numbers yet, wanted at least one step")
        self.settings = {name: _in_words(value) for name, value in read_settings(path).items()}
        self.step, self.last = max(row["step"] for row in self.metrics), judged_in(self.shown)
        self.judged = {}
        for row in self.metrics:
            numbers = {name.removeprefix("eval_"): row[name] for name in row if name.startswith("eval_")}
            if numbers:
                self.judged[row["step"]] = numbers

    def command(self) -> str:
        """Return the command to repeat this run in a new FOLDER, from its file of settings."""
        name = "pretrain" if "corpus" in self.settings else "finetune"
        return shlex.join(["npbert", name, "FOLDER", "--settings", str(self.folder / SETTINGS_FILE)])

    def verdict(self) -> str:
        """Return a sentence that compares the model on the held-out set with the baseline."""
        last = self.last
        row = self.judged.get(last["best_step"]) or next(reversed(self.judged.values()), {})
        of_words = "mlm_accuracy" if "mlm_accuracy" in row else "accuracy"
        goal, what = last.get("goal", of_words), "masked words" if "corpus" in self.settings else "examples"
        value, baseline = row.get(goal), last["baselines"].get(goal)
        if value is None:
            return "There is no evaluation on held-out data yet, so its quality on new data is unknown."
        said = _told(goal, value, f"of {what} right")
        if baseline is None:
            return f"{said}."
        best = 0 if goal.endswith("loss") else 1
        share = (value - baseline) / ((best - baseline) or 1e-9)
        learned = next((words for most, words in _LEARNED if share <= most), "it has learned")
        beaten = "the baseline that always predicts the most frequent answer"
        if last.get("before") == "before training":
            beaten = "the model before training"
        return f"{said}; {beaten} gets {_told(goal, baseline)}: {learned}."

    def notes(self) -> Iterator[str]:
        """Return sentences on noteworthy facts."""
        losses = {step: row["loss"] for step, row in self.judged.items() if row.get("loss") is not None}
        lowest = min(losses, key=losses.__getitem__, default=0)
        if losses and losses[lowest] < 0.98 * losses[max(losses)]:
            yield f"The held-out loss was lowest at step {lowest:,} and has risen since: the model overfits."
        lost = sum(value is None for row in self.metrics for value in row.values())
        if lost:
            yield f"Numbers that are not finite (NaN or infinite): {lost:,}, shown as crosses in the curves."
        counts = self.last.get("counts")
        if counts and sum(any(column) for column in zip(*counts, strict=True)) == 1:
            yield "It gives every example the same label. It needs more steps, or another learning rate."

    def numbers(self) -> dict[str, dict[str, Any]]:
        """Return the numbers of the first, the best and the last evaluation, and the baselines, by their titles."""
        steps, best = list(self.judged), self.last["best_step"]
        chosen = sorted({*steps[:1], *steps[-1:], best or 0} & {*steps})
        columns = {f"step {step:,}{' (the best)' if step == best else ''}": self.judged[step] for step in chosen}
        return {**columns, "baseline": self.last["baselines"]} if steps else {}

    def example(self) -> str:
        """Return the beginning of an example, for a picture of attention, or ""."""
        if self.last["kind"] == "masked":
            shortest = min((one["tokens"] for one in self.last["sentences"]), key=len)
            return " ".join(shortest[1:-1]).replace(" ##", "")[:_CHARACTERS]
        for one in self.last.get("worst", [])[:1]:
            texts = one.get("texts") or " ".join(one["words"])
            return (texts if isinstance(texts, str) else texts[0])[:_CHARACTERS]
        return ""


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _told(goal: str, value: float, what: str = "") -> str:
    if goal.endswith("accuracy"):
        return f"{value:.1%} {what}".rstrip()
    return f"{goal.replace('_', ' ').capitalize()} {value:.3g}" if what else f"{value:.3g}"


def write_report(*folders: str | Path, path: str | Path = "") -> Path:
    """Write the report of the run in a folder, by default FOLDER/report.html, or the page that compares the runs in
    several folders, by default compared.html. Returns: where it is, whole or not at all. (Extras: train, plot.)

    Raises: as Run, and as check_writable before the pictures are drawn; OSError.
    """
    runs = list(map(Run, folders))
    place = Path(path or ("compared.html" if runs[1:] else runs[0].folder / "report.html"))
    check_writable(place, ICON)
    whole = comparison_page(runs) if runs[1:] else report_page(runs[0])
    if path or runs[1:]:
        write_where_asked(place, [whole.encode()])
    else:  # in a folder of others, a link is not followed
        write_text(place, whole)
    return place


def report_page(run: Run) -> str:
    """Return the page: the result of the run, its curves, its layers, and predictions for examples."""
    rows = run.shown
    shown = [rows[place] for place in np.unique(np.linspace(0, len(rows) - 1, _STEPS).round().astype(int)) if rows]
    title = f"A run: {run.folder.resolve().name}"
    return _page(
        "report.html",
        title,
        run=run,
        shown=shown,
        plots=plots,
        picture=picture,
        zip=zip,
    )


def comparison_page(runs: Sequence[Run]) -> str:
    """Return the page of several runs: their curves in one picture, their numbers, and the settings that differ."""
    names = [f"{number}. {run.folder}" for number, run in enumerate(runs, 1)]
    facts = [{"came to": run.verdict(), "steps": f"{run.step:,}"} for run in runs]
    metrics = {name: run.metrics for name, run in zip(names, runs, strict=True)}
    curves = picture(curves_figure, metrics)
    differ = [row for row in _side_by_side([run.settings for run in runs]) if len(set(row[1:])) > 1]
    title = f"Runs compared: {', '.join(names)}"
    return _page("compare.html", title, names=names, facts=_side_by_side(facts), differ=differ, curves=curves)


def picture(draw: Callable[..., Any], *of: Any, **how: Any) -> str:
    """Return the figure draw(*of, **how) as an SVG data address, or a sentence with the reason why it is missing."""
    try:
        return "data:image/svg+xml;base64," + b64encode(as_bytes(draw(*of, **how), "svg")).decode()
    except (ValueError, OSError) as error:  # of numbers that have no picture, or a text with too many tokens
        return str(error)


def _page(template: str, title: str, **known: Any) -> str:
    """Return the page by a template of Jinja2. Text is escaped, unless it is `safe`."""
    jinja2 = import_extra("jinja2")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PAGES / "report"),
        autoescape=True,
        finalize=lambda value: value if hasattr(value, "__html__") else visible(value),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"percent": partial(_number, form=".1%"), "number": _number, "commas": "{:,}".format}
    body = environment.get_template(template).render(title=title, **known)
    return page(title, body, style=resource("report/report.css"))


def _side_by_side(columns: Sequence[dict[str, str]]) -> list[list[str]]:
    """Return a row for each name in any of the columns: the name, and its value in each column."""
    names = dict.fromkeys(name for column in columns for name in column)
    return [[name, *(column.get(name, "–") for column in columns)] for name in names]


def _number(value: Any, form: str = ".4g") -> str:
    """Return a number with four digits, or a dash if it is missing or not finite."""
    return format(value, form) if isinstance(value, int | float) else "–"
