"""Checks every block for the site."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from npbert.catalogue import CATALOGUE
from npbert.gradcheck import GradientError, check_gradients


def prove(processes: int = 1) -> dict[str, str]:
    """Check every block of the catalogue. Returns each result by the name of the block.

    processes: the number of new Python processes that share the work. Raises: GradientError for an unproved derivative.
    """
    if processes < 2:
        return dict(map(_prove, CATALOGUE))
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        return dict(pool.map(_prove, CATALOGUE))


def _prove(block: str) -> tuple[str, str]:
    layer, inputs, rng = CATALOGUE[block].make()
    report = check_gradients(layer, *inputs, rng=rng)
    if not (report.ok and report.proof):
        raise GradientError(f"{block}: {report}")
    return block, str(report)
