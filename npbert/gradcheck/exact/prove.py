"""prove: proves that backward is the derivative of forward, by an equality of integers instead of a tolerance.

Let θ be all numbers of the parameters and float inputs, and y(θ) the output of forward. Move θ along any direction θ̇:
then y moves along some ẏ. With J the matrix of all derivatives of y, ẏ = J θ̇, and backward should return Jᵀ dy. Both
give the same number:

    ⟨dy, ẏ⟩ = ⟨dy, J θ̇⟩ = ⟨Jᵀ dy, θ̇⟩,    where ⟨a, b⟩ = Σ a b.

Forward, run once on θ + θ̇ε, gives ẏ (`number.py`), and so the left side. Backward, run once on dy, gives the right
side. (The adjoint identity: Griewank & Walther 2008, section 3.2.) Let D be the difference of both sides, for random
θ, θ̇ and dy. Why is backward right if D is 0?

1. A layer is a formula of +, −, ·, / and of functions such as exp and √. Call each value of a function s, one more
   letter beside those of θ, θ̇ and dy. Its derivative has the letters that there are: eᵃ has s, √a has 1/(2s), log a
   has 1/a. So D is a fraction of polynomials in these letters.
2. If the numerator of D is 0 for all letters, the sides are equal for all numbers: backward is right wherever no
   divisor is 0.
3. Otherwise the numerator is a polynomial that is not 0, of some degree d. Like a polynomial in one letter, which has
   at most d zeros, it is 0 at few points: if each letter is drawn from P numbers, with probability at most d / P.
   (Schwartz 1980, Zippel 1979.)
4. The letters are drawn from whole numbers on a clock with P hours, where nothing is rounded (`field.py`). P has 118
   bits. A test counts d: 3 for the smallest Linear, some hundreds for a small BERT as a whole. So a wrong backward
   passes in at most about one of 10³³ trials. If roots are missing at a point, up to 64 points are tried until one
   holds, so the bound is 64 times as large.

The letters are not quite free: they keep the laws of `Field.function`, and known values such as e⁰ = 1. Both hold for
the real functions, so they only let more right backwards pass.

**The bridge to floats.** The proof holds for the formula that the code computes on exact numbers. A test shows that the
code computes the same formula on your floats: y and every gradient must agree in every entry, up to a bound on
rounding that each number carries (`Number.error`), at your point and at one beside it. If they differ (as the code
checks a dtype, or falls back in an `except`), nothing is proved. npbert's GELU in float32 uses a polynomial for erf:
the proof is for erf, and the bridge shows that the two agree in float32.

**Assumptions.** P divides no coefficient of the numerator that matters. A constant is the simplest number of its float
(`number.py`). No two arguments of a function are equal by chance, which is as unlikely. Random numbers are random.
Backward is linear in dy (`check_linear` tries multiples of it, 0, 1 and a sum).

Comparisons follow your numbers, so the proof holds for these shapes, ids and masks, and this side of each comparison.
At a tie, as for a ReLU at 0, both sides are proved, and a gradient between them is right. ±∞ behaves as in floats:
e^(−∞) is 0, a constant. If y or a gradient is not finite, there is no derivative.

`_proof_beside_floats` asks in this order:

1. Do y and the gradients agree with floats, also beside? If not: not proved.
2. Is D 0? Then proved, if backward is linear in dy.
3. Is a gradient wrong in decimals? Then refuted, or right except for a small constant.
4. Is D 0 at another of 63 points, where all roots exist? Then proved, as in step 2; else not proved.
"""

import textwrap
import time
from dataclasses import replace
from typing import Any

import numpy as np

from npbert.gradcheck.exact.digits import witnesses
from npbert.gradcheck.exact.field import Field
from npbert.gradcheck.exact.number_modules import place_of
from npbert.gradcheck.exact.run import check_beside, check_linear, is_right_on_both_sides, run_on_numbers
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import Function, Rng
from npbert.gradcheck.layer_of import function_of
from npbert.gradcheck.report import (
    NOT_PROVED,
    PROVED,
    REFUTED,
    Comparison,
    GradientError,
    Gradients,
    PromiseError,
    Proof,
)
from npbert.gradcheck.restoring import everything_restored

_POINTS = 64
_NEAR = 1e-3

_NO_LAW = (
    "the integers differ, but in decimals no gradient is off by more than rounded constants explain: backward "
    "is right by a law that the proof does not know, such as e^(2a) = (eᵃ)², or has a rounded constant"
)
_TIE = "the code compares two equal numbers, and to one side of this tie the gradients differ"


def prove(layer: Any, *inputs: Any, rng: Rng = None, seed: int = 0) -> Proof:
    """Prove that `layer.backward` is the derivative of `layer.forward`, or refute it.

    layer, inputs: as for check_gradients, in any float dtype. rng: for dropout. seed: for the random point.

    It has three answers:

    - Proved: the equality holds, and floats agree.
    - Refuted: the equality fails, and a gradient is wrong in decimals, at your numbers or next to them; or backward
      does not return one gradient for each input.
    - Not proved: an operation has no exact rule (an unknown function, a cast to float32), floats take another path,
      only the decimals agree, or backward is not linear in dy.

    Everything is left unchanged. Raises: ValueError without parameters or float inputs; forward's errors.
    """
    with np.errstate(all="ignore"), function_of(layer, inputs, rng, seed) as function:
        return proved(function)


def prove_vjp(
    f: Function,
    vjp: Function,
    *inputs: Any,
    rng: Rng = None,
    seed: int = 0,
) -> Proof:
    """Prove that `vjp(dy, *inputs)` is the derivative of `f(*inputs)`, for any two functions in NumPy.

    f returns an array, or a tuple of them. vjp gets as many dy, and returns a gradient for each float array among the
    inputs: an array, or a tuple, list or dict of them. None: an input without a gradient. All else is as for `prove`.

        prove_vjp(np.tanh, lambda dy, x: dy * (1 - np.tanh(x) ** 2), x)
    """
    return prove((f, vjp), *inputs, rng=rng, seed=seed)


def proved(function: ScalarFunction) -> Proof:
    """Return the proof or refutation of a function, which it leaves unchanged."""
    start = time.perf_counter()
    with everything_restored(function.layer, *function.inputs.values()), np.errstate(all="ignore"):
        proof = _answer(function)
    return replace(proof, derivatives=function.size, seconds=time.perf_counter() - start)


def _answer(function: ScalarFunction) -> Proof:
    try:
        gradients = function.gradients()
    except GradientError as error:
        return Proof(REFUTED, reason=str(error))
    try:
        return _proof_beside_floats(function, gradients)
    except PromiseError as error:
        return Proof(NOT_PROVED, reason=str(error))
    except Exception as error:  # floats passed, so the code cannot run on exact numbers
        told = error.__cause__ if isinstance(error, SystemError) else error
        message = textwrap.shorten(str(told), 200, placeholder=" …") or type(error).__name__
        reason = f"exact numbers do not pass through it: {message}{place_of(error)}"
        return Proof(NOT_PROVED, reason=reason)


def _proof_beside_floats(function: ScalarFunction, gradients: Gradients) -> Proof:
    """Return the proof for a layer with these gradients on floats. Raises: the layer's errors on exact numbers."""
    field = Field(function.seed)
    run = run_on_numbers(field, function)
    run.check_like(function, gradients)
    is_proved = run.holds
    if field.ties:
        is_proved = is_right_on_both_sides(function, gradients)
    else:
        check_beside(function)
    if not is_proved:
        wrong = witnesses(function)
        if not wrong:
            with function.moved(function.random_step(0), _NEAR):  # γ may be 1 by chance
                wrong = witnesses(function)
        if wrong:
            return _refuted(function, wrong)
        others = range(1, _POINTS) if field.random_powers else ()  # each root is there at half of them
        if not any(run_on_numbers(Field(function.seed + other), function).holds for other in others):
            return Proof(NOT_PROVED, reason=_TIE if field.ties else _NO_LAW)
    check_linear(function, gradients)
    return Proof(PROVED)


def _refuted(function: ScalarFunction, wrong: list[Comparison]) -> Proof:
    """Return the answer for wrong gradients: refuted, unless only a small constant is left out."""
    field = Field(function.seed)
    field.drops = True
    if run_on_numbers(field, function).holds and field.dropped:
        dropped = tuple(sorted(field.dropped))
        constants = " and ".join(map(repr, dropped))
        reason = f"right but for {constants}, which forward has and backward leaves out: with 0 instead, it is proved"
        return Proof(NOT_PROVED, reason=reason, dropped=dropped)
    return Proof(REFUTED, wrong=tuple(wrong))
