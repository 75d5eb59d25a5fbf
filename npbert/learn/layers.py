"""layer_part: a layer is judged by its output and its gradients, and then by the whole check of npbert.gradcheck."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from npbert.catalogue import Setting
from npbert.core import Init, Tape
from npbert.gradcheck.inputs import as_tuple, is_float_array
from npbert.gradcheck.report import ROUNDING
from npbert.learn.attempt import Failure, attempt, file_of, sentence
from npbert.learn.compared import Numbers
from npbert.learn.exercise import Message
from npbert.learn.layers_run import BETWEEN, OTHER, UNTAPED, check_of, given_of, layer_numbers, make
from npbert.learn.numbers import NumbersPart
from npbert.learn.source import Blank

Inputs: TypeAlias = "Callable[[np.random.Generator], tuple[Any, ...]]"
"""What a setting hands to forward, drawn from a generator."""

NOTHING: Mapping[str, str] = MappingProxyType({})
_NEARLY = 1e-8
_ROUNDED = "Is a number in it rounded, or is it a numerical slope, (f(x + h) − f(x − h)) / 2h? Write the formula."
_WHERE = "One thing to know: where all that is given is float32, as it mostly is in training, "
_KEPT = (
    "np.zeros(x.shape) and np.sqrt(2) make float64; np.zeros_like(x) and math.sqrt(2) keep the dtype, and so training "
    "stays as fast as it is."
)


def layer_part(
    settings: Sequence[Setting],
    blank: Blank,
    plain: str = "",
    reasons: Mapping[str, str] = NOTHING,
    *,
    names: Mapping[str, str] = NOTHING,
    **options: Any,
) -> NumbersPart:
    """The part of an exercise that asks for the layer of these settings, which differ in all sizes.

    names: what the learner calls the gradients, by the name of the input or parameter: {"weight": "dW"}. Else they are
    `dx` for an input x, and `the gradient of weight` for a parameter. blank, plain, reasons, options: as of a
    NumbersPart.
    """
    first, y = settings[0], given_of(settings[0])[1:]
    return NumbersPart(
        right=first.layer_class,
        blank=blank,
        numbers=lambda thing, seed: layer_numbers(settings[seed % len(settings)], thing, seed, names),
        plain=plain,
        reasons=reasons,
        prove=lambda thing: prove_layer(settings, thing),
        first=lambda given, right: damaged(f"{y} {UNTAPED}", given, right) or mixed_up(given, right),
        **{"remarks": lambda thing: another_dtype(first, thing), **options},
    )


def sample(layer_class: type[Any], inputs: Inputs, *sizes: float, **options: Any) -> Setting:
    """The setting of a layer that is made of these sizes, and of an `Init` if it has parameters."""
    has_parameters = "init" in inspect.signature(layer_class).parameters
    return Setting(layer_class, lambda cls, init: cls(*sizes, *([init] if has_parameters else []), **options), inputs)


def normal(*shape: int) -> Inputs:
    """Random numbers of this shape: a layer's x."""
    return lambda rng: (rng.standard_normal(shape),)


def permuted(*ids: int) -> Inputs:
    """These ids in a random order."""
    return lambda rng: (rng.permutation(np.array(ids)),)


def prove_layer(settings: Sequence[Setting], layer_class: type[Any]) -> Message | None:
    """The gradient check with all the promises of a layer, for one whose numbers are right."""
    for setting in settings:
        layer, inputs, rng = make(setting, layer_class, 0)
        report = attempt(lambda: check_of(layer)(layer, *inputs, rng=rng), file_of(layer_class))  # noqa: B023
        if isinstance(report, Failure):
            if report.kind == "GradientError":
                return Message(
                    "The numbers are right, but a promise of every layer is broken.", sentence(report.message)
                )
            return report.finding
        worst = max((each.relative_error for each in report.worst.values()), default=0.0)
        if not report.ok and not worst <= ROUNDING:  # less is rounding: right at these numbers, whatever is proved
            if worst < _NEARLY:
                says = f"The gradients are right in about {-np.log10(worst):.0f} digits, and a formula is right in all."
                return Message(says, _ROUNDED)
            return Message("The gradient check does not believe it.", str(report))
    return None


def damaged(name: str, given: Numbers, right: Numbers) -> Message | None:
    """The message where forward, which was finished when the file was made, gives something else now."""
    if np.shape(given[name]) == right[name].shape and np.allclose(given[name], right[name], rtol=1e-9, atol=1e-12):
        return None
    return Message(
        f"forward does not give the right {name.partition(' ')[0]}: it was finished when the file was made.",
        "Something in it, or in what it calls, was changed. Put that right first: backward is compared with the "
        "derivative of the right forward. To see how it was, write the exercises into another folder: "
        "`npbert learn --folder again`; in a notebook, %exercise with its number puts it below.",
    )


def mixed_up(given: Numbers, right: Numbers) -> Message | None:
    """The message where a gradient is right, but not when another forward comes between, or in a later call."""
    for name, wanted in right.items():
        alone = name.removesuffix(f" {BETWEEN}").removesuffix(f" {OTHER}")
        if alone == name or not all(np.shape(given[each]) == wanted.shape for each in (name, alone)):
            continue
        if np.allclose(given[alone], right[alone]) and not np.allclose(given[name], wanted):
            if name.endswith(OTHER):
                return Message(
                    f"{alone} is right in the first call, but not in a later one, with other inputs.",
                    "Something of an earlier call is used again: what is kept on self, in a global or in a default "
                    "argument is still that of the call before. What forward keeps goes on the tape.",
                )
            return Message(
                f"{alone} is right after one forward, but not when another forward comes between it and its backward.",
                "A layer may be called several times before the first backward. So what forward keeps goes on the "
                "tape; on self, or in a global, the next call overwrites it.",
            )
    return None


def another_dtype(setting: Setting, layer_class: type[Any]) -> str:
    """A remark on a layer whose gradients are float64 though everything it is given is float32."""
    layer = setting.build(layer_class, Init(np.random.default_rng(0), 1.0, np.float32))
    given = setting.inputs(np.random.default_rng(0))
    inputs = [value.astype(np.float32) if is_float_array(value) else value for value in given]
    tape = Tape(np.random.default_rng(0))

    def gradients() -> Any:
        y = layer(*inputs, tape=tape)
        return layer.backward(np.ones_like(y) if np.ndim(y) else 1.0, tape)

    found = attempt(gradients, file_of(layer_class))
    if isinstance(found, Failure):
        is_told = found.kind == "TypeError" and "float64" in found.message
        where = f"line {found.line}" if found.line else "it"
        return f"{_WHERE}{where} stops: {found.message}. {_KEPT}" if is_told else ""
    wide = [part for part in as_tuple(found) if np.asarray(part).dtype == np.float64] if found is not None else []
    return f"{_WHERE}backward returns float64. {_KEPT}" if wide else ""
