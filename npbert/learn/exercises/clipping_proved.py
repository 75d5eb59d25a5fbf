"""Exercise 13, part two: what is still asked of clipping whose numbers are right."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.core import Parameter
from npbert.learn.attempt import Failure, attempt
from npbert.learn.exercise import Finding

_IF = "With `if norm > max_norm:` before the factor, nothing is divided or changed where gradients are short enough."


def prove_clipping(thing: Any) -> Finding | None:
    """Gradients that are all 0, and those that are only just short enough."""
    nothing = [Parameter(np.ones((3, 5))), Parameter(np.ones(7))]
    found = attempt(lambda: thing(nothing, 1.3), thing.__code__.co_filename)
    if isinstance(found, Failure):
        return Finding("It stops where all gradients are 0, and so is their norm.", f"{found.finding.says}\n\n{_IF}")
    if any(part.grad.any() for part in nothing) or found:
        return Finding("Where all gradients are 0, they are not left as they are, or the norm is not 0.", _IF)
    rng = np.random.default_rng(0)
    parameters = [Parameter(rng.standard_normal(shape)) for shape in ((3, 5), (7,))]
    for parameter in parameters:
        parameter.add_grad(rng.standard_normal(parameter.value.shape))
    before = [parameter.grad.copy() for parameter in parameters]
    norm = float(np.sqrt(sum((grad**2).sum() for grad in before)))
    thing(parameters, norm * 1.001)
    if all(np.allclose(part.grad, grad, rtol=1e-5) for part, grad in zip(parameters, before, strict=True)):
        return None
    return Finding(
        f"Gradients whose norm is {norm:.4f} are changed where max_norm is {norm * 1.001:.4f}, which is more.", _IF
    )
