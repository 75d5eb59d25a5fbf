"""Degree: how large the polynomial is that a random point of the field might hit a zero of.

Each value is a fraction N / (q₁^k₁ q₂^k₂ …), where the q are what was divided by. Here all that is kept of a value is
a bound on the degree of N, with each q and its exponent: a sum brings both terms to the common denominator, a product
adds degrees and exponents. Unknowns, tangents and the values of functions have degree 1, constants 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from npbert.gradcheck.exact.field import P
from npbert.gradcheck.exact.number import Number, inhabited
from npbert.gradcheck.exact.run import inner, run_on_numbers
from npbert.gradcheck.inputs import read_only


class Degree:
    """At most `of` is the degree of N; `divisors` are the exponents of the q, each of which is a Degree without any."""

    __slots__ = ("divisors", "of")

    def __init__(self, of: int, divisors: Mapping[Degree, int] | None = None) -> None:
        self.of, self.divisors = of, divisors or {}

    def __add__(self, other: Any) -> Degree:
        if not isinstance(other, Degree):
            return self + _CONSTANT if other else self
        if self.divisors == other.divisors:
            return Degree(max(self.of, other.of), self.divisors)
        common = {
            q: max(self.divisors.get(q, 0), other.divisors.get(q, 0)) for q in {**self.divisors, **other.divisors}
        }
        whole = sum(q.of * exponent for q, exponent in common.items())
        return Degree(max(whole + self.excess, whole + other.excess), common)

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Degree):
            return self if other else 0
        divisors = dict(self.divisors)
        for q, exponent in other.divisors.items():
            divisors[q] = divisors.get(q, 0) + exponent
        return Degree(self.of + other.of, divisors)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Degree:
        return self

    __sub__ = __rsub__ = __add__

    def __mod__(self, modulus: Any) -> Degree:
        return self

    @property
    def excess(self) -> int:
        """The degree of N less that of the denominator."""
        return self.of - sum(q.of * exponent for q, exponent in self.divisors.items())


_CONSTANT = Degree(0)


class Degrees:
    """The world of degrees. What is divided by twice is one q, if it is one value."""

    modulus = P

    def __init__(self) -> None:
        self._inverses: dict[Any, Degree] = {}
        self._roots: dict[Any, tuple[Degree, int]] = {}

    def draw(self, seen: float) -> Degree:
        """An unknown."""
        return Degree(1)

    draw_tangent = staticmethod(lambda: Degree(1))

    def constant(self, x: float) -> Any:
        """A constant; 0 stays 0, which is a factor of nothing."""
        return _CONSTANT if x else 0

    def inverse(self, value: Any) -> Degree:
        """1/(N/M) = M/N; and s⁻², where s = √value was taken."""
        if value in self._roots:
            root, degree = self._roots[value]
            return Degree(0, {root: degree})
        if value not in self._inverses:
            whole = _as_degree(value)
            q = Degree(whole.of) if whole.divisors else whole
            self._inverses[value] = Degree(whole.of - whole.excess, {q: 1})
        return self._inverses[value]

    def function(self, name: str, x: Number) -> Any:
        """A new indeterminate; 0 for e^−∞."""
        if name == "exp" and x.seen == -np.inf:
            return 0
        value = Degree(1)
        if name == "sqrt" or name.startswith("root"):
            self._roots[x.value] = value, 2 if name == "sqrt" else int(name.removeprefix("root "))
        return value


def _as_degree(value: Any) -> Degree:
    return value if isinstance(value, Degree) else _CONSTANT


def degree_of(layer: Any, *inputs: Any, rng: np.random.Generator | None = None) -> int:
    """A bound on the degree of the polynomial that the proof of this layer says is 0: see `prove.py`.

    Each function is a new indeterminate here. Laws between them, such as e^(−a) = 1/e^a, are not counted; no layer of
    npbert needs one but √a · √a = a.
    """
    given = tuple(map(read_only, inputs))
    with np.errstate(all="ignore"), inhabited(Degrees()):
        run = run_on_numbers(layer, given, rng, np.random.default_rng(0))
        total = run.growth - sum(inner(run.gradients[name], tangents) for name, tangents in run.tangents.items())
    return _as_degree(total).of
