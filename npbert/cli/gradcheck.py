"""The command that proves every derivative of every block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from npbert.catalogue import blocks
from npbert.cli.command import Command, argument
from npbert.gradcheck import COMPLEX_STEP, FINITE_DIFFERENCES, TOLERANCES, check_gradients
from npbert.io.errors import at_least, one_of
from npbert.io.settings import setting
from npbert.shapes import AWKWARD, Shapes

_METHODS = FINITE_DIFFERENCES, COMPLEX_STEP


@dataclass
class GradcheckCommand(Command):
    """Prove every derivative of every block: forward and backward run once on exact
    numbers, and two integers are equal. Two estimates in floats, by finite differences
    and by the complex step along random directions, are a second and a third opinion.

    columns:
      derivatives  how many numbers backward gives: of the inputs and the parameters
      proof took   how long the proof took; "no" where there is none
      the others   the largest relative error of each estimate, and what is accepted

    examples:
      npbert gradcheck
      npbert gradcheck LayerNorm --seeds 20"""

    block: str | None = argument("BLOCK", "the block to check; without it, all of them", default=None)
    seeds: int = setting(1, "check N - 1 random shapes, too, after the usual ones", wanted=at_least(1))

    def run(self) -> int:
        """Print a line for each block of the catalogue. Returns 0 if all derivatives are right, else 1."""
        if not self._chosen(AWKWARD):
            one_of(blocks(AWKWARD)).check("block", self.block)
        reports = [report for seed in range(self.seeds) for report in self._check(seed)]
        total, proved = sum(report.count for report in reports), sum(bool(report.proof) for report in reports)
        verdict = "PASS" if all(report.ok for report in reports) else "FAIL"
        everywhere = "proved" if len(reports) == 1 else "proved in every block"
        how = everywhere if proved == len(reports) else f"proved in {proved} of {len(reports)} blocks"
        print(f"{verdict}: {total:,} derivatives, {how}, with estimates beside (shown: the largest relative error)")
        return int(verdict == "FAIL")

    def _chosen(self, shapes: Shapes) -> dict[str, Any]:
        """The block of that name, and its variants: LayerNorm; FeedForward, gelu; or all."""
        found = blocks(shapes)
        name = self.block
        return {each: found[each] for each in found if name is None or each == name or each.startswith(f"{name},")}

    def _check(self, seed: int) -> list[Any]:
        """The report of each block, printed as it comes."""
        shapes = Shapes.drawn(np.random.default_rng(seed)) if seed else AWKWARD
        print(f"{shapes}\n")
        print(f"{'block':<42}{'derivatives':>11}{'proof took':>12}{FINITE_DIFFERENCES:>20}{COMPLEX_STEP:>14}")
        print(f"{'(accepted)':<65}{TOLERANCES[FINITE_DIFFERENCES]:>20.0e}{TOLERANCES[COMPLEX_STEP]:>14.0e}")
        reports = []
        for name, case in self._chosen(shapes).items():
            layer, inputs, rng = case.make(seed=seed)
            report = check_gradients(layer, *inputs, rng=rng, seed=seed)
            worst = [report.worst.get(method) for method in _METHODS]
            errors = [f"{each.relative_error:.1e}" if each else "–" for each in worst]
            proof = f"{1e3 * report.proof.seconds:.0f} ms" if report.proof else "no"
            print(f"{name:<42}{report.count:>11}{proof:>12}{errors[0]:>20}{errors[1]:>14}", flush=True)
            if not report.ok:
                print(report)
            reports.append(report)
        print()
        return reports
