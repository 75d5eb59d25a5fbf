"""prove: is backward the derivative of forward? An equality of integers, where an estimate has a tolerance.

Let θ be all numbers of the parameters and float inputs together, y(θ) what forward computes, and J its Jacobian. For
every direction θ̇ and every dy,

    ⟨dy, J θ̇⟩ = ⟨Jᵀ dy, θ̇⟩.

Forward, run once on θ + θ̇ε, gives the left side, as ẏ = J θ̇. Backward, run once on dy, should give Jᵀ dy, and with
it the right side. (The adjoint identity: Griewank & Walther 2008, section 3.2.) A layer is a formula of +, −, ·, / and
of functions such as exp and √. Read each function at each of its arguments as one more indeterminate s, with ds = f′
da, where f′ is a rational function of what is there (eᵃ, 1/a, 1/2s, 1 − s²). Then both sides are rational functions
over ℚ, and so is what lies between them, D(θ, s, θ̇, dy). If D is 0 as a rational function, backward is right wherever
no divisor is 0, for these functions and for any others with the same derivatives. If D is not 0, its numerator N is a
polynomial that is not 0, and by the lemma of Schwartz (1980) and Zippel (1979) a random point of GF(p) is one of its
zeros with probability at most deg N / p. Here p has 118 bits, and deg N is counted by a test: 3 for the smallest
Linear, some hundreds for a small BERT as a whole. So a wrong backward is taken for right in fewer than one of 10³⁰
trials.

What is assumed: that p divides no coefficient of N that matters, which p was not chosen to do; that a constant is what
its float most simply stands for (`constants.py`); that no two arguments of a function are equal by chance, which is as
unlikely; and that what is drawn at random is random. It is a proof for these shapes, these ids and masks, and this
side of each comparison, those of the user's own numbers. It is not one of forward, nor of floats: overflow,
cancellation and a wrong digit in a series for erf are for the estimates to see.
"""

import re
import textwrap
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Tape, TapeError, named_parameters
from npbert.gradcheck.exact.constants import simplest
from npbert.gradcheck.exact.digits import CONTEXT, gradients_with_digits
from npbert.gradcheck.exact.field import Field
from npbert.gradcheck.exact.run import UNKNOWN, Part, run_on_numbers
from npbert.gradcheck.given import as_layer
from npbert.gradcheck.inputs import attributes_kept, copy_of, float_inputs_of, read_only
from npbert.gradcheck.others import names_given
from npbert.gradcheck.others import vjp as of_two
from npbert.gradcheck.report import EXACT, NOT_PROVED, PROVED, REFUTED, Comparison, GradientError, Proof, compared

_ROUNDED_CONSTANTS = 2e-15
"""Beside the largest gradient of an array, what may come of constants in the code that are floats, and so rounded."""

_NO_LAW = (
    "the equality of integers does not hold, but with 50 digits every gradient is right: backward is right by a law "
    "that is not known here, such as exp(a + b) = exp(a) exp(b), or a constant in it is rounded"
)


def prove(layer: Any, *inputs: Any, rng: np.random.Generator | None = None, seed: int = 0) -> Proof:
    """Prove that `layer.backward` is the derivative of `layer.forward`, or refute it.

    layer, inputs: as for check_gradients, in any float dtype; the numbers decide comparisons and nothing else. rng: for
    dropout. seed: for the random point.

    Three answers, which are never mixed up. Proved: the equality holds. Refuted: it does not, and with 50 digits a
    gradient is wrong, too, or backward returns something else than one gradient for each input. Not proved: something
    has no exact rule (a function without one, a cast to float), or only the 50 digits agree.

    Nothing is left changed. Raises: ValueError when there is nothing to derive by; what forward raises for the inputs.
    """
    layer, inputs = as_layer(layer, inputs)
    inputs = tuple(map(read_only, inputs))
    whole = Part(layer, inputs, rng)
    count = sum(parameter.value.size for _, parameter in named_parameters(layer))
    count += sum(inputs[position].size for position in float_inputs_of(layer, inputs, ()).values())
    if not count:
        raise ValueError("there is nothing to check: no parameters, and no float array among the inputs")
    start = time.perf_counter()
    try:
        with np.errstate(all="ignore"):
            if _holds(whole, seed):
                return Proof(PROVED, count, time.perf_counter() - start)
            seconds = time.perf_counter() - start
            wrong = _wrong_arrays(whole, seed)
            parts, _ = judged(parts_of(whole) if wrong else [], lambda part: _holds(part, seed))
    except (GradientError, TapeError) as error:
        return Proof(REFUTED, count, time.perf_counter() - start, str(error))
    except UNKNOWN as error:
        layer.forward(*inputs, tape=Tape(copy_of(rng)))  # which raises what is wrong with the inputs themselves
        return Proof(NOT_PROVED, count, time.perf_counter() - start, _without_rule(error))
    if not wrong:
        return Proof(NOT_PROVED, count, seconds, _NO_LAW)
    return Proof(REFUTED, count, seconds, "", tuple(wrong), tuple(part.name for part in parts))


def prove_vjp(
    f: Callable[..., Any],
    vjp: Callable[..., Any],
    *inputs: Any,
    rng: np.random.Generator | None = None,
    seed: int = 0,
) -> Proof:
    """Prove that vjp(dy, *inputs) is the derivative of f(*inputs), for any two functions in NumPy.

    f returns an array, or a tuple of them; vjp is given as many dy, and returns a gradient for each float array among
    the inputs: an array, or a tuple of them in order. All else is as for `prove`.

        prove_vjp(np.tanh, lambda dy, x: dy * (1 - np.tanh(x) ** 2), x)
    """
    return prove(of_two(f, vjp, names_given(f, inputs)), *inputs, rng=rng, seed=seed)


def _holds(part: Part, seed: int) -> bool:
    """⟨dy, ẏ⟩ = ⟨dx, ẋ⟩ + Σ ⟨dW, Ẇ⟩ at a random point, in a random direction, for a random dy, in GF(p)."""
    drawn = np.random.default_rng(seed)
    return bool(run_on_numbers(Field(drawn), part, drawn).difference % Field.modulus == 0)


def _wrong_arrays(part: Part, seed: int) -> list[Comparison]:
    """The arrays of which the gradient is wrong by more than a rounded constant explains."""
    try:
        near = np.random.default_rng([seed, 1])
        said, right = gradients_with_digits(part, np.random.default_rng(seed), near=near)
    except ArithmeticError:  # near the point there is no √, say
        said, right = gradients_with_digits(part, np.random.default_rng(seed))
    with localcontext(Context(CONTEXT.prec, traps=[])):  # what is divided by 0 is infinite
        wrong = [array for array in compared(EXACT, said, right, _ROUNDED_CONSTANTS) if array.count]
        return [replace(array, factor=_factor(said[array.name], right[array.name])) for array in wrong]


def parts_of(whole: Part) -> list[Part]:
    """The parts of a layer in the order of their first forward, each before those that it holds: it runs once."""
    found: dict[str, Part] = {}

    def watched(name: str, part: Any, forward: Callable[..., Any]) -> Callable[..., Any]:
        def watching(*given: Any, **options: Any) -> Any:
            tape = next((value for value in [*given, *options.values()] if isinstance(value, Tape)), None)
            if all(isinstance(value, Tape) for value in options.values()):
                values = tuple(value for value in given if not isinstance(value, Tape))
                found.setdefault(name, Part(part, values, copy_of(tape.rng) if tape else None, name))
            return forward(*given, **options)

        return watching

    with attributes_kept(whole.layer) as parts:
        for name, part in parts.items():
            if name and hasattr(part, "forward") and hasattr(part, "backward"):
                part.forward = watched(name, part, part.forward)
        whole.layer.forward(*whole.inputs, tape=Tape(copy_of(whole.rng)))
    return list(found.values())


def judged(parts: list[Part], is_right: Callable[[Part], bool]) -> tuple[list[Part], list[str]]:
    """The innermost parts that are wrong, and the names of the outermost that are right; without those that do not work
    alone, or have nothing to derive by."""
    wrong: list[Part] = []
    right: list[str] = []
    for part in reversed(parts):
        if any(other.name.startswith(f"{part.name}.") for other in wrong):
            continue
        try:
            verdict = is_right(part)
        except Exception:  # the part's own
            continue
        if verdict:
            right = [part.name, *(name for name in right if not name.startswith(f"{part.name}."))]
        else:
            wrong.insert(0, part)
    return wrong, right


def _factor(said: Array, right: Array) -> str:
    """The number that all of `said` are of `right`, if it is a short one, or the root of one."""
    ratios = [s / r for s, r in zip(said.ravel(), right.ravel(), strict=True) if r]
    if len(ratios) < said.size or max(ratios) - min(ratios) > abs(ratios[0]) * Decimal("1e-30"):
        return ""
    if not ratios[0]:
        return "0"
    sign = "−" if ratios[0] < 0 else ""
    for root, ratio in (("", abs(ratios[0])), ("√", ratios[0] * ratios[0])):
        short = simplest(Fraction(ratio), 1e-28)
        if short is not None:
            text = str(short)
            return f"{sign}{root}({text})" if root and "/" in text else f"{sign}{root}{text}"
    return f"{ratios[0]:.17g}"


def _without_rule(error: Exception) -> str:
    """The reason, with where it came up in the user's code."""
    told = error.__cause__ if isinstance(error, SystemError) else error
    message = textwrap.shorten(str(told), 200, placeholder=" …") or type(error).__name__
    missing = re.search(r"no callable (\w+) method", message)
    message = f"no rule is known for np.{missing[1]}" if missing else message
    return f"exact numbers do not flow through it: {message}{place_of(error)}"


def place_of(error: Exception) -> str:
    """The last place in the user's code: ", at line 7 of layers.py"."""
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__"))
        if not module.startswith(("numpy", "npbert.gradcheck")) and frame.f_code.co_filename[:1] != "<":
            place = f", at line {line} of {frame.f_code.co_filename}"
    return place
