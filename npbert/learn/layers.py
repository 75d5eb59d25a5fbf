"""layer_part: a layer is judged by its output and its gradients, and then by the whole check of npbert.gradcheck."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.learn.attempt import Failure, attempt, sentence
from npbert.learn.dtypes import another_dtype
from npbert.learn.exercise import Message
from npbert.learn.layers_made import check_of, file_of, given_of, make
from npbert.learn.layers_run import BETWEEN, OTHER, UNTAPED, layer_numbers
from npbert.learn.numbers import Numbers, NumbersPart

_NEARLY = 1e-8
_ROUNDED = "Is a number in it rounded, or is it a numerical slope, (f(x + h) − f(x − h)) / 2h? Write the formula."


def layer_part(
    *settings: Setting,
    method: str = "backward",
    plain: str = "",
    reasons: Mapping[str, str],
    names: dict[str, str] | None = None,
    advise: Callable[[Failure], str] = lambda failure: "",
) -> NumbersPart:
    """The part of an exercise that asks for the layer of these settings, which differ in all sizes.

    names: what the learner calls the gradients, by the name of the input or parameter: {"weight": "dW"}. Else they are
    `dx` for an input x, and `the gradient of weight` for a parameter. All others: as of a NumbersPart.
    """
    first, y = settings[0], given_of(settings[0])[1:]
    return NumbersPart(
        name=first.layer_class.__name__,
        right=first.layer_class,
        numbers=lambda thing, seed: layer_numbers(settings[seed % len(settings)], thing, seed, names or {}),
        method=method,
        plain=plain,
        reasons=reasons,
        prove=lambda thing: prove_layer(settings, thing),
        first=lambda given, right: damaged(f"{y} {UNTAPED}", given, right) or mixed_up(given, right),
        advise=advise,
        remarks=lambda thing: another_dtype(first, thing),
    )


def prove_layer(settings: tuple[Setting, ...], layer_class: type[Any]) -> Message | None:
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
        if not report.ok:
            worst = max(comparison.relative_error for comparison in report.worst.values())
            if worst < _NEARLY:
                digits = f"{-np.log10(worst):.0f} digits" if worst else "all digits that floats have"
                return Message(f"The gradients are right in about {digits}, and a formula is right in all.", _ROUNDED)
            return Message("The gradient check does not believe it.", str(report))
    return None


def damaged(name: str, given: Numbers, right: Numbers) -> Message | None:
    """Whether forward, which stood there when the file was made, gives something else."""
    if np.shape(given[name]) == right[name].shape and np.allclose(given[name], right[name], rtol=1e-9, atol=1e-12):
        return None
    return Message(
        f"forward does not give the right {name.partition(' ')[0]}: it was finished when the file was made.",
        "Something in it, or in what it calls, was changed. Put that right first: backward is compared with the "
        "derivative of the right forward. To see how it was, write the exercises into another folder: "
        "`npbert learn --folder again`.",
    )


def mixed_up(given: Numbers, right: Numbers) -> Message | None:
    """Whether what is returned is right, but not when another forward comes between, or in a later call."""
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
