"""The result of a run in a sentence, and notes on its pictures."""

from collections.abc import Iterator

from npbert.pages.report.run import RunFiles
from npbert.training.tasks import FinetuneTask, TaskSettings, task_named

_LEARNED = ((0.0, "it has learned nothing yet"), (0.1, "it has barely learned"), (0.5, "it has begun to learn"))
"""The sentence up to each share of the way from the baseline to the best value, 1, or 0 of a loss."""


def verdict(run: RunFiles) -> str:
    """Return a sentence that compares the model on the held-out set with the baseline."""
    goal, what = _goal(run)
    row = run.judged.get(run.best_step or 0) or next(reversed(run.judged.values()), {})
    value, baseline = row.get(f"eval_{goal}"), run.baselines.get(goal)
    if value is None:
        return "There is no evaluation on held-out data yet, so its quality on new data is unknown."
    said = _told(goal, value, f"of {what} right")
    if baseline is None:
        return f"{said}."
    best = 0 if goal.endswith("loss") else 1
    share = (value - baseline) / ((best - baseline) or 1e-9)
    learned = next((words for most, words in _LEARNED if share <= most), "it has learned")
    is_before = _task(run).before == "before training"
    baseline_is = (
        "the model before training" if is_before else "the baseline that always predicts the most frequent answer"
    )
    return f"{said}; {baseline_is} gets {_told(goal, baseline)}: {learned}."


def to_look_at(run: RunFiles) -> Iterator[str]:
    """Return sentences on noteworthy facts."""
    losses = {step: row["eval_loss"] for step, row in run.judged.items() if row.get("eval_loss") is not None}
    lowest = min(losses, key=losses.__getitem__, default=0)
    if losses and losses[lowest] < 0.98 * losses[max(losses)]:
        yield f"The held-out loss was lowest at step {lowest:,} and has risen since: the model overfits."
    lost = sum(value is None for row in run.metrics for value in row.values())
    if lost:
        yield f"Numbers that are not finite (NaN or infinite): {lost:,}, shown as crosses in the curves."
    counts = run.report_rows[-1].get("counts") if run.report_rows else None
    if counts and sum(any(column) for column in zip(*counts, strict=True)) == 1:
        yield "It gives every example the same label. It needs more steps, or another learning rate."


def _goal(run: RunFiles) -> tuple[str, str]:
    """Return the most important metric, and its unit."""
    if "corpus" in run.settings:
        is_alone = not any("mlm_loss" in row for row in run.metrics)
        return "accuracy" if is_alone else "mlm_accuracy", "masked words"
    task = _task(run)
    return run.settings.get("metric") or task.goal, "examples"


def _task(run: RunFiles) -> type[FinetuneTask]:
    label = run.settings.get("label", "")
    return task_named(run.settings.get("task", "classification")).for_settings(TaskSettings(label=label))


def _told(goal: str, value: float, what: str = "") -> str:
    if goal.endswith("accuracy"):
        return f"{value:.1%} {what}".rstrip()
    return f"{goal.replace('_', ' ').capitalize()} {value:.3g}" if what else f"{value:.3g}"
