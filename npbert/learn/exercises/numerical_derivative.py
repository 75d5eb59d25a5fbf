"""Exercise 1, the numerical derivative: the two right answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npbert.compute import Array

Function = Callable[[Array], Any]


def central_difference(f: Function, x: Array, h: float = 1e-5) -> Array:
    """∂f/∂x ≈ (f(x + h) − f(x − h)) / 2h, with one number of x moved at a time."""
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[index] += h
        down[index] -= h
        gradient[index] = (f(up) - f(down)) / (2 * h)
    return gradient


def complex_step(f: Function, x: Array, h: float = 1e-30) -> Array:
    """∂f/∂x = Im f(x + ih) / h, with one number of x moved at a time, along the imaginary axis."""
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        moved = x.astype(complex)
        moved[index] += 1j * h
        gradient[index] = f(moved).imag / h
    return gradient
