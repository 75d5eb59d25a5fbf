"""Checks every block for the site."""

from npbert.catalogue import CATALOGUE
from npbert.gradcheck import GradientError, check_gradients


def prove() -> dict[str, str]:
    """Check every block of the catalogue, in seconds. Returns each result by the name of the block.

    Raises: GradientError for an unproved derivative.
    """
    proofs = {}
    for block, setting in CATALOGUE.items():
        layer, inputs, rng = setting.make()
        report = check_gradients(layer, *inputs, rng=rng)
        if not (report.ok and report.proof):
            raise GradientError(f"{block}: {report}")
        proofs[block] = str(report)
    return proofs
