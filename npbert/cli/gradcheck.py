"""The command that proves every derivative of every block."""

import argparse
from typing import Any

import numpy as np

from npbert.catalogue import blocks
from npbert.cli.parser import COUNT, Parser, Run
from npbert.gradcheck import COMPLEX_STEP, FINITE_DIFFERENCES, TOLERANCES, check_gradients
from npbert.shapes import AWKWARD, Shapes


def add_gradcheck_command(command: Parser) -> Run:
    """Prove every derivative of every block: forward and backward run once on exact
    numbers, and two integers are equal. Beside it stand two estimates in floats, by
    finite differences and by the complex step, along random directions."""
    command.add_argument(
        "--seeds",
        type=COUNT,
        default=1,
        metavar="N",
        help="with N - 1 random shapes besides the usual ones",
    )
    return _gradcheck


def _gradcheck(options: argparse.Namespace) -> int:
    """A line for each block of the catalogue. Returns 0 if all derivatives are right, else 1."""
    total, proved, every, all_right = 0, 0, 0, True
    for seed in range(options.seeds):
        shapes = Shapes.drawn(np.random.default_rng(seed)) if seed else AWKWARD
        print(f"{shapes}\n")
        print(f"{'block':<42}{'derivatives':>11}{'proved':>9}{FINITE_DIFFERENCES:>20}{COMPLEX_STEP:>14}")
        print(f"{'(accepted)':<53}{'':>9}{TOLERANCES[FINITE_DIFFERENCES]:>20.0e}{TOLERANCES[COMPLEX_STEP]:>14.0e}")
        for name, setting in blocks(shapes).items():
            layer, inputs, rng = setting.make(seed=seed)
            report = check_gradients(layer, *inputs, rng=rng, seed=seed)
            errors = [_error(report.worst.get(method)) for method in (FINITE_DIFFERENCES, COMPLEX_STEP)]
            proof = f"{1e3 * report.proof.seconds:.0f} ms" if report.proof else "no"
            print(f"{name:<42}{report.count:>11}{proof:>9}{errors[0]:>20}{errors[1]:>14}", flush=True)
            if not report.ok:
                print(report)
            total, all_right = total + report.count, all_right and report.ok
            proved, every = proved + bool(report.proof), every + 1
        print()
    verdict = "each of them right" if all_right else "NOT ALL of them right"
    how = "proved in every block" if proved == every else f"proved in {proved} of {every} blocks"
    print(f"{total:,} derivatives, {verdict}: {how}, with estimates besides (shown: the largest relative error)")
    return 0 if all_right else 1


def _error(comparison: Any) -> str:
    return "–" if comparison is None else f"{comparison.relative_error:.1e}"
