"""The result of a run in a sentence, and notes on its pictures."""

from collections.abc import Iterator

from npbert.pages.report.run import RunFiles

_LEARNED = ((0.0, "it has learned nothing yet"), (0.1, "it has barely learned"), (0.5, "it has begun to learn"))
"""The sentence up to each share of the way from the baseline to the best value, 1, or 0 of a loss."""


def verdict(run: RunFiles) -> str:
    """Return a sentence that compares the model on the held-out set with the baseline."""
    last = run.last
    row = run.judged.get(last["best_step"]) or next(reversed(run.judged.values()), {})
    of_words = "mlm_accuracy" if "eval_mlm_accuracy" in row else "accuracy"
    goal, what = last.get("goal", of_words), "examples" if "goal" in last else "masked words"
    value, baseline = row.get(f"eval_{goal}"), last["baselines"].get(goal)
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


def to_look_at(run: RunFiles) -> Iterator[str]:
    """Return sentences on noteworthy facts."""
    losses = {step: row["eval_loss"] for step, row in run.judged.items() if row.get("eval_loss") is not None}
    lowest = min(losses, key=losses.__getitem__, default=0)
    if losses and losses[lowest] < 0.98 * losses[max(losses)]:
        yield f"The held-out loss was lowest at step {lowest:,} and has risen since: the model overfits."
    lost = sum(value is None for row in run.metrics for value in row.values())
    if lost:
        yield f"Numbers that are not finite (NaN or infinite): {lost:,}, shown as crosses in the curves."
    counts = run.last.get("counts")
    if counts and sum(any(column) for column in zip(*counts, strict=True)) == 1:
        yield "It gives every example the same label. It needs more steps, or another learning rate."


def _told(goal: str, value: float, what: str = "") -> str:
    if goal.endswith("accuracy"):
        return f"{value:.1%} {what}".rstrip()
    return f"{goal.replace('_', ' ').capitalize()} {value:.3g}" if what else f"{value:.3g}"
