"""Number: a + bε with ε² = 0, of which the parts are exact. Arithmetic on it carries a derivative along.

(a + bε)(c + dε) = ac + (ad + bc)ε is the product rule, and f(a + bε) = f(a) + f′(a) b ε the chain rule. So whoever
computes y from x + ẋε gets y + ẏε, where ẏ says how fast y moves when x moves in the direction ẋ: the derivative comes
out beside the value. (Dual numbers: Clifford 1873; as forward differentiation Wengert 1964.)

What a and b are is the matter of a world: a finite field, in which = is an equality of integers (`field.py`), 50 digits
(`digits.py`), or only the degree of a polynomial (`degree.py`).
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from npbert.gradcheck.exact.constants import simplest

_LARGEST_ROOT = 100


class NoRuleError(TypeError):
    """Something that exact numbers cannot do, such as a function of which no derivative is known here."""


class World(Protocol):
    """What the parts of a Number are."""

    modulus: Any
    """Parts are taken modulo this after each sum and product."""

    def draw(self, seen: float) -> Any:
        """A value at random, for an unknown that is `seen` in floats."""

    def draw_tangent(self) -> Any:
        """A tangent at random."""

    def constant(self, x: float) -> Any:
        """The value of a float that the code holds."""

    def inverse(self, value: Any) -> Any:
        """1/value. Raises: ZeroDivisionError."""

    def function(self, name: str, x: Number) -> Any:
        """The value of the function of this name."""


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
        other = as_number(other)
        return other if other is NotImplemented else self + -other

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
        tangent = -self.tangent * inverse * inverse % Number.world.modulus if Number.keeps_tangents else 0
        return Number(inverse, tangent, 1 / self.seen if self.seen else math.inf)

    def __pow__(self, power: Any) -> Any:
        """A power with a known exponent n/d, as a product of n times the root of degree d."""
        if isinstance(power, Number) or not math.isfinite(power):
            raise NoRuleError("a power needs a known exponent: write exp(y · log(x))")
        exact = simplest(Fraction(abs(power)), 2**40, 1e-15)
        if exact is None or exact.denominator > _LARGEST_ROOT:
            raise NoRuleError(f"no rule is known for the power {power}")
        base = self.root(exact.denominator)
        base = base.reciprocal() if power < 0 else base
        return functools.reduce(Number.__mul__, [base] * exact.numerator, Number(1, 0, 1.0))

    def root(self, degree: int) -> Any:
        """The root of this degree: y with y^degree = x, so dy = y^(1 − degree)/degree dx."""
        if degree == 1:
            return self
        if degree == 2:
            return self.sqrt()
        return self._apply(f"root {degree}", lambda a: a ** (1 / degree), lambda y: y ** (1 - degree) / degree)

    def _apply(self, name: str, of_float: Callable[[float], float], slope: Callable[[Number], Any]) -> Number:
        """The function of this name. slope: of y = f(x) as a Number without a tangent."""
        try:
            seen = of_float(self.seen)
        except (ValueError, OverflowError, ZeroDivisionError):
            seen = math.nan
        y = Number(Number.world.function(name, self), 0, seen)
        if Number.keeps_tangents and self.tangent:
            tangent = (slope(y) * Number(self.tangent, 0, 0.0)).value
            return Number(y.value, tangent, seen)
        return y

    def __lt__(self, other: Any) -> bool:
        return self.seen < seen_of(other)

    def __le__(self, other: Any) -> bool:
        return self.seen <= seen_of(other)

    def __gt__(self, other: Any) -> bool:
        return self.seen > seen_of(other)

    def __ge__(self, other: Any) -> bool:
        return self.seen >= seen_of(other)

    def __eq__(self, other: object) -> bool:
        return bool(self.seen == seen_of(other))

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self.seen)

    def __abs__(self) -> Any:
        return -self if self.seen < 0 else self

    def __float__(self) -> float:
        raise NoRuleError("a number is turned into a float here (by float(), astype or an array of floats)")

    __int__ = __index__ = __complex__ = __float__

    def conjugate(self) -> Number:
        """Itself: it is real."""
        return self

    @property
    def real(self) -> Number:
        """Itself: it is real."""
        return self

    def __repr__(self) -> str:
        return f"Number({self.seen:g})"

    def __getattr__(self, name: str) -> Any:
        """exp, tanh and all others that RULES has, as methods: NumPy calls them when it meets objects."""
        rule = RULES.get(name)
        if rule is None:
            raise AttributeError(f"an exact number has no {name}")
        return functools.partial(rule.apply, self)


class Rule(NamedTuple):
    """A function by its name in NumPy. of_float: in floats. slope: f′(x), from x and y = f(x)."""

    name: str
    of_float: Callable[[float], float]
    slope: Callable[[Number, Number], Any]

    def apply(self, x: Number) -> Number:
        """y = f(x) with its tangent."""
        plain = Number(x.value, 0, x.seen)
        return x._apply(self.name, self.of_float, lambda y: self.slope(plain, y))


class _Composed(NamedTuple):
    """A function that is put together from others."""

    apply: Callable[[Number], Any]


RULES: dict[str, Rule | _Composed] = {
    rule.name: rule
    for rule in (
        Rule("exp", lambda x: math.exp(min(x, 700)), lambda x, y: y),
        Rule("log", math.log, lambda x, y: 1 / x),
        Rule("sqrt", math.sqrt, lambda x, y: 0.5 / y),
        Rule("tanh", math.tanh, lambda x, y: 1 - y * y),
        Rule("erf", math.erf, lambda x, y: 2 / math.sqrt(math.pi) * (-x * x).exp()),
        Rule("sin", math.sin, lambda x, y: x.cos()),
        Rule("cos", math.cos, lambda x, y: -x.sin()),
        Rule("arctan", math.atan, lambda x, y: 1 / (1 + x * x)),
    )
} | {
    "expm1": _Composed(lambda x: x.exp() - 1),
    "log1p": _Composed(lambda x: (x + 1).log()),
    "log2": _Composed(lambda x: x.log() / math.log(2)),
    "log10": _Composed(lambda x: x.log() / math.log(10)),
    "exp2": _Composed(lambda x: (x * math.log(2)).exp()),
    "expit": _Composed(lambda x: 1 / (1 + (-x).exp())),
    "sinh": _Composed(lambda x: (x.exp() - (-x).exp()) * 0.5),
    "cosh": _Composed(lambda x: (x.exp() + (-x).exp()) * 0.5),
    "tan": _Composed(lambda x: x.sin() / x.cos()),
    "cbrt": _Composed(lambda x: x ** (1 / 3)),
    "square": _Composed(lambda x: x * x),
}
"""The functions that are known, by the names of NumPy and SciPy."""

_ODD = {"tanh", "erf", "sin", "arctan"}
_EVEN = {"cos"}
_AT_0_OR_1 = {("exp", 0): 1, ("log", 1): 0, ("sqrt", 0): 0, ("sqrt", 1): 1, ("cos", 0): 1}


def known_value(name: str, value: Any) -> Any:
    """f(value), where it is known for sure: an odd function is 0 at 0, e⁰ = 1, and so on; else None."""
    return 0 if name in _ODD and value == 0 else _AT_0_OR_1.get((name, value)) if value in (0, 1) else None


def parity(name: str) -> int:
    """−1 for an odd function, 1 for an even one, 0 for any other."""
    return -1 if name in _ODD else int(name in _EVEN)


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


_one_at_a_time = threading.RLock()


@contextmanager
def inhabited(world: World) -> Iterator[None]:
    """While it lasts, Numbers are of this world. Other threads wait for their turn."""
    with _one_at_a_time:
        before, keeps = getattr(Number, "world", None), Number.keeps_tangents
        Number.world, Number.keeps_tangents = world, True
        try:
            yield
        finally:
            Number.keeps_tangents = keeps
            if before is not None:
                Number.world = before
