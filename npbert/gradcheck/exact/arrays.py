"""Arrays of Numbers, on which a layer's code runs unchanged.

NumPy computes with objects almost as with floats. The rest is here.
"""

from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.exact.number import Number, as_number, product, seen_of
from npbert.gradcheck.exact.rules import RULES, exact_version
from npbert.gradcheck.inputs import Function, is_float_array, mapped

_STEP_FUNCTIONS = {"sign", "floor", "ceil", "rint", "trunc", "heaviside"}


class Held(np.ndarray):
    """An array with the methods for a tensor's way to NumPy: x.detach().cpu().numpy(), x.data."""

    requires_grad = True

    def numpy(self) -> Any:
        """Return itself."""
        return self

    detach = cpu = numpy
    data = property(numpy)


class Numbers(Held):
    """An array of Numbers, or of NumPy's results from them."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        inputs, options = tuple(map(_plain, inputs)), without_double(options)
        if out:
            options["out"] = tuple(map(_plain, out))
        if _decides(ufunc):
            decided = getattr(ufunc, method)(*map(seen, inputs), **options)
            return constants_like(decided) if is_float_array(decided) else decided
        if method == "reduce" and "where" in options:
            options.setdefault("initial", ufunc.identity)  # for objects it has no default
        function = _matrix_product if ufunc is np.matmul else getattr(_on_objects(ufunc), method)
        result = function(*inputs, **options)
        return out[0] if out else as_numbers(result)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in _FUNCTIONS:
            return _FUNCTIONS[function](*args, **kwargs)
        return as_numbers(super().__array_function__(function, types, args, without_double(kwargs)))

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        """Return a copy; as float64, the same exact numbers. Whole numbers and truth values come from comparisons."""
        if is_double(dtype):
            return self.copy()
        if np.dtype(dtype).kind in "biu":
            return seen(self).astype(dtype)
        return super().astype(dtype, *args, **kwargs)


def as_numbers(result: Any) -> Any:
    """Return arrays of objects as Numbers, also in a tuple or list."""
    return mapped(_as_numbers, result)


def _as_numbers(x: Any) -> Any:
    return x.view(Numbers) if type(x) is np.ndarray and x.dtype == object else x


def is_double(dtype: Any) -> bool:
    """True for float64, by any of its names, or None."""
    return np.dtype(dtype) == np.float64


def without_double(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options without `dtype=float64`, the dtype of exact numbers."""
    return {key: value for key, value in options.items() if key != "dtype" or not is_double(value)}


def seen(x: Any) -> Array:
    """Return the floats of exact numbers."""
    return np.asarray(_seen(x), float)


_seen = np.frompyfunc(seen_of, 1, 1)


def _plain(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, Numbers) else x


def _decides(ufunc: Any) -> bool:
    """True for what depends only on floats: steps, and the truth values of np.isnan, np.logical_or and others."""
    if ufunc.__name__ in _STEP_FUNCTIONS:
        return True
    return "OO->?" not in ufunc.types and any(kinds.endswith("d->?") for kinds in ufunc.types)


def _on_objects(ufunc: Any) -> Any:
    """Return a function of NumPy or SciPy for objects. Raises: TypeError without a rule."""
    if ufunc.__name__ in RULES:
        return np.frompyfunc(exact_version(ufunc.__name__, ufunc), ufunc.nin, 1)
    if not any("O" in kinds for kinds in ufunc.types) and ufunc.__name__ not in ("real", "imag"):  # NumPy 2.5
        raise TypeError(f"np.{ufunc.__name__} has no exact rule")
    return ufunc


class Components(NamedTuple):
    """The parts of Numbers, in four arrays: see `Number`."""

    value: Any
    tangent: Any
    seen: Array
    error: Array


def components_of(array: Any) -> Components:
    """Return the parts of an array of Numbers, or of numbers that become constants."""
    parts = zip(_split(array), (object, object, float, float), strict=True)
    return Components(*(np.asarray(part, dtype) for part, dtype in parts))


def _split_number(x: Any) -> tuple[Any, Any, float, float]:
    number = as_number(x)
    if type(number) is not Number:
        raise TypeError(f"a matrix product with {number} has no exact rule")
    return number.value, number.tangent, number.seen, number.error


_split = np.frompyfunc(_split_number, 1, 4)
_joined = np.frompyfunc(Number, 4, 1)


def _matrix_product(a: Array, b: Array, out: Any = None) -> Any:
    """Return a b, computed as products of integer arrays in a tenth of the time."""
    return _joined(*product(components_of(a), components_of(b), np.matmul, a.shape[-1]), out=out)


def of_each(function: Function, array: Array) -> Any:
    """Return the array of objects f(x), for each x of an array without Numbers."""
    return np.asarray(np.frompyfunc(function, 1, 1)(array), object)


def unknowns_like(array: Array) -> Any:
    """Return random Numbers for the floats of the array, each with a random tangent."""
    return as_numbers(of_each(Number.world.unknown, array))


def constants_like(array: Array) -> Any:
    """Return constant Numbers for the floats of the array."""
    return as_numbers(of_each(as_number, array))


def _inverse_and_determinant(a: Array) -> tuple[Any, Any]:
    """(a⁻¹, det a), by products alone: N₁ = 1, tₖ = tr(a Nₖ) / k, Nₖ₊₁ = tₖ − a Nₖ; the last t is det a, and the last N
    is a⁻¹ det a. (Faddeev–LeVerrier: Gantmacher 1959, chapter IV, section 5.)"""
    one = np.eye(a.shape[-1])
    product, trace = 0 * one, one[:1, :1]
    for k in range(1, len(one) + 1):
        adjugate = trace * one - product
        product = a @ adjugate
        trace = (product * one).sum(axis=(-2, -1), keepdims=True) / k
    return adjugate / trace, trace[..., 0, 0]


def _log_determinant(a: Array) -> tuple[Any, Any]:
    _, determinant = _inverse_and_determinant(a)
    return np.sign(determinant), np.log(np.abs(determinant))


_FUNCTIONS: dict[Any, Function] = {
    np.linalg.inv: lambda a: _inverse_and_determinant(a)[0],
    np.linalg.solve: lambda a, b: _inverse_and_determinant(a)[0] @ b,
    np.linalg.det: lambda a: _inverse_and_determinant(a)[1],
    np.linalg.slogdet: _log_determinant,
}
"""Linear algebra of matrices and stacks of them, by sums, products and quotients, which carry the derivatives."""
