"""Exercise 1: the numerical derivative, by a central difference and by the complex step."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.variations import in_manner
from npbert.learn.blank import Blank, Numbers, returned

SHAPES = ((2, 3), (5,), (3, 2, 4))


def central_difference(f: Callable[[Array], Any], x: Array, h: float = 1e-5) -> Array:
    """∂f/∂x ≈ (f(x + h) − f(x − h)) / 2h, with one number of x moved at a time."""
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[index] += h
        down[index] -= h
        gradient[index] = (f(up) - f(down)) / (2 * h)
    return gradient


def complex_step(f: Callable[[Array], Any], x: Array, h: float = 1e-30) -> Array:
    """∂f/∂x = Im f(x + ih) / h, with one number of x moved at a time, along the imaginary axis."""
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        moved = x.astype(complex)
        moved[index] += 1j * h
        gradient[index] = f(moved).imag / h
    return gradient


def run(h: float, derivative: Any, seed: int) -> Iterator[Numbers]:
    """Return the gradient of a function, at an x of a different shape for each seed. The function rejects an x with
    several changed numbers."""
    rng = np.random.default_rng(seed)
    shape = SHAPES[seed % len(SHAPES)]
    x, weights = in_manner(rng.standard_normal(shape), seed // 2), rng.standard_normal(shape)
    start = x.copy()

    def f(z: Any) -> Any:
        moved = np.sum(np.abs(z - start) > h / 2)
        if moved > 1:
            raise ValueError(f"f is called with {moved} of the {x.size} numbers of x moved at once")
        return (weights * np.exp(np.sin(z))).sum() + np.cos(z.sum())

    gradient = returned(derivative(f, x, h))
    yield {"the gradient": gradient, "the count of changed numbers of x": np.sum(x != start)}


CENTRAL = Blank(right=central_difference, numbers=partial(run, 1e-5), tolerance=1e-7)
COMPLEX = Blank(right=complex_step, numbers=partial(run, 1e-12))
"""With steps large enough that a missing division by h shows."""
