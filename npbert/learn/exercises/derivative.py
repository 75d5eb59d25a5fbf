"""Exercise 1: the numerical derivative, by a central difference and by the complex step."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck import GradientError
from npbert.gradcheck.explain import Finding, in_manner
from npbert.gradcheck.explain.reasons import KINDS
from npbert.learn.compared import Numbers
from npbert.learn.exercise import CHAPTERS, Exercise, Message
from npbert.learn.numbers import NumbersPart
from npbert.learn.source import Blank

TEXT = """
Before you write derivatives, you need somebody who tells you whether they are right. A computer can ask the function
itself: move one number of x a little, and see how much f(x) moves. That is slow, once for every number, but it needs no
calculus, so it can check what you will derive by hand.

f takes an array and returns one number. Return the array of its derivatives, one for each number of x, of the shape of
x. np.ndindex(x.shape) gives the places of all numbers of an array of any shape.
"""
CENTRAL_BLANK = Blank(
    "central_difference",
    """Return ∂f/∂x, of the shape of x: for each number of x the slope of f between x − h and x + h.

    Move one number of x at a time, a step h up and a step h down, and leave x as it was.
    """,
)
COMPLEX_BLANK = Blank(
    "complex_step",
    """Return ∂f/∂x, of the shape of x: Im f(x + ih) / h for each number of x.

    f can be given complex numbers. For a small h, f(x + ih) = f(x) + ih f′(x) − …, so the slope stands in the imaginary
    part. Nothing is subtracted, so no digits are lost, and h can be as small as you like.
    """,
)
HINTS = (
    "Two points, one h above and one h below: they are 2h apart. All other numbers stay where they are.",
    "For each `index` of np.ndindex(x.shape) make a copy of x, move copy[index], call f with the copy, and put what "
    "comes out at gradient[index]. For the complex step the copy is x.astype(complex).",
    "central: gradient[index] = (f(up) - f(down)) / (2 * h). complex: moved[index] += 1j * h, then gradient[index] = "
    "f(moved).imag / h.",
)
CENTRAL_PLAIN = """
def central_difference(f, x, h=1e-5):
    def moved(to):
        return np.where(places == n, to, x)
    places = np.arange(x.size).reshape(x.shape)
    gradient = np.zeros(x.shape)
    for n in range(x.size):
        up = moved(x + h)
        down = moved(x - h)
        width = (up - down).max()
        gradient.flat[n] = (f(up) - f(down)) / width
    return gradient
"""
COMPLEX_PLAIN = """
def complex_step(f, x, h=1e-30):
    places = np.arange(x.size).reshape(x.shape)
    gradient = np.zeros(x.shape)
    for n in range(x.size):
        moved = np.where(places == n, x + 1j * h, x)
        gradient.flat[n] = f(moved).imag / h
    return gradient
"""
AFTER = "x after the call"
AT_ONCE = "how many numbers of x are moved at once"
CENTRAL_REASONS = {
    "the gradient": "It is (f(x + h) − f(x − h)) / 2h for each number of x, while all others stay. From x − h to x + h "
    "the number moves by 2h; and with a step to both sides the errors of the two cancel, but for what shrinks like h².",
}
COMPLEX_REASONS = {
    "the gradient": "It is Im f(x + ih) / h for each number of x, while all others stay: f(x + ih) = f(x) + ih f′(x) … "
    "So the imaginary part is h f′(x), with the sign of the slope, and there is one step of h, not two.",
}
SHAPES = ((2, 3), (5,), (3, 2, 4))


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


def numbers(derivative: Any, seed: int, h: float) -> Iterator[Numbers]:
    """The gradient of a function at an x of another shape for each seed; x when it is done; and where f was asked."""
    rng = np.random.default_rng(seed)
    shape = SHAPES[seed % len(SHAPES)]
    x, weights = in_manner(rng.standard_normal(shape), seed // 2), rng.standard_normal(shape)
    start, at_once = x.copy(), 1

    def f(z: Any) -> Any:
        nonlocal at_once
        at_once = max(at_once, int(np.sum(np.abs(z - start) > h / 2)))
        return (weights * np.exp(np.sin(z))).sum() + np.cos(z.sum())

    gradient = derivative(f, x, h)
    if gradient is None:
        raise GradientError("nothing is returned: does it end with `return gradient`?")
    several = {AT_ONCE: np.asarray(at_once)} if at_once > 1 else {}
    yield {"the gradient": np.asarray(gradient), AFTER: x, **several}


def first(given: Numbers, right: Numbers) -> Message | None:
    """The message where x was changed, or where the result is not shaped like x."""
    gradient, wanted = given["the gradient"], right["the gradient"]
    if not np.allclose(given[AFTER], right[AFTER], rtol=0, atol=1e-9):
        put_back = Finding("missing line", AFTER, "", "", "x[index] = start", KINDS["missing line"].cause)
        return Message(
            "x is not put back: after the call it is another x than before.",
            "What is moved in place has to come back to exactly where it was, or each number is moved while those "
            "before it are still off. Safest is to move a copy: moved = x.copy().",
            (put_back,),
        )
    if AT_ONCE in given:
        return Message(
            f"You ask for f where {given[AT_ONCE]} of the {wanted.size} numbers of x are moved at once.",
            "The gradient says for each number by itself how fast f moves with it. So move one number, x[index] for an "
            "index of np.ndindex(x.shape), while all others stay; and put it back before the next is moved.",
            (Finding("index", "the gradient", "", "", "", KINDS["index"].cause),),
        )
    if gradient.shape == wanted.shape:
        return None
    return Message(
        f"What is returned has the shape {gradient.shape}, and x has {wanted.shape}: each number has a slope.",
        "f gives one number, so there is one difference for each number of x that is moved: for index in "
        "np.ndindex(x.shape), move x[index] alone, and put the slope at gradient[index].",
    )


def first_of_complex(given: Numbers, right: Numbers) -> Message | None:
    """As `first`; and where nothing ever had an imaginary part, for which there is more than one reason."""
    message = first(given, right)
    if message is not None or np.any(given["the gradient"]):
        return message
    return Message(
        "The gradient is 0, as if no number was ever moved along the imaginary axis.",
        "x + h stays on the real axis, where f is real: it is moved by 1j * h. And an array of real numbers keeps no "
        "imaginary part: moved = x.astype(complex) does.",
        (Finding("missing factor", "the gradient", "", "", "", KINDS["missing factor"].cause),),
    )


def untouched(derivative: Callable[..., Any]) -> Message | None:
    """Judge that the call leaves x as it was, to the last bit."""
    x = np.random.default_rng(0).uniform(0.3, 1.7, 99)
    before = x.copy()
    derivative(lambda z: z.sum(), x)
    if np.array_equal(x, before):
        return None
    return Message(
        f"The gradient is right, but after the call {int((x != before).sum())} of the {x.size} numbers of x have other "
        "last digits.",
        "x + h − h need not be x, as each step is rounded. Keep the number, start = x[index], and put it back, "
        "x[index] = start; or move a copy.",
    )


def part(right: Any, blank: Blank, h: float, **options: Any) -> NumbersPart:
    """One of the two derivatives, by steps of h: so large that nobody takes what was not divided by it for 0."""
    return NumbersPart(
        right=right, blank=blank, numbers=lambda thing, seed: numbers(thing, seed, h), prove=untouched, **options
    )


EXERCISE = Exercise(
    title="the numerical derivative",
    chapter=CHAPTERS[9],
    hints=HINTS,
    parts=(
        part(
            central_difference,
            CENTRAL_BLANK,
            1e-5,
            above="Function = Callable[[Array], Any]",
            plain=CENTRAL_PLAIN,
            reasons=CENTRAL_REASONS,
            tolerance=1e-7,
            first=first,
        ),
        part(
            complex_step,
            COMPLEX_BLANK,
            1e-12,
            plain=COMPLEX_PLAIN,
            reasons=COMPLEX_REASONS,
            tolerance=1e-11,
            first=first_of_complex,
        ),
    ),
    text=TEXT,
)
