"""The report of a run as one self-contained HTML file."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from npbert import plots
from npbert.io import atomic_write, check_writable, import_extra, write_where_asked
from npbert.pages.html import ICON, PAGES, page, resource, visible
from npbert.pages.report.run import Run
from npbert.plots.curves import curves_figure
from npbert.plots.drawing import as_bytes
from npbert.training import MODEL_FOLDER

_STEPS, _CHARACTERS = 6, 40


def write_report(*folders: str | Path, path: str | Path = "") -> Path:
    """Write the report of the run in a folder, by default FOLDER/report.html, or the page that compares the runs in
    several folders, by default compared.html. Returns: where it is, whole or not at all. (Extras: train, plot.)

    Raises: as Run, and as check_writable before the pictures are drawn; OSError.
    """
    runs = list(map(Run, folders))
    place = Path(path or ("compared.html" if runs[1:] else runs[0].folder / "report.html"))
    check_writable(place, ICON)
    whole = (comparison_page(runs) if runs[1:] else report_page(runs[0])).encode()
    if path or runs[1:]:
        write_where_asked(place, [whole])
    else:  # in a folder of others, a link is not followed
        with atomic_write(place) as file:
            file.write_bytes(whole)
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
        last=run.last,
        shown=shown,
        numbers=_numbers(run),
        plots=plots,
        picture=picture,
        example=_example(run.last),
        model_folder=MODEL_FOLDER,
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


@cache
def _templates() -> Any:
    """Return the Jinja2 environment of the templates: text is escaped, unless it is `safe`."""
    jinja2 = import_extra("jinja2")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PAGES / "report"),
        autoescape=True,
        finalize=lambda value: value if hasattr(value, "__html__") else visible(value),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"percent": _percent, "number": _number, "commas": "{:,}".format}
    return environment


def _page(template: str, title: str, **known: Any) -> str:
    body = _templates().get_template(template).render(title=title, **known)
    return page(title, body, style=resource("report/report.css"))


def _side_by_side(columns: Sequence[dict[str, str]]) -> list[list[str]]:
    """Return a row for each name in any of the columns: the name, and its value in each column."""
    names = dict.fromkeys(name for column in columns for name in column)
    return [[name, *(column.get(name, "–") for column in columns)] for name in names]


def _numbers(run: Run) -> dict[str, dict[str, Any]]:
    """Return the numbers of the first, the best and the last evaluation, and the baselines, by their titles."""
    steps, best = list(run.judged), run.last["best_step"]
    chosen = sorted({*steps[:1], *steps[-1:], best or 0} & {*steps})
    columns = {f"step {step:,}{' (the best)' if step == best else ''}": run.judged[step] for step in chosen}
    return {**columns, "baseline": run.last["baselines"]} if steps else {}


def _example(row: dict[str, Any]) -> str:
    """Return the beginning of an example, for a picture of attention, or ""."""
    if row.get("kind") == "masked":
        shortest = min((one["tokens"] for one in row["sentences"]), key=len)
        return " ".join(shortest[1:-1]).replace(" ##", "")[:_CHARACTERS]
    for one in row.get("worst", [])[:1]:
        texts = one.get("texts") or " ".join(one["words"])
        return (texts if isinstance(texts, str) else texts[0])[:_CHARACTERS]
    return ""


def _number(value: Any, form: str = ".4g") -> str:
    """Return a number with four digits, or a dash if it is missing or not finite."""
    return format(value, form) if isinstance(value, int | float) else "–"


_percent = partial(_number, form=".1%")
