"""Averages: the mean loss and the accuracy since the last line of the log."""

from __future__ import annotations

from dataclasses import dataclass, field

from npbert.training.accumulate import StepLosses


@dataclass
class Averages:
    """Sums over steps, by name: of losses and of right targets, and of the targets that they are shared by."""

    sums: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, kinds: tuple[str, ...], step: StepLosses) -> None:
        """Add the losses of a step, whose kinds have these names."""
        for index, kind in enumerate(kinds):
            prefix = f"{kind}_" if kind else ""
            count = step.counts[index]
            self._add(f"{prefix}loss", step.losses[index] * count, count)
            if step.right is not None:
                self._add(f"{prefix}accuracy", step.right[index], count)

    def means(self) -> dict[str, float]:
        """The mean over the targets by name; `loss` is the sum of the means where there are several kinds."""
        means = {name: value / self.counts[name] for name, value in self.sums.items()}
        if not means or "loss" in means:
            return means
        return {"loss": sum(value for name, value in means.items() if name.endswith("_loss")), **means}

    def _add(self, name: str, value: float, count: int) -> None:
        self.sums[name] = self.sums.get(name, 0.0) + value
        self.counts[name] = self.counts.get(name, 0) + count
