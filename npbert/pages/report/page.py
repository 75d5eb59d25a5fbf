"""The report of a run as one HTML file, which opens from disk and asks for nothing else."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from npbert.inference import find_entities
from npbert.io.extras import import_extra
from npbert.io.files import FileError, atomic_write, write_where_asked
from npbert.pages.html import page, resource, templates
from npbert.pages.report.facts import command_of, facts_of, in_words, settings_of
from npbert.pages.report.pictures import PERCENTS, answers, attention, curves, layers, metric_in_words, words_in
from npbert.pages.report.run import RunFiles, read_run
from npbert.training.state import MODEL_FOLDER

_SETTINGS = ("corpus", "train", "held_out", "model", "max_length", "batch_size", "learning_rate", "seed")
_NOT_RESULTS = ("step", "epoch", "learning_rate", "gradient_norm")
_LONGEST_WORD = 60
_KINDS = {"masked", "labels", "numbers", "choices", "tags", "answers"}
_STEPS = 6
REPORT_FILE, COMPARISON_FILE = "report.html", "compared.html"
DESCRIPTION = "A training run of npbert: its curves, its layers, what the model guesses and what it gets wrong."


def write_report(folder: str | Path, path: str | Path | None = None) -> None:
    """Write the report of the run in `folder` to `path`, by default report.html in that folder; the file is whole
    or not there at all. (Extras: train, plot.)

    Raises: what read_run and report_page raise; OSError.
    """
    whole = report_page(read_run(folder))
    with write_where_asked(Path(path)) if path else atomic_write(Path(folder) / REPORT_FILE) as file:
        file.write_text(whole, encoding="utf-8")


def write_comparison(folders: Sequence[str | Path], path: str | Path) -> None:
    """Write a page that lays several runs beside each other to `path`; the file is whole or not there at all.
    (Extra: train.)

    Raises: what read_run raises; OSError.
    """
    whole = comparison_page([read_run(folder) for folder in folders])
    with write_where_asked(Path(path)) as file:
        file.write_text(whole, encoding="utf-8")


def comparison_page(runs: Sequence[RunFiles]) -> str:
    """The page of several runs: their curves over each other, their numbers, and the settings that differ."""
    runs = [run._replace(name=name) for run, name in zip(runs, _names_of(runs), strict=True)]
    all_facts = [dict(_chief_numbers(run)) | facts_of(run) for run in runs]
    facts = dict.fromkeys(name for each in all_facts for name in each)
    settings = dict.fromkeys(name for run in runs for name in run.settings)
    differ = [name for name in settings if len({in_words(run.settings.get(name, "")) for run in runs}) > 1]
    title = f"Runs compared: {', '.join(run.name for run in runs)}"
    body = (
        _environment()
        .get_template("compare.html")
        .render(
            title=title,
            runs=runs,
            facts=[[name, *(each.get(name, "–") for each in all_facts)] for name in facts],
            differ=[[name, *(in_words(run.settings.get(name, "–")) for run in runs)] for name in differ],
            curves=curves(*runs),
        )
    )
    return page(title, body, description=DESCRIPTION, style=_style(), scripts=_script())


def _names_of(runs: Sequence[RunFiles]) -> list[str]:
    """The shortest ends of their paths that tell the folders apart; one that is given twice is numbered."""
    paths = [run.folder.resolve() for run in runs]
    for length in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.parts[-length:]) for path in paths]
        if len(set(names)) == len(set(paths)):
            break
    return [name if names.count(name) == 1 else f"{name} ({number + 1})" for number, name in enumerate(names)]


def _style() -> str:
    return resource("report/report.css") + resource("report/charts.css")


def _script() -> str:
    return f"<script>\n{resource('report/report.js')}</script>"


def report_page(run: RunFiles) -> str:
    """The page: what the run is, its curves, what happened in its layers, and what the model says of examples.

    Raises: FileError for a file of the run with something else in it than a run writes.
    """
    title = f"A run: {run.folder.resolve().name}"
    numbers = _numbers(run)
    named = " ".join(name for rows in (run.metrics, run.layers) for row in rows[-1:] for name in _names_in(row))
    known = {
        "title": title,
        "run": run,
        "is_pretraining": "corpus" in run.settings,
        "facts": [*_chief_settings(run), *facts_of(run).items()],
        "command": command_of(run),
        "settings": settings_of(run),
        "numbers": numbers,
        "words": words_in(named.replace("_", " ")),
        "model_folder": MODEL_FOLDER,
        "curves": curves(run),
        "layers": layers(run),
    }
    template = _environment().get_template("report.html")
    try:
        body = template.render(known | _examples(run.report_rows), attention=[attention(run)])
    except FileError:
        raise
    except (
        TypeError,
        ValueError,
        LookupError,
        AttributeError,
        import_extra("jinja2", extra="train").UndefinedError,
    ) as error:
        raise FileError(f"{run.folder}: shown.jsonl has a row that is not as a run writes it: {error!r}") from error
    return page(title, body, description=DESCRIPTION, style=_style(), scripts=_script())


def _environment() -> Any:
    made = templates("report", "train")
    made.filters |= {"percent": percent, "number": _number, "commas": "{:,}".format, "shortened": shortened}
    made.globals |= {"parts_of_tagged": parts_of_tagged, "parts_of_excerpt": parts_of_excerpt, "stretches": stretches}
    return made


def _chief_settings(run: RunFiles) -> list[tuple[str, str]]:
    known = {name: run.settings[name] for name in _SETTINGS if run.settings.get(name) not in (None, "", [])}
    return [(name.replace("_", " "), in_words(value)) for name, value in known.items()]


def _chief_numbers(run: RunFiles) -> Iterator[tuple[str, str]]:
    """The last number of each kind, and of the held-out ones the best model's."""
    judged = {row["step"]: row for row in run.metrics if any(name.startswith("eval_") for name in row)}
    best = judged.get(run.best_step, {}) if run.best_step else {}
    last = {name: row[name] for row in run.metrics for name in row if name not in _NOT_RESULTS}
    for name, value in last.items():
        held_out = name.startswith("eval_")
        words = f"{metric_in_words(name.removeprefix('eval_'))}{', held out' if held_out else ', training'}, last"
        yield words, _number(value)
        if held_out and name in best:
            yield words.replace(", last", ", best model"), _number(best[name])


def _names_in(row: dict[str, Any]) -> Iterator[str]:
    for name, value in row.items():
        yield name.replace("eval_", "held_out_")
        yield from _names_in(value) if isinstance(value, dict) else ()


def _numbers(run: RunFiles) -> list[list[str]]:
    """The numbers of the first evaluation, of the best and of the last, and the baselines, below their head."""
    judged = {row["step"]: row for row in run.metrics if any(name.startswith("eval_") for name in row)}
    if not judged:
        return []
    steps = list(judged)
    chosen = sorted({steps[0], steps[-1], run.best_step if run.best_step in judged else steps[-1]})
    head = ["held out", *(f"step {step:,}{' (the best)' if step == run.best_step else ''}" for step in chosen)]
    if run.baselines:
        head.append("knowing frequencies" if "corpus" in run.settings else "always the same answer")
    rows = [head]
    for name in (name.removeprefix("eval_") for name in judged[steps[-1]] if name.startswith("eval_")):
        unit = " (percent)" if run.kind == "answers" and name in PERCENTS else ""
        values = [judged[step].get(f"eval_{name}") for step in chosen]
        values += [run.baselines.get(name)] if run.baselines else []
        rows.append([f"{metric_in_words(name)}{unit}", *map(_number, values)])
    return rows


def _examples(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The guesses for hidden words of some steps, or the answers that were wrong at the last. rows: of shown.jsonl."""
    if not rows:
        return {"kind": ""}
    last = rows[-1]
    if last["kind"] not in _KINDS:
        raise ValueError(f"kind is {last['kind']!r}")
    known = {"kind": last["kind"], "last": last, "is_always_the_same": False}
    if last["kind"] == "masked":
        of_kind = [row for row in rows if row["kind"] == "masked"]
        places = np.unique(np.linspace(0, len(of_kind) - 1, _STEPS).round().astype(int))
        return known | {"masked": [of_kind[place] for place in places]}
    if last["kind"] == "labels":
        known["is_always_the_same"] = sum(any(column) for column in zip(*last["counts"], strict=True)) == 1
    return known | {"answers": answers(last)}


def stretches(rows: Sequence[dict[str, Any]], sentence: int, place: int) -> list[list[dict[str, Any]]]:
    """What the model thought of one hidden word, step by step; steps with the same best guess, one after another, are
    together."""
    known = [{**row["sentences"][sentence]["hidden"][place], "step": row["step"]} for row in rows]
    return [list(group) for _, group in groupby(known, key=lambda one: one["guesses"][0][0])]


def shortened(word: str) -> str:
    """A token, cut where no line would hold it."""
    return word if len(word) <= _LONGEST_WORD else f"{word[: _LONGEST_WORD - 1]}…"


def parts_of_tagged(words: Sequence[str], tags: Sequence[str]) -> Iterator[tuple[str, str | None, bool]]:
    """(words, type, whether they are a name) of each part; where tags make no names, each word with its tag."""
    if len(words) != len(tags):
        raise ValueError(f"{len(words)} words have {len(tags)} tags")
    try:
        spans = {entity.start: entity for entity in find_entities(tags)}
    except ValueError:
        yield from ((word, tag, False) for word, tag in zip(words, tags, strict=True))
        return
    place = 0
    while place < len(words):
        span = spans.get(place)
        end = span.end if span else place + 1
        yield " ".join(words[place:end]), span.type if span else None, bool(span)
        place = end


def parts_of_excerpt(passage: str, true: Sequence[int], said: Sequence[int]) -> Iterator[tuple[str, bool, bool]]:
    """(text, whether it is true, whether the model said it) of each part of a passage."""
    places = groupby(range(len(passage)), lambda place: (true[0] <= place < true[1], said[0] <= place < said[1]))
    for (is_true, is_said), group in places:
        yield "".join(passage[place] for place in group), is_true, is_said


def percent(share: float | None) -> str:
    """A probability: 12%, 0.4%, or less than 0.1%."""
    if share is None:
        return "–"
    if 0 < share < 0.001:
        return "<\N{NO-BREAK SPACE}0.1%"
    return f"{share:.1%}" if 0 < share < 0.0995 else f"{share:.0%}"


def _number(value: float | None) -> str:
    """A number with four digits."""
    return "–" if value is None else f"{value:.4g}"
