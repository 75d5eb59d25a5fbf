"""Exercise 1: the numerical derivative, by a central difference and by the complex step."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.learn.chapters import chapter
from npbert.learn.exercise import Exercise
from npbert.learn.exercises.derivative_central import CENTRAL
from npbert.learn.exercises.derivative_complex import COMPLEX
from npbert.learn.exercises.derivative_told import told
from npbert.learn.exercises.numerical_derivative import central_difference, complex_step
from npbert.learn.numbers import Numbers, NumbersPart
from npbert.learn.source import exercise_file, function_source

TEXT = """
Before you write derivatives, you need somebody who tells you whether they are right. A computer can ask the function
itself: move one number of x a little, and see how much f(x) moves. That is slow, once for every number, but it needs no
calculus, so it can check what you will derive by hand.

f takes an array and returns one number. Return the array of its derivatives, one for each number of x, of the shape of
x. np.ndindex(x.shape) gives the places of all numbers of an array of any shape.
"""
CENTRAL_TEXT = """Return ∂f/∂x, of the shape of x: for each number of x the slope of f between x − h and x + h.

Move one number of x at a time, a step h up and a step h down, and leave x as it was.
"""
COMPLEX_TEXT = """Return ∂f/∂x, of the shape of x: Im f(x + ih) / h for each number of x.

f can be given complex numbers. For a small h, f(x + ih) = f(x) + ih f′(x) − …, so the slope stands in the imaginary
part. Nothing is subtracted, so no digits are lost, and h can be as small as you like.
"""
HINTS = (
    "Two points, one h above and one h below: they are 2h apart. All other numbers stay where they are.",
    "For each `index` of np.ndindex(x.shape) make a copy of x, move copy[index], call f with the copy, and put what "
    "comes out at gradient[index]. For the complex step the copy is x.astype(complex).",
    "central: gradient[index] = (f(up) - f(down)) / (2 * h). complex: moved[index] += 1j * h, then gradient[index] = "
    "f(moved).imag / h.",
)


def _numbers(derivative: Any, seed: int) -> Numbers:
    rng = np.random.default_rng(seed)
    numbers = {}
    for shape in ((7,), (3, 5)):
        x, weights = rng.uniform(0.3, 1.7, shape), rng.standard_normal(shape)
        gradient = derivative(lambda z, w=weights: (w * np.exp(np.sin(z))).sum() + z.prod(), x)
        numbers[f"the gradient at an x of shape {shape}"] = np.asarray(gradient)
        numbers[f"x of shape {shape} after the call"] = x
    return numbers


EXERCISE = Exercise(
    number=1,
    slug="derivative",
    title="the numerical derivative",
    chapter=chapter(9),
    hints=HINTS,
    parts=(
        NumbersPart(
            "central_difference",
            central_difference,
            _numbers,
            CENTRAL,
            tolerance=1e-7,
            explain=lambda thing: told(thing, "central", 1e-5),
        ),
        NumbersPart(
            "complex_step",
            complex_step,
            _numbers,
            COMPLEX,
            tolerance=1e-11,
            explain=lambda thing: told(thing, "complex", 1e-30),
        ),
    ),
    source=lambda: exercise_file(
        1,
        "the numerical derivative",
        chapter(9),
        TEXT,
        [
            "Function = Callable[[Array], Any]",
            function_source(central_difference, CENTRAL_TEXT),
            function_source(complex_step, COMPLEX_TEXT),
        ],
    ),
    blanks=("central_difference", "complex_step"),
)
