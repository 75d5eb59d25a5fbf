"""diagnose: the findings on a layer whose backward is wrong, for `Report.diagnosis`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from npbert.gradcheck.derivatives import by_number, exact_gradients
from npbert.gradcheck.diagnosis.arrays import common_factor, findings_of_arrays, or_else
from npbert.gradcheck.diagnosis.finding import Finding, listed
from npbert.gradcheck.diagnosis.parts import NO_VERDICTS, check_parts
from npbert.gradcheck.diagnosis.shapes import cause_of_shape
from npbert.gradcheck.diagnosis.surroundings import Known
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.report import (
    COMPLEX_STEP,
    EXACT,
    ROUNDING,
    GradientError,
    Gradients,
    PromiseError,
    Report,
    WrongShapeError,
)

_MOST_NUMBERS = 5000  # beyond which a layer is not checked number by number only to be explained


def gradients_of(function: ScalarFunction, method: str) -> tuple[Gradients, PromiseError | None]:
    """What backward says, and the promise that it breaks, if it is one without which the derivative may be right.

    The error of a gradient with a wrong shape says what would make it right, if that is simple.
    """
    try:
        return function.gradients(), None
    except PromiseError as error:
        return function.gradients(tried=False), error
    except WrongShapeError as error:
        right = by_number(function, method)[error.name] if function.size <= _MOST_NUMBERS else None
        cause = "" if right is None else cause_of_shape(error.gradient, right)
        if not cause:
            raise
        raise GradientError(f"{error}: {cause}") from error


def explained(
    report: Report,
    function: ScalarFunction,
    analytic: Gradients,
    numeric: dict[str, Gradients],
    broken: PromiseError | None,
) -> Report:
    """The report, with its diagnosis to be made when it is asked for, of the layer as it is now.

    Raises: the broken promise, where that is all that is wrong.
    """
    if report.ok and broken:
        raise broken
    if report.ok:
        return report
    values = {name: parameter.value.copy() for name, parameter in function.parameters.items()}
    return replace(report, diagnose=partial(_diagnose, function, values, analytic, numeric, report, broken))


def _diagnose(
    function: ScalarFunction,
    values: Gradients,
    analytic: Gradients,
    numeric: dict[str, Gradients],
    report: Report,
    broken: PromiseError | None,
) -> list[Finding]:
    if not _agree(numeric):
        return []
    now = {name: parameter.value for name, parameter in function.parameters.items()}
    grads = {name: parameter.grad.copy() for name, parameter in function.parameters.items()}
    try:
        for name, parameter in function.parameters.items():
            parameter.value = values[name].copy()
        with np.errstate(all="ignore"):
            found = list(_findings(function, analytic, numeric, report))
        return [*found, Finding("contract", "", str(broken))] if broken else found
    except Exception:  # a layer may do what nobody thought of; then the report stands without an explanation
        return []
    finally:
        for name, parameter in function.parameters.items():
            parameter.value = now[name]
            parameter.zero_grad()
            parameter.add_grad(grads[name])


def _agree(numeric: dict[str, Gradients]) -> bool:
    """Whether the methods tell of the same derivatives: else there is nothing to compare backward with."""
    first, *others = numeric.values()
    largest = max(np.abs(derivatives).max(initial=0) for derivatives in first.values())
    sizes = {name: max(np.abs(of).max(initial=0), 1e-2 * largest) for name, of in first.items()}
    return all(
        np.abs(other[name] - first[name]).max(initial=0) <= 1e-6 * sizes[name] for other in others for name in first
    )


def _findings(
    function: ScalarFunction, analytic: Gradients, numeric: dict[str, Gradients], report: Report
) -> Iterator[Finding]:
    verdicts = or_else(NO_VERDICTS, lambda: check_parts(function))
    for call, here in verdicts.wrong:
        yield from _in_part(f"in {call.name} ({type(call.part).__name__}), ", call.name, _of_layer(here, report))
    if verdicts.wrong:
        if verdicts.right:
            yield Finding("right parts", "", f"right by themselves: {listed(verdicts.outermost_right, 8)}")
        return
    for call, error in verdicts.broken:
        yield Finding("contract", call.name, f"in {call.name} ({type(call.part).__name__}), {error}")
    if "direction" in analytic or "direction" in next(iter(numeric.values())):
        found = list(_of_directions(function, analytic, numeric) or _of_layer(function, report))
    else:
        found = list(findings_of_arrays(function, analytic, numeric, report))
    yield from found
    if verdicts.right and found:
        kind = type(getattr(function.layer, "model", function.layer)).__name__
        text = f"right by themselves: {listed(verdicts.outermost_right, 8)}; so look at what {kind} does with them"
        text += f", and at what could not be checked alone: {listed(verdicts.untried, 8)}" if verdicts.untried else ""
        yield Finding("wiring", "", text)


def _in_part(place: str, name: str, findings: Iterator[Finding]) -> Iterator[Finding]:
    for finding in findings:
        yield Finding(finding.what, f"{name}.{finding.where}", place + finding.text)


def _of_directions(function: ScalarFunction, analytic: Gradients, numeric: dict[str, Gradients]) -> list[Finding]:
    """Along directions, all that can be seen is one factor on everything."""
    right = next(iter(numeric.values()))
    return list(common_factor(analytic, right, Known.of(function), "every derivative"))


def _of_layer(function: ScalarFunction, report: Report) -> Iterator[Finding]:
    """The findings of a layer that has not been checked number by number yet."""
    if function.size > _MOST_NUMBERS:
        yield Finding("part", "", "backward is wrong: check_gradients of a smaller one says how")
        return
    analytic = function.gradients(tried=False)
    right = exact_gradients(function)
    method = EXACT if right else COMPLEX_STEP if COMPLEX_STEP in report.tolerances else next(iter(report.tolerances))
    numeric = {method: right or by_number(function, method)}
    here = Report.compare(analytic, numeric, {EXACT: ROUNDING, **report.tolerances})
    yield from findings_of_arrays(function, analytic, numeric, here)
