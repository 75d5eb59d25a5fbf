"""prove: is backward the derivative of forward? An equality of integers, where an estimate has a tolerance.

Let θ be all numbers of the parameters and float inputs together, y(θ) what forward computes, and J its Jacobian. For
every direction θ̇ and every dy,

    ⟨dy, J θ̇⟩ = ⟨Jᵀ dy, θ̇⟩.

Forward, run once on θ + θ̇ε, gives the left side, as ẏ = J θ̇. Backward, run once on dy, should give Jᵀ dy, and with
it the right side. (The adjoint identity: Griewank & Walther 2008, section 3.2.) A layer is a formula of +, −, ·, / and
of functions such as exp and √. Read each function at each of its arguments as one more indeterminate s, with ds = f′
da, where f′ is a rational function of what is there (eᵃ, 1/a, 1/2s, 1 − s²). Then both sides are rational functions
over ℚ, and so is their difference D(θ, s, θ̇, dy). If D is 0 as a rational function, backward is right wherever no
divisor is 0. If D is not 0, its numerator N is a polynomial that is not 0, and by the lemma of Schwartz (1980) and
Zippel (1979) a random point of GF(p) is one of its zeros with probability at most deg N / p. Here p has 118 bits, and
deg N is counted by a test: 3 for the smallest Linear, some hundreds for a small BERT as a whole. So a wrong backward
passes in fewer than one of 10³⁰ trials.

The indeterminates are not quite free: they keep the laws that `Field.function` lists, and the values that are known,
such as e⁰ = 1. Both hold for the real functions, so they only let more right backwards pass.

**The bridge to floats.** The proof is of the formula that the code computes on exact numbers. That it is the formula
that the code computes on floats is looked at: y and every gradient have to be what the same code gives on your own
floats, in every entry, up to a bound on rounding that each number carries (`Number.error`). Where the two part (the
code looks at a dtype, say, or falls back in an `except`), nothing is proved. npbert's GELU in float32 uses a polynomial
that fits erf: the proof is of erf, and the bridge shows that the two agree in float32.

What is assumed: p divides no coefficient of N that matters, which it was not chosen to do; a constant is what its float
most simply stands for (`constants.py`); no two arguments of a function are equal by chance, which is as unlikely; what
is drawn at random is random; backward is linear in dy (floats and exact numbers get a dy of other signs and sizes, and
for a loss of other digits, as its backward may ask for a float; `check_gradients` tries 0 and 1, too). Comparisons go
the way of your own numbers, so it is a proof for these shapes, these ids and masks, and this side of each comparison.
Where two numbers tie, as in a ReLU at 0, both sides are proved, and what lies between them is right. ±∞ is what floats
make of it: e^(−∞) is 0, and stays 0. Where y or a gradient is not finite there is no derivative.
"""

import textwrap
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from npbert.core import Tape, TapeError, named_parts
from npbert.gradcheck.exact.bridge import another_backward, is_right_on_both_sides, run_in_field, slope_parting
from npbert.gradcheck.exact.case import Case, Floats
from npbert.gradcheck.exact.digits import right_gradients
from npbert.gradcheck.exact.number import NonFinite, Number
from npbert.gradcheck.exact.number_modules import place_of
from npbert.gradcheck.exact.run import ExactRun
from npbert.gradcheck.exact.witness import witnesses
from npbert.gradcheck.inputs import copied, copy_of
from npbert.gradcheck.layer_of import as_layer
from npbert.gradcheck.report import EXACT, NOT_PROVED, PROVED, REFUTED, Comparison, GradientError, Proof, compared
from npbert.gradcheck.restoring import kept

_POINTS, _ROUGHLY = 64, 1e-6

_NO_LAW = (
    "the integers differ, but in decimals no gradient is off by more than rounded constants explain: backward "
    "is right by a law that the proof does not know, such as e^(2a) = (eᵃ)², or has a rounded constant"
)
_TIE = "the code compares two equal numbers, and to one side of this tie the gradients differ"


def prove(layer: Any, *inputs: Any, rng: np.random.Generator | None = None, seed: int = 0) -> Proof:
    """Prove that `layer.backward` is the derivative of `layer.forward`, or refute it.

    layer, inputs: as for check_gradients, in any float dtype. rng: for dropout. seed: for the random point.

    Three answers, which are never mixed up. Proved: the equality holds, and floats agree. Refuted: it does not hold,
    and a gradient is wrong at your own numbers or next to them, in decimals, however many; or backward returns
    something else than one gradient for each input. Not proved: something has no exact rule (a function without one, a
    cast to float32), floats go another way, or only the decimals agree.

    Nothing is left changed. Raises: ValueError when there is nothing to derive by; what forward raises for the inputs.
    """
    start = time.perf_counter()
    with kept(layer, *inputs) as things, np.errstate(all="ignore"):
        layer, inputs = as_layer(layer, inputs)
        proof = proof_of(Case(layer, map(copied, inputs), rng, things=things), seed)
        return replace(proof, seconds=time.perf_counter() - start)


def prove_vjp(
    f: Callable[..., Any],
    vjp: Callable[..., Any],
    *inputs: Any,
    rng: np.random.Generator | None = None,
    seed: int = 0,
) -> Proof:
    """Prove that vjp(dy, *inputs) is the derivative of f(*inputs), for any two functions in NumPy.

    f returns an array, or a tuple of them; vjp is given as many dy, and returns a gradient for each float array among
    the inputs: an array, or a tuple, list or dict of them. None says that an input has no gradient. All else is as for
    `prove`.

        prove_vjp(np.tanh, lambda dy, x: dy * (1 - np.tanh(x) ** 2), x)
    """
    return prove((f, vjp), *inputs, rng=rng, seed=seed)


def proof_of(part: Case, seed: int) -> Proof:
    """The proof for a layer that may be left changed."""
    if not part.size:
        raise ValueError("nothing to check: the layer has no parameters, and no input is a float array")
    try:
        floats = part.run_on_floats(_drawn(seed))
    except (GradientError, TapeError) as error:
        return Proof(REFUTED, part.size, reason=str(error))
    try:
        return _proof_beside_floats(part, floats, seed)
    except Exception as error:  # floats went all the way, so it is the exact numbers that the code is not made for
        return Proof(NOT_PROVED, part.size, reason=_without_rule(error))


def _proof_beside_floats(part: Case, floats: Floats, seed: int) -> Proof:
    """The proof for a layer that ran on floats. Raises: whatever the layer raises on exact numbers."""
    run, holds, has_roots = run_in_field(part, floats, seed)
    rounding = {name: seen.room(floats) / abs(floats.factor) for name, seen in run.seen.items()}
    proved = Proof(PROVED, part.size, rounding=rounding)
    if run.ties and is_right_on_both_sides(part, floats, seed):
        return proved
    parting = run.parting(floats)
    if not (parting or run.ties):
        right = floats.gradients if holds else right_gradients(part, floats.dy)
        parting = slope_parting(part, floats, run, right, seed)
    if parting:
        return Proof(NOT_PROVED, part.size, reason=f"the code takes another path on exact numbers: {parting}")
    parting = run.backward_parting(floats) or (another_backward(part, floats, run) if holds else "")
    if parting:
        return _another_way_back(part, floats, parting)
    is_proved = holds and not run.ties
    wrong = [] if is_proved else witnesses(part, floats.dy_of_numbers, seed)
    if is_proved or (has_roots and not wrong and _holds_at_another_point(part, floats, seed)):
        return proved
    return _not_proved(part, floats, run, wrong, seed)


def _another_way_back(part: Case, floats: Floats, parting: str) -> Proof:
    """The answer where backward does something else on exact numbers, or for another dy."""
    arrays = compared(EXACT, floats.gradients, right_gradients(part, floats.dy), _ROUGHLY)
    if wrong := [array for array in arrays if array.count]:
        return Proof(REFUTED, part.size, wrong=tuple(wrong))
    reason = f"backward is not linear in dy, or takes another path on exact numbers: {parting}"
    return Proof(NOT_PROVED, part.size, reason=reason)


def _holds_at_another_point(part: Case, floats: Floats, seed: int) -> bool:
    """True if the equality holds at a point whose roots are in the field."""
    return any(run_in_field(part, floats, other)[1] for other in range(seed + 1, seed + _POINTS))


def _not_proved(part: Case, floats: Floats, run: ExactRun, wrong: list[Comparison], seed: int) -> Proof:
    """The answer where the equality does not hold: refuted with a witness, and not proved without one."""
    if not wrong:
        return Proof(NOT_PROVED, part.size, reason=_TIE if run.ties else _NO_LAW)
    if dropped := _without_small_constants(part, floats, seed):
        constants = " and ".join(map(repr, dropped))
        reason = f"right but for {constants}, which forward has and backward leaves out: with 0 instead, it is proved"
        return Proof(NOT_PROVED, part.size, reason=reason, dropped=dropped)

    def holds(each: Case) -> bool:
        return run_in_field(each, each.run_on_floats(_drawn(seed)), seed)[1]

    parts, _ = judged(parts_of(part), holds)
    return Proof(REFUTED, part.size, wrong=tuple(wrong), parts=tuple(each.name for each in parts))


def _drawn(seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, 2])


def _without_small_constants(part: Case, floats: Floats, seed: int) -> tuple[float, ...]:
    """The small constants with 0 in the place of which the equality holds; () where there are none."""
    dropped: set[float] = set()
    Number.dropped = dropped
    try:
        holds = run_in_field(part, floats, seed)[1]
    finally:
        Number.dropped = None
    return tuple(sorted(dropped)) if holds else ()


def parts_of(whole: Case) -> list[Case]:
    """The parts of a layer that it calls, with what each is given at its first call, the innermost first: it runs
    once."""
    names = {id(part): name for name, part in named_parts(whole.layer) if name and hasattr(part, "backward")}
    found: dict[str, Case] = {}

    def watch(layer: Any, inputs: tuple[Any, ...], _: Any) -> None:
        if name := names.get(id(layer)):
            found.setdefault(name, Case(layer, inputs, copy_of(whole.rng), name))

    whole.layer.forward(*whole.inputs, tape=Tape(copy_of(whole.rng), watcher=watch))
    return list(found.values())


def judged(parts: list[Case], is_right: Callable[[Case], bool]) -> tuple[list[Case], list[str]]:
    """The innermost parts that are wrong, and the names of the outermost that are right; without those that do not work
    alone, or have nothing to derive by."""
    wrong: list[Case] = []
    right: list[str] = []
    for part in parts:
        if any(other.name.startswith(f"{part.name}.") for other in wrong):
            continue
        try:
            verdict = is_right(part)
        except Exception:  # the part's own
            continue
        if verdict:
            right = [*(name for name in right if not name.startswith(f"{part.name}.")), part.name]
        else:
            wrong.append(part)
    return wrong, right


def _without_rule(error: Exception) -> str:
    """The reason, with where it came up in the user's code."""
    told = error.__cause__ if isinstance(error, SystemError) else error
    message = textwrap.shorten(str(told), 200, placeholder=" …") or type(error).__name__
    missing = told.__cause__ if told else None
    if isinstance(missing, AttributeError) and isinstance(missing.obj, Number | NonFinite):  # NumPy asked it for a rule
        message = f"np.{missing.name} has no exact rule"
    return f"exact numbers do not pass through it: {message}{place_of(error)}"
