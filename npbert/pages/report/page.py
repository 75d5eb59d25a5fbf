"""The report of a run as one HTML file, which opens from disk and asks for nothing else."""

from __future__ import annotations

from pathlib import Path

from npbert.files import FileError, atomic_write
from npbert.pages.html import escape, page, resource
from npbert.pages.report.masked import masked_section
from npbert.pages.report.parts import number, paragraph, section, table, text
from npbert.pages.report.pictures import PERCENTS, answers_section, attention_section, curves_section, layers_section
from npbert.pages.report.run import Run, read_run
from npbert.pages.report.wrong import wrong_section
from npbert.training.run_folder import MODEL_FOLDER


def write_report(folder: str | Path, path: str | Path) -> None:
    """Write the report of the run in `folder` to `path`; the file is whole or not there at all. (Extras: train, plot.)

    Raises: what read_run and report_page raise; OSError.
    """
    whole = report_page(read_run(folder))
    with atomic_write(Path(path)) as written:
        written.write_text(whole, encoding="utf-8")


def report_page(run: Run) -> str:
    """The page: what the run is, its curves, what happened in its layers, and what the model says of examples.

    Raises: FileError for a file of the run with something else in it than a run writes.
    """
    sections = [_summary(run), curves_section(run), layers_section(run)]
    try:
        if run.shown and run.shown[-1]["kind"] == "masked":
            sections.append(masked_section([row for row in run.shown if row["kind"] == "masked"]))
        elif run.shown:
            sections += [answers_section(run.shown[-1]), wrong_section(run.shown[-1])]
        sections.append(attention_section(run))
    except FileError:
        raise
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise FileError(f"{run.folder}: shown.jsonl has a row that is not as a run writes it: {error!r}") from error
    title = f"A run: {run.folder.resolve().name}"
    body = f"<h1>{text(title)}</h1>\n{_state(run)}\n" + "\n".join(filter(None, sections))
    return page(title, f"<main>{body}</main>", style=resource("report/report.css"))


def _state(run: Run) -> str:
    if run.ended:
        return paragraph(f"It has ended, after {run.step:,} steps.")
    return paragraph(
        f"It had not ended when this page was made: it was at step {run.step:,}. It may still be running, or have been "
        f"stopped; run npbert report again to update it."
    )


def _summary(run: Run) -> str:
    """What the run learned from, and how good the model was, at first and at last."""
    settings = run.settings
    kind = "Pre-training" if "corpus" in settings else f"Fine-tuning, {settings.get('task', '')}"
    names = ("corpus", "train", "held_out", "model", "max_length", "batch_size", "learning_rate", "seed")
    known = {name: settings[name] for name in names if settings.get(name) not in (None, "", [])}
    items = "".join(
        f"<dt>{escape(name.replace('_', ' '))}</dt><dd>{_value(value)}</dd>" for name, value in known.items()
    )
    best = f"The model in {MODEL_FOLDER}/ is that of step {run.best_step:,}." if run.best_step else ""
    return section("run", kind, f"<dl>{items}</dl>", _numbers(run), paragraph(best) if best else "")


def _numbers(run: Run) -> str:
    """The numbers of the first evaluation, of the best and of the last, and the baselines."""
    judged = {row["step"]: row for row in run.metrics if any(name.startswith("eval_") for name in row)}
    if not judged:
        return ""
    steps = list(judged)
    chosen = sorted({steps[0], steps[-1], run.best_step if run.best_step in judged else steps[-1]})
    head = ["held out", *(f"step {step:,}{' (the best)' if step == run.best_step else ''}" for step in chosen)]
    if run.baselines:
        head.append("knowing frequencies" if "corpus" in run.settings else "always the same answer")
    percents = run.kind == "answers"
    rows = []
    for name in (name.removeprefix("eval_") for name in judged[steps[-1]] if name.startswith("eval_")):
        unit = " (percent)" if percents and name in PERCENTS else ""
        baseline = [number(run.baselines.get(name))] if run.baselines else []
        values = [number(judged[step].get(f"eval_{name}")) for step in chosen]
        rows.append([f"{escape(name.replace('_', ' '))}{unit}", *values, *baseline])
    return table(head, rows, kind="numbers")


def _value(value: object) -> str:
    return ", ".join(map(text, value)) if isinstance(value, list) else text(value)
