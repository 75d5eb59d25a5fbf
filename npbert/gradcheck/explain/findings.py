"""explained: the findings on a layer with a wrong backward, for `Report.diagnosis`.

It tries in this order, until one succeeds: the wrong part; the edit of its author's code that makes it right; a fact
about the numbers; the worst number.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import named_parts
from npbert.gradcheck.contract import Call, check_refusal, promised_gradients
from npbert.gradcheck.exact.case import Case
from npbert.gradcheck.exact.number_modules import place_of
from npbert.gradcheck.exact.prove import judged, parts_of, prove
from npbert.gradcheck.explain.finding import Finding, d, describe
from npbert.gradcheck.explain.layer import MOST_NUMBERS, mended
from npbert.gradcheck.explain.numbers import cause_of_shape, explain
from npbert.gradcheck.explain.repair import TRIES
from npbert.gradcheck.forms import Form
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import arrays_held_by
from npbert.gradcheck.report import (
    NOT_PROVED,
    TOLERANCES,
    GradientError,
    Gradients,
    PromiseError,
    Report,
    WrongShapeError,
    compared,
)
from npbert.io.messages import listed


def gradients_of(function: ScalarFunction) -> tuple[Gradients, PromiseError | None]:
    """Return the gradients by backward, and a broken promise that does not concern the derivative.

    The error of a gradient with a wrong shape includes the fix, if known.
    """
    try:
        gradients = promised_gradients(function)
        check_refusal(function)
        return gradients, None
    except PromiseError as error:
        return _gradients_now(function), error
    except WrongShapeError as error:
        causes = [describe(edit, edit=True) for edit in mended(function)]
        if function.size <= MOST_NUMBERS:
            causes.insert(0, cause_of_shape(error.gradient, function.right()[0][error.name]))
        cause = "\n".join(filter(None, causes))
        if not cause:
            raise
        raise GradientError(f"{error}: {cause}") from error
    except GradientError:
        raise
    except Exception as error:
        if not isinstance(function.layer, Form):
            raise
        told = f"backward raises {type(error).__name__}{place_of(error)}: {error}"
        edits = (describe(edit, edit=True) for edit in mended(function))
        raise GradientError("\n".join([told, *edits])) from error


def _gradients_now(function: ScalarFunction) -> Gradients:
    with function.unchanged():
        return Call(function).backward()


def explained(report: Report, function: ScalarFunction, broken: PromiseError | None) -> Report:
    """Return the report, with a diagnosis at its first use, for the layer's current state.

    Raises: the broken promise, if nothing else is wrong, with the edit that keeps it.
    """
    report = replace(report, unchecked=_unchecked(function.layer))
    if report.ok and broken:
        edits = mended(function)
        raise PromiseError("\n".join([str(broken), *(describe(edit, edit=True) for edit in edits)])) from broken
    if report.ok:
        return report
    values = {name: parameter.value.copy() for name, parameter in function.parameters.items()}
    return replace(report, diagnose=partial(_diagnosed, function, values, broken))


def _unchecked(layer: Any) -> str:
    """Return a sentence on float arrays among a layer's attributes, which the check takes for constants."""
    if isinstance(layer, Form):
        return layer.note
    names = [f"self.{name}" for name in arrays_held_by(layer)]
    is_no = "are float arrays, not Parameters" if len(names) > 1 else "is a float array, not a Parameter"
    what_to_do = "Make a learned array a Parameter(array), and use its .value."
    return f"Not checked: {listed(names, quote=str)} {is_no}. {what_to_do}" if names else ""


def _diagnosed(function: ScalarFunction, values: Gradients, broken: PromiseError | None) -> list[Finding]:
    with function.unchanged(), np.errstate(all="ignore"):
        for name, parameter in function.parameters.items():
            parameter.value[...] = values[name]
        found = list(_findings(function))
    is_mended = any(finding.line and "," in finding.subject for finding in found)
    return [*found, Finding("contract", "", cause=str(broken))] if broken and not is_mended else found


def _findings(function: ScalarFunction) -> Iterator[Finding]:
    wrong, right = judged(parts_of(Case(function.layer, tuple(function.inputs), function.rng)), _is_right)
    for part in wrong:
        here = ScalarFunction(part.layer, part.inputs, part.rng, 0)
        prefix = f"in {part.name} ({type(part.layer).__name__}), "
        for finding in _of_layer(here, TRIES // len(wrong)):
            cause = finding.cause if finding.line else prefix + finding.cause
            yield replace(finding, subject=prefix + finding.subject, cause=cause)
    if not wrong:
        found = list(_of_layer(function, TRIES))
        yield from found
        if any(finding.line for finding in found):
            return
    if right:
        kind = type(getattr(function.layer, "model", function.layer)).__name__
        after = "" if wrong else f"; look at how {kind} combines them"
        listed = ", ".join(right[:8]) + (", …" if len(right) > 8 else "")
        yield Finding("right parts", "", cause=f"right by themselves: {listed}{after}")


def _is_right(part: Case) -> bool:
    """True if proved, or right along a few directions without a proof. Raises: the part's errors."""
    function = ScalarFunction(part.layer, part.inputs, part.rng, 0)
    proof = prove(part.layer, *part.inputs, rng=part.rng)
    if proof.verdict != NOT_PROVED:
        return bool(proof)
    return function.compared_along(_gradients_now(function), TOLERANCES, 3, 1, must_flow=False).ok


def _of_layer(function: ScalarFunction, tries: int) -> Iterator[Finding]:
    """Return the findings on a layer with right parts: the edits, and for other gradients a fact about numbers, or an
    example."""
    edits = mended(function, tries)
    yield from edits
    if function.size > MOST_NUMBERS:
        yield Finding("large", "", cause="backward is wrong; for an explanation, run check_gradients on a smaller one")
        return
    wrong, (right, accuracy) = _gradients_now(function), function.right()
    mentioned = {word for edit in edits for word in edit.subject.split(", ")}
    left = [each for each in compared("", wrong, right, accuracy) if each.count and d(each.name) not in mentioned]
    said: dict[str, list[Finding]] = {}
    for each in left:
        for finding in _of_numbers(function, each.name, wrong[each.name], right[each.name]):
            said.setdefault(finding.cause.removeprefix(finding.subject), []).append(finding)
    for text, alike in said.items():  # the same fact about several gradients is one finding
        subjects = [finding.subject for finding in alike]
        subject = ", ".join(subjects) if len(subjects) <= 4 else f"{len(subjects)} gradients"
        subject = subject if len(subjects) == 1 else f"each of {subject}"
        yield replace(alike[0], subject=subject, cause=f"{subject}{text}")
    if left and not said and not edits:
        worst = max(left, key=lambda each: np.nan_to_num(each.relative_error, nan=np.inf))
        numbers = f"backward returns {worst.analytic:.6g}, and {worst.numeric:.6g} is right"
        cause = f"{d(worst.name)} is wrong, for example at {worst.place}: {numbers}"
        yield Finding("example", d(worst.name), cause=cause)


def _of_numbers(function: ScalarFunction, name: str, wrong: Array, right: Array) -> list[Finding]:
    """Return facts about the numbers of one gradient, with the layer's sizes and numbers."""
    arrays = {key: value for key, value in function.named_inputs() if isinstance(value, np.ndarray)}
    arrays |= {key: parameter.value for key, parameter in function.parameters.items()}
    known = {"dy": function.dy[0]} if len(function.dy) == 1 else {}
    numbers = {"dy": function.dy[0].item()} if [each.size for each in function.dy] == [1] else {}
    counts: dict[str, int] = {}
    for _, part in named_parts(function.layer):  # p, eps, num_heads, …
        attributes = getattr(part, "__dict__", {}).items()
        numbers |= {key: each for key, each in attributes if type(each) is float and math.isfinite(each) and each}
        counts |= {key: each for key, each in attributes if type(each) is int and each > 1}
    sizes = dict(_sizes(arrays, counts))
    return explain(wrong, right, name=name, sizes=sizes, numbers=numbers, known=known)


def _sizes(arrays: dict[str, Any], counts: dict[str, int]) -> Iterator[tuple[str, int]]:
    """Return the sizes of the arrays in words, without 1, and the sizes of parts of columns."""
    for name, array in arrays.items():
        axes = ("rows", "columns") if array.ndim == 2 else [f"numbers along axis {axis}" for axis in range(array.ndim)]
        sizes = {f"the number of {axis} of {name}": size for axis, size in zip(axes, array.shape, strict=True)}
        for key, count in counts.items() if array.ndim == 2 else ():
            sizes |= {f"the number of columns of {name} / {key}": array.shape[1] // count}
        sizes[f"the number of elements of {name}"] = array.size
        if array.dtype.kind == "i":
            sizes[f"the number of {name} that are not ignored"] = int((array >= 0).sum())
        yield from ((text, size) for text, size in sizes.items() if size > 1)
