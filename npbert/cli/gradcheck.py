"""The command that checks every derivative of every block."""

from __future__ import annotations

import argparse
from typing import Any

from npbert.catalogue import CATALOGUE
from npbert.gradcheck import COMPLEX_STEP, FINITE_DIFFERENCES, TOLERANCES, check_gradients

_DESCRIPTION = """Compare every derivative of every block with two numerical ones, by finite
differences and by the complex step, at a random point. It takes less than a
minute."""


def add_gradcheck_command(commands: Any) -> None:
    """Add `npbert gradcheck` to the commands."""
    command = commands.add_parser(
        "gradcheck", help="check every derivative of every block, in two ways", description=_DESCRIPTION
    )
    command.set_defaults(run=_gradcheck)


def _gradcheck(_: argparse.Namespace) -> int:
    """A line for each block of the catalogue. Returns 0 if all derivatives are right, else 1."""
    print(f"{'block':<40}{'derivatives':>12}{FINITE_DIFFERENCES:>21}{COMPLEX_STEP:>15}")
    print(f"{'(accepted)':<40}{'':>12}{TOLERANCES[FINITE_DIFFERENCES]:>21.1e}{TOLERANCES[COMPLEX_STEP]:>15.1e}")
    total, all_right = 0, True
    for name, setting in CATALOGUE.items():
        layer, inputs, rng = setting.make()
        report = check_gradients(layer, *inputs, rng=rng)
        errors = {method: worst.relative_error for method, worst in report.worst.items()}
        print(
            f"{name:<40}{report.count:>12}{errors[FINITE_DIFFERENCES]:>21.1e}{errors[COMPLEX_STEP]:>15.1e}", flush=True
        )
        if not report.ok:
            print(report)
        total, all_right = total + report.count, all_right and report.ok
    verdict = "each of them right" if all_right else "NOT ALL of them right"
    print(f"\n{total:,} derivatives, {verdict}, in two ways, at a random point (shown: the largest relative error)")
    return 0 if all_right else 1
