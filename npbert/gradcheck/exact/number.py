"""Number: a + bε with ε² = 0, of which the parts are exact. Arithmetic on it carries a derivative along.

(a + bε)(c + dε) = ac + (ad + bc)ε is the product rule, and f(a + bε) = f(a) + f′(a) b ε the chain rule. So whoever
computes y from x + ẋε gets y + ẏε, where ẏ says how fast y moves when x moves in the direction ẋ: the derivative comes
out beside the value. (Dual numbers: Clifford 1873; as forward differentiation Wengert 1964.)

What a and b are is the matter of a world: a finite field, in which = is an equality of integers (`field.py`), or 50
digits (`digits.py`).
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

_LARGEST_ROOT = 100


class NoRuleError(TypeError):
    """Something that exact numbers cannot do, such as a function of which no derivative is known here."""


class World(Protocol):
    """The kind of parts that a Number has. modulus: they are taken modulo this after each sum and product."""

    modulus: Any

    def draw(self, seen: float) -> Any:
        """A value at random, for an unknown that is `seen` in floats."""

    def draw_tangent(self) -> Any:
        """A tangent at random."""
        return self.draw(0.0)

    def constant(self, x: float) -> Any:
        """The value of a float that the code holds."""

    def inverse(self, value: Any) -> Any:
        """1/value. Raises: ZeroDivisionError."""

    def function(self, rule: Rule, value: Any) -> Any:
        """The value of the function there."""


def _by_seen(compare: Callable[[float, float], bool]) -> Any:
    return lambda self, other: compare(self.seen, seen_of(other))


class Number:
    """value + tangent · ε.   seen: the float that it stands for, which decides comparisons, and nothing else.

    So a maximum, a ReLU or a mask is decided as the user's own numbers decide it, and what is computed is exact on that
    side of each comparison. −∞ is what is masked: exp makes 0 of it.
    """

    __slots__ = ("seen", "tangent", "value")

    world: ClassVar[World]
    keeps_tangents: ClassVar[bool] = True
    """False in backward, which has no use for them: half the time."""

    def __init__(self, value: Any, tangent: Any, seen: float) -> None:
        self.value, self.tangent, self.seen = value, tangent, seen

    def __add__(self, other: Any) -> Any:
        if type(other) is not Number and (other := as_number(other)) is NotImplemented:
            return other
        if self.seen == -math.inf or other.seen == -math.inf:
            return self if self.seen == -math.inf else other
        modulus = Number.world.modulus
        tangent = (self.tangent + other.tangent) % modulus if Number.keeps_tangents else 0
        return Number((self.value + other.value) % modulus, tangent, self.seen + other.seen)

    def __mul__(self, other: Any) -> Any:
        if type(other) is not Number and (other := as_number(other)) is NotImplemented:
            return other
        modulus, a, b = Number.world.modulus, self.value, other.value
        tangent = (a * other.tangent + self.tangent * b) % modulus if Number.keeps_tangents else 0
        return Number(a * b % modulus, tangent, self.seen * other.seen)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Number:
        return self

    def __sub__(self, other: Any) -> Any:
        return self + -1 * other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __truediv__(self, other: Any) -> Any:
        other = as_number(other)
        return other if other is NotImplemented else self * other.reciprocal()

    def __rtruediv__(self, other: Any) -> Any:
        return self.reciprocal() * other

    def reciprocal(self) -> Number:
        """1/self, with d(1/a) = −da/a²."""
        inverse = Number.world.inverse(self.value)
        tangent = self.tangent * (inverse * inverse * -1) % Number.world.modulus if Number.keeps_tangents else 0
        return Number(inverse, tangent, 1 / self.seen if self.seen else math.inf)

    def __pow__(self, power: Any) -> Any:
        """A power with a known exponent n/d, as a product of n times the root of degree d."""
        if isinstance(power, Number) or not math.isfinite(power):
            raise NoRuleError("a power needs a known exponent: write exp(y · log(x))")
        exact = _exponent(power)
        base = self if exact.denominator == 1 else _root(exact.denominator)(self)
        base = base.reciprocal() if power < 0 else base
        return functools.reduce(Number.__mul__, [base] * abs(exact.numerator), Number(1, 0, 1.0))

    __lt__, __le__ = _by_seen(operator.lt), _by_seen(operator.le)
    __gt__, __ge__ = _by_seen(operator.gt), _by_seen(operator.ge)
    __eq__, __hash__ = _by_seen(operator.eq), None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self.seen)

    def __abs__(self) -> Any:
        return -self if self.seen < 0 else self

    def __float__(self) -> float:
        raise NoRuleError("a number is turned into a float here (by float(), astype or an array of floats)")

    __int__ = __index__ = __complex__ = __float__

    conjugate = __pos__
    real = property(__pos__)

    def __repr__(self) -> str:
        return f"Number({self.seen:g})"

    def __getattr__(self, name: str) -> Any:
        """exp, tanh and all others that RULES has, as methods: NumPy calls them when it meets objects."""
        rule = RULES.get(name)
        if rule is None:
            raise AttributeError(f"an exact number has no {name}")
        return functools.partial(rule, self)


@functools.cache
def _exponent(power: float) -> Fraction:
    exact = Fraction(power).limit_denominator(_LARGEST_ROOT)
    if abs(exact - Fraction(power)) > 1e-15 * abs(exact):
        raise NoRuleError(f"no rule is known for the power {power}")
    return exact


class Rule(NamedTuple):
    """A function by its name in NumPy. of_float: in floats. slope: f′(x), from x and y.

    known: values that are what they are, such as e⁰ = 1. parity: −1 for an odd function, 1 for an even one, 0 for any
    other. degree: of a root, 0 for any other.
    """

    name: str
    of_float: Callable[[float], float]
    slope: Callable[[Number, Number], Any]
    known: Mapping[int, int] = {}
    parity: int = 0
    degree: int = 0

    def __call__(self, x: Number) -> Number:
        """y = f(x), with its tangent."""
        try:
            seen = self.of_float(x.seen)
        except (ValueError, OverflowError, ZeroDivisionError):
            seen = math.nan
        if self.name == "exp" and x.seen == -math.inf:
            value = 0
        elif x.value in self.known:
            value = self.known[x.value]
        else:
            value = Number.world.function(self, x.value)
        y = Number(value, 0, seen)
        if Number.keeps_tangents and x.tangent:
            slope = self.slope(Number(x.value, 0, x.seen), y)
            return Number(value, (slope * Number(x.tangent, 0, 0.0)).value, seen)
        return y


@functools.cache
def _root(degree: int) -> Rule:
    """The root of this degree: y with y^degree = x, so dy = y^(1 − degree)/degree dx."""
    return Rule(
        "sqrt" if degree == 2 else f"root {degree}",
        lambda x: math.pow(x, 1 / degree),
        lambda x, y: y ** (1 - degree) * (1 / degree),
        {0: 0, 1: 1},
        degree=degree,
    )


_ERF_AT_0 = 2 / math.sqrt(math.pi)  # its slope there

RULES: dict[str, Any] = {
    "exp": Rule("exp", lambda x: math.exp(min(x, 700)), lambda x, y: y, {0: 1}),
    "log": Rule("log", math.log, lambda x, y: 1 / x, {1: 0}),
    "sqrt": _root(2),
    "tanh": Rule("tanh", math.tanh, lambda x, y: 1 - y * y, {0: 0}, parity=-1),
    "erf": Rule("erf", math.erf, lambda x, y: _ERF_AT_0 * (-x * x).exp(), {0: 0}, parity=-1),
    "sin": Rule("sin", math.sin, lambda x, y: x.cos(), {0: 0}, parity=-1),
    "cos": Rule("cos", math.cos, lambda x, y: -x.sin(), {0: 1}, parity=1),
    "arctan": Rule("arctan", math.atan, lambda x, y: 1 / (1 + x * x), {0: 0}, parity=-1),
    "expm1": lambda x: x.exp() - 1,
    "log1p": lambda x: (x + 1).log(),
    "log2": lambda x: x.log() / math.log(2),
    "log10": lambda x: x.log() / math.log(10),
    "exp2": lambda x: (x * math.log(2)).exp(),
    "expit": lambda x: 1 / (1 + (-x).exp()),
    "sinh": lambda x: (x.exp() - (-x).exp()) * 0.5,
    "cosh": lambda x: (x.exp() + (-x).exp()) * 0.5,
    "tan": lambda x: x.sin() / x.cos(),
    "cbrt": lambda x: x ** (1 / 3),
    "square": lambda x: x * x,
}
"""The functions that are known, by the names of NumPy and SciPy; the later ones are put together from others."""


def as_number(x: Any) -> Any:
    """A Number for a number; NotImplemented for anything else. A float becomes the constant that it stands for."""
    if type(x) is Number:
        return x
    if isinstance(x, bool | np.bool_ | int | np.integer):
        return Number(int(x) % Number.world.modulus, 0, float(x))
    if isinstance(x, float | np.floating):
        return Number(Number.world.constant(float(x)) if math.isfinite(x) else 0, 0, float(x))
    return NotImplemented


def seen_of(x: Any) -> float:
    """The float that a number stands for."""
    return x.seen if type(x) is Number else float(x)
