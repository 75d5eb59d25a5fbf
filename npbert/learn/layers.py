"""layer_part: a layer is judged by its output and its gradients, and then by the whole check of npbert.gradcheck."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.learn.attempt import Failure, attempt, sentence
from npbert.learn.dtypes import another_dtype
from npbert.learn.exercise import Finding, Mistake
from npbert.learn.layers_explained import changed_in_place, damaged, explain_layer, mixed_up
from npbert.learn.layers_made import check_of, file_of, given_of, make
from npbert.learn.layers_run import RESTING, UNTAPED, layer_numbers
from npbert.learn.numbers import NumbersPart, Recognise
from npbert.learn.roads import Roads

__all__ = ["RESTING", "layer_numbers", "layer_part", "prove_layer"]

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
    y = given_of(setting)[1:]
    return NumbersPart(
        name=setting.layer_class.__name__,
        right=setting.layer_class,
        numbers=lambda thing, seed: layer_numbers(setting, thing, seed, names or {}),
        mistakes=mistakes,
        prove=lambda thing: prove_layer(setting, thing),
        explain=lambda thing: explain_layer(setting, thing, names or {}),
        first=lambda given, right: damaged(f"{y} {UNTAPED}", given, right) or mixed_up(given, right),
        recognise=recognise,
        roads=roads,
        pairs=pairs,
        advise=advise,
        remarks=lambda thing: another_dtype(setting, thing),
        note=lambda thing: changed_in_place(setting, thing),
    )


def prove_layer(setting: Setting, layer_class: type[Any]) -> Finding | None:
    """The gradient check with all the promises of a layer, for one whose numbers are right."""
    layer, inputs, rng = make(setting, layer_class, 0)
    report = attempt(lambda: check_of(layer)(layer, *inputs, rng=rng), file_of(layer_class))
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
