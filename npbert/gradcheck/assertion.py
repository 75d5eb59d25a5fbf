"""assert_proved: the check for a test."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from npbert.gradcheck.check import check_gradients
from npbert.gradcheck.places import Grads
from npbert.gradcheck.report import GradientError, Report


def assert_proved(
    given: Any,
    *inputs: Any,
    wrt: Sequence[str] | None = None,
    grads: Grads | None = None,
    forward: Callable[..., Any] | None = None,
    rng: np.random.Generator | None = None,
    seed: int = 0,
) -> Report:
    """Raise GradientError, an AssertionError that shows the wrong line, unless every derivative is right.

    Arguments: as `check_gradients`.

    Returns: the report. `report.proof` tells whether the derivatives are proved. Without a proof, as with PyTorch's own
    code or casts to float32, they are right by the estimates in `str(report)`.

    Raises: TypeError and ValueError as `check_gradients`.
    """
    __tracebackhide__ = True  # for pytest
    try:
        report = check_gradients(given, *inputs, wrt=wrt, grads=grads, forward=forward, rng=rng, seed=seed)
        report.raise_if_wrong()
    except GradientError as error:
        raise GradientError(str(error)) from None
    return report
