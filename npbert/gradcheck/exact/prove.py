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
zeros with probability at most deg N / p. Here p has 118 bits, and deg N is counted by `degree.py`: 3 for the smallest
Linear, some hundreds for a small BERT as a whole. So a wrong backward is taken for right in fewer than one of 10³⁰
trials.

What is assumed: that p divides no coefficient of N that matters, which p was not chosen to do; that a constant is what
its float most simply stands for (`constants.py`); that no two arguments of a function are equal by chance, which is as
unlikely; and that what is drawn at random is random. It is a proof for these shapes, these ids and masks, and this
side of each comparison, those of the user's own numbers. It is not one of forward, nor of floats: overflow,
cancellation and a wrong digit in a series for erf are for the estimates to see.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import DecimalException
from typing import Any

import numpy as np

from npbert.core import NO_TAPE, Layer, Tape, TapeError, named_parameters
from npbert.gradcheck.exact.field import Field
from npbert.gradcheck.exact.locate import WrongArray, wrong_arrays, wrong_parts
from npbert.gradcheck.exact.number import inhabited
from npbert.gradcheck.exact.run import WrongGradientsError, inner, run_on_numbers
from npbert.gradcheck.inputs import copy_of, is_float_array, read_only

PROVED, REFUTED, NOT_PROVED = "proved", "refuted", "not proved"

_NO_LAW = (
    "the equality of integers does not hold, but with 50 digits every gradient is right: backward is right by a law "
    "that is not known here, such as exp(a + b) = exp(a) exp(b), or a constant in it is rounded"
)


@dataclass(frozen=True)
class Proof:
    """The answer: `verdict` is PROVED, REFUTED or NOT_PROVED; true if it is PROVED.

    derivatives: how many numbers there are to be derived by. seconds: the equality took so long. reason: why it is not
    proved, or what is refuted besides gradients. wrong: the gradients that are refuted. parts: the innermost parts that
    these come from; () for the layer itself.
    """

    verdict: str
    derivatives: int
    seconds: float
    reason: str = ""
    wrong: tuple[WrongArray, ...] = ()
    parts: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.verdict == PROVED

    def __str__(self) -> str:
        if self:
            return f"proved: {self.derivatives:,} derivatives, as an equality of integers ({1e3 * self.seconds:.0f} ms)"
        come_from = f", which come from {' and '.join(self.parts)}" if self.parts else ""
        if self.wrong:
            return "\n  ".join([f"refuted: wrong gradients{come_from}", *map(str, self.wrong)])
        return f"{self.verdict}: {self.reason}"


def prove(layer: Any, *inputs: Any, rng: np.random.Generator | None = None, seed: int = 0) -> Proof:
    """Prove that `layer.backward` is the derivative of `layer.forward`, or refute it.

    layer, inputs: as for check_gradients, in any float dtype; the numbers decide comparisons and nothing else. rng: for
    dropout. seed: for the random point.

    Three answers, which are never mixed up. Proved: the equality holds. Refuted: it does not, and with 50 digits a
    gradient is wrong, too, or backward returns something else than one gradient for each input. Not proved: something
    has no exact rule (a function without one, a cast to float), or only the 50 digits agree.

    Nothing is left changed. Raises: ValueError when there is nothing to derive by; what forward raises for the inputs.
    """
    inputs = tuple(map(read_only, inputs))
    count = sum(parameter.value.size for _, parameter in named_parameters(layer))
    count += sum(value.size for value in inputs if is_float_array(value))
    if not count:
        raise ValueError("there is nothing to check: no parameters, and no float array among the inputs")
    start = time.perf_counter()
    try:
        with np.errstate(all="ignore"):
            if _holds(layer, inputs, rng, seed):
                return Proof(PROVED, count, time.perf_counter() - start)
            seconds = time.perf_counter() - start
            wrong = wrong_arrays(layer, inputs, rng, seed)
            parts = wrong_parts(layer, inputs, rng, seed) if wrong else ()
    except (WrongGradientsError, TapeError) as error:
        return Proof(REFUTED, count, time.perf_counter() - start, str(error))
    except (TypeError, ValueError, AttributeError, ArithmeticError, DecimalException, LookupError) as error:
        layer.forward(*inputs, tape=Tape(copy_of(rng)))  # which raises what is wrong with the inputs themselves
        return Proof(NOT_PROVED, count, time.perf_counter() - start, _without_rule(error))
    if not wrong:
        return Proof(NOT_PROVED, count, seconds, _NO_LAW)
    return Proof(REFUTED, count, seconds, "", tuple(wrong), parts)


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
    return prove(_Pair(f, vjp), *inputs, rng=rng, seed=seed)


class _Pair(Layer):
    """Two functions as a layer. The names of the inputs are those that f gives them."""

    def __init__(self, f: Callable[..., Any], vjp: Callable[..., Any]) -> None:
        self._f, self._vjp = f, vjp

        def forward(*inputs: Any, tape: Tape = NO_TAPE) -> Any:
            tape.keep(self, inputs)
            return f(*inputs)

        with contextlib.suppress(TypeError, ValueError):  # a ufunc has no signature
            forward.__signature__ = inspect.signature(f)  # type: ignore[attr-defined]
        self.forward = forward

    def backward(self, dy: Any, tape: Tape) -> Any:
        """vjp(dy, *inputs)."""
        return self._vjp(dy, *tape.take(self))


def _holds(layer: Any, inputs: tuple[Any, ...], rng: np.random.Generator | None, seed: int) -> bool:
    """⟨dy, ẏ⟩ = ⟨dx, ẋ⟩ + Σ ⟨dW, Ẇ⟩ at a random point, in a random direction, for a random dy, in GF(p)."""
    drawn = np.random.default_rng(seed)
    with inhabited(Field(drawn)):
        run = run_on_numbers(layer, inputs, rng, drawn)
    returned = sum(inner(run.gradients[name], tangents) for name, tangents in run.tangents.items())
    return bool((run.growth - returned) % Field.modulus == 0)


def _without_rule(error: Exception) -> str:
    """The reason, with where it came up in the user's code."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if "numpy" not in file and "gradcheck" not in file:
            place = f", at line {trace.tb_lineno} of {file}"
        trace = trace.tb_next
    message = " ".join(str(error).split()) or type(error).__name__
    missing = re.search(r"no callable (\w+) method", message)
    message = f"no rule is known for np.{missing[1]}" if missing else message
    return f"exact numbers do not flow through it: {message}{place}"
