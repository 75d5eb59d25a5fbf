"""explained: the findings on a layer whose backward is wrong, for `Report.diagnosis`.

In this order, each when the one before has nothing to say: which part is wrong, the edit of its author's code that
makes it right, what is true of the numbers, and the smallest counterexample.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import named_parts
from npbert.gradcheck.derivatives import by_number, exact_gradients
from npbert.gradcheck.explain.counterexample import counterexample
from npbert.gradcheck.explain.finding import Finding, shown
from npbert.gradcheck.explain.layer import MOST_NUMBERS, mended, words_of
from npbert.gradcheck.explain.numbers import Numbers, told
from npbert.gradcheck.explain.parts import handed_on, parts_of
from npbert.gradcheck.explain.shapes import cause_of_shape
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.report import FINITE_DIFFERENCES, GradientError, Gradients, PromiseError, Report, WrongShapeError

_SECONDS = 3.0  # for the search of edits, of all parts together
_RIGHT, _ESTIMATED = 1e-11, 1e-6


def gradients_of(function: ScalarFunction) -> tuple[Gradients, PromiseError | None]:
    """What backward says, and the promise that it breaks, if it is one without which the derivative may be right.

    The error of a gradient with a wrong shape says what would make it right, if that is known.
    """
    try:
        return function.gradients(), None
    except PromiseError as error:
        return function.gradients(tried=False), error
    except WrongShapeError as error:
        right = by_number(function, FINITE_DIFFERENCES) if function.size <= MOST_NUMBERS else {}
        causes = [cause_of_shape(error.gradient, right[error.name])] if right else []
        causes += [shown(edit, edit=True) for edit in mended(function, _SECONDS)[0]]
        cause = "\n".join(filter(None, causes))
        if not cause:
            raise
        raise GradientError(f"{error}: {cause}") from error


def explained(report: Report, function: ScalarFunction, broken: PromiseError | None) -> Report:
    """The report, with its diagnosis to be made when it is asked for, of the layer as it is now.

    Raises: the broken promise, where that is all that is wrong, with the edit that keeps it.
    """
    if report.ok and broken:
        edits, _ = mended(function, _SECONDS)
        raise PromiseError("\n".join([str(broken), *(shown(edit, edit=True) for edit in edits)])) from broken
    if report.ok:
        return report
    values = {name: parameter.value.copy() for name, parameter in function.parameters.items()}
    return replace(report, diagnose=partial(_diagnosed, function, values, broken))


def _diagnosed(function: ScalarFunction, values: Gradients, broken: PromiseError | None) -> list[Finding]:
    now = {name: parameter.value for name, parameter in function.parameters.items()}
    grads = {name: parameter.grad.copy() for name, parameter in function.parameters.items()}
    try:
        for name, parameter in function.parameters.items():
            parameter.value = values[name].copy()
        with np.errstate(all="ignore"):
            found = list(_findings(function))
        is_mended = any(finding.line and "," in finding.subject for finding in found)
        return [*found, Finding("contract", "", "", "", "", str(broken))] if broken and not is_mended else found
    finally:
        for name, parameter in function.parameters.items():
            parameter.value = now[name]
            parameter.zero_grad()
            parameter.add_grad(grads[name])


def _findings(function: ScalarFunction) -> Iterator[Finding]:
    parts = parts_of(function)
    for name, here in parts.wrong:
        prefix = f"in {name} ({type(here.layer).__name__}), "
        for finding in _of_layer(here, _SECONDS / len(parts.wrong)):
            cause = finding.cause if finding.line else prefix + finding.cause
            yield replace(finding, subject=prefix + finding.subject, cause=cause)
    if not parts.wrong:
        found = list(_of_layer(function, _SECONDS))
        yield from found
        if any(finding.line for finding in found):
            return
    if parts.right:
        kind = type(getattr(function.layer, "model", function.layer)).__name__
        after = "" if parts.wrong else f"; look at what {kind} does with them"
        listed = ", ".join(parts.right[:8]) + (", …" if len(parts.right) > 8 else "")
        yield Finding("right parts", "", "", "", "", f"right by themselves: {listed}{after}")


def _of_layer(function: ScalarFunction, seconds: float) -> Iterator[Finding]:
    """Of a layer whose parts are right: the edits; and for what they leave, the numbers, or an example."""
    edits, _ = mended(function, seconds)
    yield from edits
    if function.size > MOST_NUMBERS:
        yield Finding("large", "", "", "", "", "backward is wrong: check_gradients of a smaller one says how")
        return
    wrong, exact = function.gradients(tried=False), exact_gradients(function)
    right = exact or by_number(function, FINITE_DIFFERENCES)
    called, dy = words_of(function.layer, list(function.float_inputs))
    largest = max((float(np.abs(each).max(initial=0)) for each in right.values()), default=0.0)
    names = [
        name
        for name, each in right.items()
        if not np.abs(wrong[name] - each).max(initial=0)
        <= (_RIGHT if exact else _ESTIMATED) * max(np.abs(each).max(initial=0), 1e-2 * largest)
    ]
    mentioned = {word for edit in edits for word in edit.subject.split(", ")}
    left = [name for name in names if called(name) not in mentioned]
    said = {name: told(_case(function, name, wrong, right, called, dy)) for name in left}
    between = None if edits or all(said.values()) else handed_on(function)
    if between:
        yield Finding("handed on", between[0], "", "", "", between[1])
        return
    yield from _joined([finding for findings in said.values() for finding in findings])
    unsaid = [name for name in left if not said[name]]
    if unsaid and not edits:
        example = counterexample(function, unsaid, dy)
        yield from [example] if example else []


def _joined(findings: list[Finding]) -> Iterator[Finding]:
    """Those that say the same of several gradients as one."""
    texts: dict[str, list[Finding]] = {}
    for finding in findings:
        texts.setdefault(finding.cause.removeprefix(f"{finding.subject} "), []).append(finding)
    for text, alike in texts.items():
        subject = " and ".join(finding.subject for finding in alike)
        subject = subject if len(alike) <= 4 else f"each of {len(alike)} gradients"
        if 1 < len(alike) <= 4:
            text = text.replace("is ", "are ", 1) if text.startswith("is ") else text.replace("has ", "have ", 1)
        yield replace(alike[0], subject=subject, cause=f"{subject} {text}")


def _case(function: ScalarFunction, name: str, wrong: Gradients, right: Gradients, called: Any, dy: str) -> Numbers:
    inputs = dict(function.named_inputs())
    arrays = {key: value for key, value in inputs.items() if isinstance(value, np.ndarray)}
    arrays |= {key: parameter.value for key, parameter in function.parameters.items()}
    known: dict[str, Array] = {key: value for key, value in arrays.items() if value.dtype.kind in "fb" and value.ndim}
    outputs = function.outputs()
    known |= {"y": outputs[0], dy: function.dy[0]} if len(outputs) == 1 and outputs[0].size > 1 else {}
    known |= {f"{called(other)}": each for other, each in right.items() if other != name and each.ndim}
    counts = {key: value for key, value in _attributes(function.layer, int).items() if value > 1}
    numbers = _attributes(function.layer, float)
    numbers |= {dy: float(function.dy[0])} if [each.size for each in function.dy] == [1] else {}
    return Numbers(wrong[name], right[name], called(name), name, dict(_sizes(arrays, counts)), numbers, known)


def _attributes(layer: Any, kind: type[Any]) -> dict[str, Any]:
    """The floats, or whole numbers, that the layer and its parts hold, such as p, eps and num_heads."""
    found: dict[str, Any] = {}
    for _, part in named_parts(layer):
        found |= getattr(part, "__dict__", {})
    return {key: each for key, each in found.items() if type(each) is kind and math.isfinite(each) and abs(each) != 1}


def _sizes(arrays: Mapping[str, Array], counts: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    for name, array in arrays.items():
        words = ("the number of rows of", "the number of columns of")
        for axis, size in enumerate(array.shape):
            yield (f"{words[axis]} {name}" if array.ndim == 2 else f"the size of axis {axis} of {name}"), size
            for count, value in counts.items():
                if axis == array.ndim - 1 and size % value == 0:
                    yield f"the number of columns of {name} / {count}", size // value
        yield f"the number of elements of {name}", array.size
        if array.dtype.kind == "i" and (array < 0).any():
            yield f"the number of {name} that are not ignored", int((array >= 0).sum())
