"""RULES: the functions of exact numbers, each by its derivative or as a combination of others."""

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from npbert.gradcheck.exact.number import NonFinite, Number, as_number, seen_of
from npbert.gradcheck.inputs import Function

HALF_EPSILON = 2.0**-53
_ULPS = 8.0  # the error of NumPy's and the C library's functions, in halves of an epsilon


class Rule(NamedTuple):
    """A function by its derivative.

    slope: f′(x), from x and y. parity: −1 for an odd function, 1 for an even one, 0 otherwise. degree: of a root, 0
    otherwise.
    """

    name: str
    slope: Function
    parity: int = 0
    degree: int = 0

    def __call__(self, x: Number) -> Any:
        """Return y = f(x) with its tangent; NaN without a slope. `_applied` sets its `seen`."""
        world = Number.world
        y = Number(world.function(self, x), 0, 0.0)
        if world.is_forward and x.tangent:
            slope = self.slope(Number(x.value, 0, x.seen), y)
            if type(slope) is not Number:
                return math.nan
            y.tangent = slope.value * x.tangent % world.modulus
        return y


def _root(degree: int) -> Rule:
    """Return the rule of this root: y with y^degree = x, so dy = y^(1 − degree)/degree dx."""
    return Rule(f"root {degree}", lambda x, y: y ** (1 - degree) * (1 / degree), degree=degree)


_EXP = Rule("exp", lambda x, y: y)
_LOG = Rule("log", lambda x, y: 1 / x)
_SQRT = _root(2)
_ERF = Rule("erf", lambda x, y: 2 / math.sqrt(math.pi) * _EXP(-x * x), parity=-1)
_SIN: Rule = Rule("sin", lambda x, y: _COS(x), parity=-1)
_COS: Rule = Rule("cos", lambda x, y: -_SIN(x), parity=1)
_ARCSIN = Rule("arcsin", lambda x, y: 1 / _SQRT(1 - x * x), parity=-1)
_ARCTAN = Rule("arctan", lambda x, y: 1 / (1 + x * x), parity=-1)

_EXACT = {
    "exp": _EXP,
    "log": _LOG,
    "sqrt": _SQRT,
    "cbrt": _root(3),
    "erf": _ERF,
    "sin": _SIN,
    "cos": _COS,
    "arcsin": _ARCSIN,
    "arctan": _ARCTAN,
    "arcsinh": lambda x: _LOG(x + _SQRT(x * x + 1)),
    "arccosh": lambda x: _LOG(x + _SQRT(x * x - 1)),
    "arccos": lambda x: math.pi / 2 - _ARCSIN(x),
    "arctanh": lambda x: _LOG((1 + x) / (1 - x)) / 2,
    "arctan2": lambda y, x: _ARCTAN(y / x) + (0 if x.seen > 0 else math.copysign(math.pi, y.seen)),
    "tanh": lambda x: 1 - 2 / (_EXP(x + x) + 1),
    "sinh": lambda x: (_EXP(x) - _EXP(-x)) / 2,
    "cosh": lambda x: (_EXP(x) + _EXP(-x)) / 2,
    "tan": lambda x: _SIN(x) / _COS(x),
    "expm1": lambda x: _EXP(x) - 1,
    "log1p": lambda x: _LOG(x + 1),
    "exp2": lambda x: _EXP(x * math.log(2)),
    "log2": lambda x: _LOG(x) / math.log(2),
    "log10": lambda x: _LOG(x) / math.log(10),
    "logaddexp": lambda x, y: _LOG(_EXP(x) + _EXP(y)),
    "hypot": lambda x, y: _SQRT(x * x + y * y),
    "expit": lambda x: 1 / (1 + _EXP(-x)),
    "log_expit": lambda x: -_LOG(1 + _EXP(-x)),
    "erfc": lambda x: 1 - _ERF(x),
    "xlogy": lambda x, y: x * _LOG(y) if y.seen else 0 * x,
}
"""The rules by the names of NumPy and SciPy."""


def _applied(exact: Any, of_floats: Any, *given: Any) -> Any:
    """Return f(x), with the float of f at the float of x, and the error from rounding x."""
    xs = [as_number(x) for x in given]
    seens = [seen_of(x) for x in given]
    seen = float(of_floats(*seens))
    if not math.isfinite(seen) or any(type(x) is not Number for x in xs):
        return as_number(seen)
    y = as_number(exact(*xs))
    if type(y) is not Number:
        return y
    y.seen, y.error = seen, _ULPS * abs(seen)
    for position, x in enumerate(xs):
        rounded = list(seens)
        rounded[position] += (x.error + 2 * abs(x.seen)) * HALF_EPSILON
        y.error += abs(float(of_floats(*rounded)) - seen) / HALF_EPSILON
    return y


def exact_version(name: str, function: Any) -> Function:
    """Return the function of this name, of NumPy, SciPy or `math`, for exact numbers."""
    return functools.partial(_applied, _EXACT[name], function)


def _root_of(x: Any, degree: int) -> Any:
    """Return x^(1/degree)."""
    return _applied(_root(degree), lambda seen: np.power(seen, 1 / degree), x)


_IN_FLOATS = vars(math) | vars(np)

RULES = {name: exact_version(name, _IN_FLOATS.get(name)) for name in _EXACT}
"""The functions of exact numbers, by the names of NumPy. (SciPy's own need theirs in floats.)"""

MATH = {name.replace("arc", "a"): rule for name, rule in RULES.items()}
"""The same functions by the names of `math`."""

for _name, _rule in {**RULES, "root": _root_of}.items():  # methods, as NumPy calls them on objects
    for _kind in (Number, NonFinite):
        setattr(_kind, _name, functools.partialmethod(_rule))
