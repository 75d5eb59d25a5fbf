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
    """Raise GradientError, an AssertionError, unless every derivative is right; its text shows the wrong line.

    Arguments are those of `check_gradients`. Returns: the report, whose `proof` says whether the derivatives are
    proved; where they cannot be, as in code of PyTorch's own or with casts to float32, they are right by estimates,
    and `str(report)` says by which. Raises: TypeError and ValueError as `check_gradients`.
    """
    __tracebackhide__ = True  # for pytest
    try:
        report = check_gradients(given, *inputs, wrt=wrt, grads=grads, forward=forward, rng=rng, seed=seed)
        report.raise_if_wrong()
    except GradientError as error:
        raise GradientError(str(error)) from None
    return report
