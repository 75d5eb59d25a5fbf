"""layer_part: a layer is judged by its output and its gradients, and then by the whole check of npbert.gradcheck."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
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
from npbert.learn.roads import Roads

ADDED = "after two backwards"
BETWEEN = "when another call comes between"
MANY = 100
"""Parameters that are so many that they are not checked one by one."""
RESTING = "when nothing is dropped"
UNTAPED = "without a tape"
_NEARLY = 1e-8
_ROUNDED = "Is a number in it rounded, or is it a numerical slope, (f(x + h) − f(x − h)) / 2h? Write the formula."


def layer_part(
    setting: Setting,
    mistakes: list[Mistake],
    *,
    names: dict[str, str] | None = None,
    recognise: Recognise | None = None,
    roads: Roads | None = None,
    pairs: Callable[[], Iterable[Mistake]] = tuple,
    advise: Callable[[Failure], str] = lambda failure: "",
) -> NumbersPart:
    """The part of an exercise that asks for the layer of this setting.

    names: what the learner calls the gradients, by the name of the input or parameter: {"weight": "dW"}. Else they are
    `dx` for an input x, and `the gradient of weight` for a parameter. All others: as of a NumbersPart.
    """
    return NumbersPart(
        name=setting.layer_class.__name__,
        right=setting.layer_class,
        numbers=lambda thing, seed: layer_numbers(setting, thing, seed, names or {}),
        mistakes=mistakes,
        prove=lambda thing: prove_layer(setting, thing),
        explain=lambda thing: explain_layer(setting, thing, names or {}),
        first=lambda given, right: damaged(f"{_given(setting)[1:]} {UNTAPED}", given, right) or mixed_up(given, right),
        recognise=recognise,
        roads=roads,
        pairs=pairs,
        advise=advise,
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

    without = layer.forward(*frozen, tape=Tape(copy_of(rng), keeps=False))
    tape = Tape(copy_of(rng))
    y = layer.forward(*frozen, tape=tape)
    dy = tuple(read_only(drawn.standard_normal(np.shape(part))) for part in as_tuple(y))
    y_name, values = _given(setting)[1:], {name: part.value.copy() for name, part in named_parameters(layer)}
    numbers: Numbers = {y_name: np.copy(as_tuple(y)[0]), f"{y_name} {UNTAPED}": np.copy(as_tuple(without)[0])}
    called = _input_names(layer, inputs, names)
    numbers.update(zip(called, _backward(layer, y, dy, tape, called), strict=True))
    parameters = {names.get(name, f"the gradient of {name}"): part for name, part in named_parameters(layer)}
    numbers.update({name: part.grad.copy() for name, part in parameters.items()})
    for name, part in named_parameters(layer):
        if not np.array_equal(part.value, values[name], equal_nan=True):
            raise GradientError(
                f"backward changes the value of {name}, which only an optimiser may: what backward finds out belongs "
                f"in the gradient, self.{name}.grad, to which self.{name}.add_grad(…) adds"
            )

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
        resting = _backward(layer, y, dy, tape, called, f" {RESTING}")
        numbers.update({f"{name} {RESTING}": dx for name, dx in zip(called, resting, strict=True)})
    return numbers


def _input_names(layer: Any, inputs: tuple[Any, ...], names: dict[str, str]) -> list[str]:
    variables = type(layer).forward.__code__.co_varnames[1 : 1 + len(inputs)]
    floats = [name for name, value in zip(variables, inputs, strict=True) if is_float_array(value)]
    return [names.get(name, f"d{name}") for name in floats]


def _backward(layer: Any, y: Any, dy: tuple[Any, ...], tape: Tape, called: list[str], when: str = "") -> list[Any]:
    """Copies of what backward returns. Raises: GradientError where it is not a gradient for each input."""
    dx = layer.backward(dy if isinstance(y, tuple) else dy[0], tape)
    found = () if dx is None else as_tuple(dx)
    if len(found) != len(called):
        given = f"{len(found)} things" if len(found) > 1 else "one thing"
        if not called:
            hint = ", and that of a parameter is handed over with add_grad" if list(named_parameters(layer)) else ""
            raise GradientError(f"backward returns {given}, wanted nothing: no input has a gradient{hint}")
        wanted = " and ".join(called)
        if not found:
            is_forked = when or "if " in _source(layer)
            hint = "is there a `return` on every way past the `if`?" if is_forked else "does it end with a `return`?"
            raise GradientError(f"backward returns nothing{when}, wanted {wanted}: {hint}")
        own = [name for name, _ in named_parameters(layer) if "." not in name]
        add = ", ".join(f"self.{name}.add_grad(…)" for name in own)
        hint = f": a parameter's gradient is not returned, but handed over: {add}" if own and len(found) > 1 else ""
        raise GradientError(f"backward returns {given}, wanted {wanted}{hint}")
    for name, part in zip(called, found, strict=True):
        if not isinstance(part, np.ndarray):
            kind = type(part).__name__
            raise GradientError(
                f"backward returns {'an' if kind[0] in 'aeiou' else 'a'} {kind} for {name}, wanted an array"
            )
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
    if report.ok:
        return None
    worst = max(comparison.relative_error for comparison in report.worst.values())
    if worst < _NEARLY:
        return Finding(
            f"The gradients are right in about {-np.log10(worst):.0f} digits, and a formula is right in 15.", _ROUNDED
        )
    return Finding("The gradient check does not believe it.", str(report))


def explain_layer(setting: Setting, layer_class: type[Any], names: dict[str, str]) -> list[tuple[str, str]]:
    """What the gradient check finds to be true of the error, of which gradient."""
    layer, inputs, rng = make(setting, layer_class, 0)
    report = attempt(lambda: _check(layer)(layer, *inputs, rng=rng), _file(layer_class))
    if isinstance(report, Failure):
        return [("", sentence(report.message))]
    found = []
    findings = report.diagnosis
    if len(findings) > 1:  # what the gradients of two backwards show already
        findings = [finding for finding in findings if "is set by backward" not in finding.text]
    for finding in findings:
        called = names.get(finding.where, f"d{finding.where}")
        text = in_the_learners_letters(finding.text, _given(setting))
        for name, gradient in {finding.where: called, **names}.items():
            text = re.sub(rf"\bd{re.escape(name)}\b", gradient, text)
        found.append((called, sentence(text)))
    return found


def in_the_learners_letters(text: str, given: str) -> str:
    """What the gradient check says, with the names that stand in the exercise.

    given: what backward is given, as `dc`; so c is what forward returns. The number that the gradient check derives is
    called L, and not S, as S may be the scores.
    """
    text = re.sub(r"^( +)S = ", r"\1L = ", text, flags=re.MULTILINE).replace("So dS/d", "So dL/d")
    return re.sub(r"\bdy\b", given, re.sub(r"(?<!\w)y(?!\w)", given[1:], text)) if given != "dy" else text


def _given(setting: Setting) -> str:
    """What the backward of the layer calls the gradient that it is given: `dy`, `dc`, `dloss`."""
    return list(inspect.signature(setting.layer_class.backward).parameters)[1]


def _check(layer: Any) -> Any:
    """One by one, or along directions where there are many derivatives."""
    return check_gradients if sum(p.value.size for _, p in named_parameters(layer)) <= MANY else check_directions


def damaged(name: str, given: Numbers, right: Numbers) -> Finding | None:
    """Whether forward, which stood there when the file was made, gives something else."""
    if np.shape(given[name]) == right[name].shape and np.allclose(given[name], right[name], rtol=1e-9, atol=1e-12):
        return None
    return Finding(
        f"forward does not give the right {name.partition(' ')[0]}: it was finished when the file was made.",
        "Something in it, or in what it calls, was changed. Put that right first: backward is compared with the "
        "derivative of the right forward. To see how it was, write the exercises into another folder: "
        "`npbert learn --folder again`.",
    )


def mixed_up(given: Numbers, right: Numbers) -> Finding | None:
    """Whether what is returned is right, but not when another forward comes between."""
    for name, wanted in right.items():
        alone = name.removesuffix(f" {BETWEEN}")
        if alone == name or not all(np.shape(given[each]) == wanted.shape for each in (name, alone)):
            continue
        if np.allclose(given[alone], right[alone]) and not np.allclose(given[name], wanted):
            return Finding(
                f"{alone} is right after one forward, but not when another forward comes between it and its backward.",
                "A layer may be called several times before the first backward. So what forward keeps goes on the "
                "tape; on self, or in a global, the next call overwrites it.",
            )
    return None


def _source(layer: Any) -> str:
    try:
        return inspect.getsource(type(layer).backward)
    except (OSError, TypeError):
        return ""


def _file(layer_class: type[Any]) -> str:
    return str(layer_class.forward.__code__.co_filename)
