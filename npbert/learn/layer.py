"""layer_part: the Part of a layer, tested by the gradient check's call, promises and proof."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.core import Tape
from npbert.gradcheck import (
    Call,
    GradientError,
    PromiseError,
    ScalarFunction,
    WrongShapeError,
    check_gradients,
    promised_gradients,
)
from npbert.gradcheck.explain import VARIATIONS, in_manner
from npbert.learn.attempt import Failure, attempt, file_of, sentence
from npbert.learn.exercise import Numbers, Part
from npbert.learn.verdict import Verdict

Inputs = Callable[[np.random.Generator], tuple[Any, ...]]
"""The inputs of a setting, drawn from a generator."""

NOTHING: Mapping[str, Any] = MappingProxyType({})
_ROUNDING = 1e-12
_ROUNDED = (
    "If they agree in many digits, a number may be rounded, or it is a numerical slope, (f(x + h) − f(x − h)) "
    "/ 2h. Write the exact formula."
)
_WIDE = (
    "Note: with float32 inputs, as in training, {}. np.zeros(x.shape) and np.sqrt(2) make float64. "
    "np.zeros_like(x) and math.sqrt(2) keep the dtype, and the speed of training."
)


def layer_part(
    *settings: Setting,
    names: Mapping[str, str] = NOTHING,
    drops: bool = False,
    method: str = "backward",
    returns: Mapping[str, int] = NOTHING,
    **data: Any,
) -> Part:
    """Return the Part for the layer of these settings, which differ in all sizes.

    names: the learner's names of the gradients, by input or parameter: {"weight": "dW"}; by default `dx` for an input
    x, and `the gradient of weight` for a parameter.
    drops: the layer has dropout, and also runs without it.   returns: as for `returning`.   data: as for a Part.
    """
    y = list(inspect.signature(settings[0].layer_class.backward).parameters)[1].removeprefix("d")

    def run(thing: Any, seed: int) -> Iterator[Numbers]:
        checked = returning(thing, method, returns) if returns else thing
        return run_layer(settings[seed % len(settings)], checked, seed, names, y)

    return Part(
        right=settings[0].layer_class,
        method=method,
        run=run,
        seeds=range(2 * (len(VARIATIONS) + drops)),
        fixed=(y,) if "backward" in method else (),
        **{"given": None, "prove": partial(prove, settings), "remarks": partial(another_dtype, settings[0]), **data},
    )


def sample(layer_class: type[Any], inputs: Inputs, *sizes: float, **options: Any) -> Setting:
    """Return the setting of a layer constructed with these sizes, and an `Init` if it has parameters."""
    has_parameters = "init" in inspect.signature(layer_class).parameters
    return Setting(layer_class, lambda cls, init: cls(*sizes, *([init] if has_parameters else []), **options), inputs)


def normal(*shape: int) -> Inputs:
    """Return a function for random numbers of this shape: a layer's x."""
    return lambda rng: (rng.standard_normal(shape),)


def permuted(*ids: int) -> Inputs:
    """Return a function for these ids in a random order."""
    return lambda rng: (rng.permutation(np.array(ids)),)


_MADE: dict[Any, ScalarFunction] = {}


def _made(setting: Setting, layer_class: type[Any], seed: int) -> ScalarFunction:
    """Return the layer with its inputs, in the variation of the seed."""
    layer, inputs, rng = setting.make(layer_class, seed=seed)
    is_float = [getattr(value, "dtype", None) == np.float64 for value in inputs]
    inputs = tuple(in_manner(x, seed // 2) if moves else x for x, moves in zip(inputs, is_float, strict=True))
    return ScalarFunction(layer, inputs, rng if seed // 2 < len(VARIATIONS) else None, seed)


def run_layer(setting: Setting, layer_class: Any, seed: int, names: Mapping[str, str], y: str) -> Iterator[Numbers]:
    """Return y, by this name, and the gradients of one call, and test the promises of a layer once for each setting.

    Raises: errors of the learner's code; PromiseError, or GradientError for a promise that the gradients need.
    """
    written = [each for each in layer_class.__mro__ if each.__name__ == layer_class.__name__][-1]  # copies have more
    key = setting, written, seed  # made once for all copies of a class
    function = _MADE[key] = _MADE.get(key) or _made(setting, layer_class, seed)
    function.layer.__class__ = layer_class
    shown = {name: names.get(name, f"the gradient of {name}") for name in function.parameters}
    shown |= {name: names.get(name, f"d{name}") for name in function.float_inputs}
    is_promised = seed < 2
    with function.unchanged():
        call = Call(function)
        given = np.copy(call.y)
        try:
            found = call.backward()
        except WrongShapeError as error:
            found = {name: parameter.grad.copy() for name, parameter in function.parameters.items()}
            found |= {error.name: error.gradient}
            is_promised = False
        yield {y: given} | {shown[name]: gradient for name, gradient in found.items()}
    if is_promised:
        try:
            promised_gradients(function)
        except GradientError as error:
            error.args = (_renamed(str(error), shown),)
            if isinstance(error, PromiseError):
                error.subjects = tuple(_renamed(each, shown) for each in error.subjects)
            raise


def _renamed(text: str, shown: Mapping[str, str]) -> str:
    """Return a sentence of the check with the learner's names of the gradients."""
    for name, own in shown.items():
        text = text.replace(f"the gradient of {name} ", f"{own} ")
    return text


def prove(settings: Sequence[Setting], layer_class: type[Any]) -> Verdict | None:
    """Run the whole check, for a layer with right numbers."""
    for setting in settings:
        layer, inputs, rng = setting.make(layer_class)
        report = attempt(partial(check_gradients, layer, *inputs, rng=rng), file_of(layer_class))
        if isinstance(report, Failure):
            return broken_promise(report) if report.is_of_check else report.verdict
        worst = max((each.relative_error for each in report.worst.values()), default=0.0)
        if not report.ok and not worst <= _ROUNDING:  # less is rounding, and right at these numbers
            numbers = "\n".join(map(str, report.worst.values()))
            return Verdict("The gradient check rejects it.", f"{numbers}\n\n{_ROUNDED}")
    return None


def broken_promise(failure: Failure) -> Verdict:
    """Return the verdict on right numbers with a broken promise."""
    return Verdict("The numbers are right, but it breaks a promise of every layer.", sentence(failure.message))


def another_dtype(setting: Setting, layer_class: type[Any]) -> str:
    """Return a remark on a layer with float64 gradients for float32 inputs."""
    layer, inputs, rng = setting.make(layer_class, dtype=np.float32)

    def gradients() -> Any:
        tape = Tape(rng)
        y = layer(*inputs, tape=tape)
        return layer.backward(np.ones_like(y) if np.ndim(y) else 1.0, tape)

    found = attempt(gradients, file_of(layer_class))
    if isinstance(found, Failure):
        return _WIDE.format(f"line {found.line} stops: {found.message}") if "float64" in found.message else ""
    is_wide = any(
        getattr(part, "dtype", None) == np.float64 for part in (found if isinstance(found, tuple) else (found,))
    )
    return _WIDE.format("backward returns float64") if is_wide else ""


def returning(cls: type[Any], method: str, like: Mapping[str, int]) -> type[Any]:
    """Return the class with a method that raises an error unless it returns these arrays.

    like: for each array, the index of the argument with its shape, self being 0.
    """

    def looked_at(*arguments: Any, **options: Any) -> Any:
        found = getattr(cls, method)(*arguments, **options)
        if not isinstance(found, tuple | list) or len(found) != len(like):
            raise GradientError(f"{method} does not return {len(like)} arrays, wanted return {', '.join(like)}")
        for (name, number), part in zip(like.items(), found, strict=True):
            wanted = arguments[number].shape
            if np.shape(part) != wanted:
                raise GradientError(f"the {name} of {method} has shape {np.shape(part)}, wanted {wanted}")
        return tuple(found)

    return type(cls.__name__, (cls,), {method: looked_at, "__module__": "checked"})
