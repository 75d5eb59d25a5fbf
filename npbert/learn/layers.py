"""layer_part: a layer is judged by its output and its gradients, and then by the whole check of npbert.gradcheck."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.core import Init, Tape, named_parameters, named_parts
from npbert.gradcheck import GradientError, check_directions, check_gradients, randomize
from npbert.gradcheck.inputs import as_tuple, copy_of, different, is_float_array, read_only
from npbert.layers import Dropout
from npbert.learn.attempt import Failure, attempt, sentence
from npbert.learn.exercise import Finding, Mistake
from npbert.learn.numbers import Numbers, NumbersPart, Recognise

ADDED = "after two backwards"
BETWEEN = "when another call comes between"
MANY = 100
"""Parameters that are so many that they are not checked one by one."""
RESTING = "when nothing is dropped"


def layer_part(
    setting: Setting,
    mistakes: list[Mistake],
    *,
    names: dict[str, str] | None = None,
    recognise: Recognise | None = None,
) -> NumbersPart:
    """The part of an exercise that asks for the layer of this setting.

    names: what the learner calls the gradients, by the name of the input or parameter: {"weight": "dW"}. Else they are
    `dx` for an input x, and `the gradient of weight` for a parameter. recognise: as of a NumbersPart.
    """
    return NumbersPart(
        name=setting.layer_class.__name__,
        right=setting.layer_class,
        numbers=lambda thing, seed: layer_numbers(setting, thing, seed, names or {}),
        mistakes=mistakes,
        prove=lambda thing: prove_layer(setting, thing),
        explain=lambda thing: explain_layer(setting, thing, names or {}),
        recognise=recognise,
    )


def make(setting: Setting, layer_class: type[Any], seed: int) -> tuple[Any, tuple[Any, ...], np.random.Generator]:
    """As setting.make, at another random point for each seed."""
    layer = setting.build(layer_class, Init(np.random.default_rng([seed, 0]), 1.0, np.float64))
    randomize(layer, np.random.default_rng([seed, 1]))
    return layer, setting.inputs(np.random.default_rng([seed, 2])), np.random.default_rng([seed, 3])


def layer_numbers(setting: Setting, layer_class: type[Any], seed: int, names: dict[str, str]) -> Numbers:
    """y and all gradients of one call; and again when another call comes between its forward and its backward."""
    layer, inputs, rng = make(setting, layer_class, seed)
    frozen = tuple(map(read_only, inputs))
    others = tuple(read_only(different(value)) for value in inputs)
    drawn = np.random.default_rng([seed, 4])

    tape = Tape(copy_of(rng))
    y = layer.forward(*frozen, tape=tape)
    dy = tuple(read_only(drawn.standard_normal(np.shape(part))) for part in as_tuple(y))
    numbers: Numbers = {"y": np.copy(as_tuple(y)[0])}
    called = _input_names(layer, inputs, names)
    numbers.update(zip(called, _backward(layer, y, dy, tape, called), strict=True))
    parameters = {names.get(name, f"the gradient of {name}"): part for name, part in named_parameters(layer)}
    numbers.update({name: part.grad.copy() for name, part in parameters.items()})

    layer.zero_grad()
    tape, other_tape = Tape(copy_of(rng)), Tape(np.random.default_rng(seed))
    layer.forward(*frozen, tape=tape)
    other_y = layer.forward(*others, tape=other_tape)
    again = _backward(layer, y, dy, tape, called)
    other_dy = tuple(read_only(drawn.standard_normal(part.shape)) for part in dy)
    numbers.update({f"{name} {BETWEEN}": dx for name, dx in zip(called, again, strict=True)})
    _backward(layer, other_y, other_dy, other_tape, called)
    numbers.update({f"{name} {ADDED}": part.grad.copy() for name, part in parameters.items()})

    if setting.layer_class is Dropout or any(isinstance(part, Dropout) for _, part in named_parts(layer)):
        tape = Tape()
        layer.forward(*frozen, tape=tape)
        resting = _backward(layer, y, dy, tape, called)
        numbers.update({f"{name} {RESTING}": dx for name, dx in zip(called, resting, strict=True)})
    return numbers


def _input_names(layer: Any, inputs: tuple[Any, ...], names: dict[str, str]) -> list[str]:
    variables = type(layer).forward.__code__.co_varnames[1 : 1 + len(inputs)]
    floats = [name for name, value in zip(variables, inputs, strict=True) if is_float_array(value)]
    return [names.get(name, f"d{name}") for name in floats]


def _backward(layer: Any, y: Any, dy: tuple[Any, ...], tape: Tape, called: list[str]) -> list[Any]:
    """Copies of what backward returns. Raises: GradientError where it is not a gradient for each input."""
    dx = layer.backward(dy if isinstance(y, tuple) else dy[0], tape)
    found = () if dx is None else as_tuple(dx)
    if len(found) != len(called):
        given = f"{len(found)} things" if len(found) > 1 else "one thing"
        if not called:
            raise GradientError(f"backward returns {given}, wanted nothing: no input has a gradient")
        wanted = " and ".join(called)
        if not found:
            raise GradientError(f"backward returns nothing, wanted {wanted}: does it end with a `return`?")
        raise GradientError(f"backward returns {given}, wanted {wanted}")
    for name, part in zip(called, found, strict=True):
        if not isinstance(part, np.ndarray):
            raise GradientError(f"backward returns a {type(part).__name__} for {name}, wanted an array")
    tape.check_empty()
    return [np.copy(part) for part in found]


def prove_layer(setting: Setting, layer_class: type[Any]) -> Finding | None:
    """The gradient check with all the promises of a layer, for one whose numbers are right."""
    layer, inputs, rng = make(setting, layer_class, 0)
    report = attempt(lambda: _check(layer)(layer, *inputs, rng=rng), _file(layer_class))
    if isinstance(report, Failure):
        if report.kind == "GradientError":
            return Finding("The numbers are right, but a promise of every layer is broken.", sentence(report.message))
        return report.finding
    return None if report.ok else Finding("The gradient check does not believe it.", str(report))


def explain_layer(setting: Setting, layer_class: type[Any], names: dict[str, str]) -> list[tuple[str, str]]:
    """What the gradient check finds to be true of the error, of which gradient."""
    layer, inputs, rng = make(setting, layer_class, 0)
    report = attempt(lambda: _check(layer)(layer, *inputs, rng=rng), _file(layer_class))
    if isinstance(report, Failure):
        return [("", sentence(report.message))]
    found = []
    for finding in report.diagnosis:
        called = names.get(finding.where, f"d{finding.where}")
        found.append((called, sentence(re.sub(rf"\bd{re.escape(finding.where)}\b", called, finding.text))))
    return found


def _check(layer: Any) -> Any:
    """One by one, or along directions where there are many derivatives."""
    return check_gradients if sum(p.value.size for _, p in named_parameters(layer)) <= MANY else check_directions


def _file(layer_class: type[Any]) -> str:
    return str(layer_class.forward.__code__.co_filename)
