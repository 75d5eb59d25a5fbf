"""explained: the findings on a layer with a wrong backward, for `Report.diagnosis`.

They are, of each wrong part, or of the layer if it has none: the edits of its author's code that make gradients right;
for gradients left wrong, a fact about their numbers; or, without any of these, the worst number.
"""

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from npbert.core import named_parts
from npbert.gradcheck.contract import check_refusal, promised_gradients
from npbert.gradcheck.estimates import compared_along, right_and_accuracy
from npbert.gradcheck.exact.number_modules import place_of
from npbert.gradcheck.exact.prove import prove
from npbert.gradcheck.explain.finding import Finding, d, describe_all
from npbert.gradcheck.explain.layer import MOST_NUMBERS, TRIES, mended
from npbert.gradcheck.explain.numbers import cause_of_shape, example, facts
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import Outputs, is_float_array
from npbert.gradcheck.paths import members
from npbert.gradcheck.report import (
    NOT_PROVED,
    GradientError,
    Gradients,
    PromiseError,
    Report,
    WrongShapeError,
    compared,
)


def gradients_of(function: ScalarFunction) -> tuple[Gradients, PromiseError | None]:
    """Return the gradients by backward, and a broken promise that does not concern the derivative.

    The error of a gradient with a wrong shape, or of the author's code, includes the fix, if known.
    """
    try:
        gradients = promised_gradients(function)
        check_refusal(function)
        return gradients, None
    except PromiseError as error:
        return function.gradients(), error
    except Exception as error:
        told = f"backward raises {type(error).__name__}{place_of(error)}: {error}"
        if isinstance(error, WrongShapeError):
            is_small = function.size <= MOST_NUMBERS
            cause = cause_of_shape(error.gradient, right_and_accuracy(function)[0][error.name]) if is_small else ""
            told = ": ".join(filter(None, [str(error), cause]))
        elif isinstance(error, GradientError) or not function.is_form:
            raise
        raise GradientError(_with_edits(told, function)) from error


def _with_edits(told: str, function: ScalarFunction) -> str:
    """Return the sentence, and the edits that make the layer right."""
    return "\n".join([told, *describe_all(mended(function))])


def explained(report: Report, function: ScalarFunction, broken: PromiseError | None) -> Report:
    """Return the report, with a diagnosis at its first use, for the layer's current state.

    Raises: the broken promise, if nothing else is wrong, with the edit that keeps it.
    """
    if report.ok and broken:
        raise PromiseError(_with_edits(str(broken), function)) from broken
    diagnose = partial(_diagnosed, function, function.made(np.copy), broken)
    return replace(report, unchecked=_unchecked(function), diagnose=diagnose)


def _unchecked(function: ScalarFunction) -> str:
    """Return a sentence on float arrays among a layer's attributes, which the check takes for constants."""
    if function.is_form:
        return str(function.layer.note)
    held = (
        pair for path, part in named_parts(function.layer) if hasattr(part, "forward") for pair in members(path, part)
    )
    names = [f"self.{path}" for path, value in held if is_float_array(value)]
    what_to_do = "To learn an array, make it a Parameter(array), and use its .value."
    return f"Not checked, as not a Parameter: {', '.join(names)}. {what_to_do}" if names else ""


def _diagnosed(function: ScalarFunction, values: Gradients, broken: PromiseError | None) -> list[Finding]:
    with function.unchanged(values), np.errstate(all="ignore"):
        found = list(_findings(function))
    if broken and not (broken.subjects and set(broken.subjects) <= _subjects(found)):
        found.append(Finding("contract", "", cause=str(broken)))
    return found


def _subjects(edits: list[Finding]) -> set[str]:
    """Return the names of the results that these edits make right."""
    return {name for edit in edits if edit.is_edit for name in edit.names}


def _findings(function: ScalarFunction) -> Iterator[Finding]:
    wrong, right = _judged_parts(function)
    for name, part in wrong.items():
        where = f"{name} ({type(part.layer).__name__})"
        for finding in _of_layer(part, TRIES // len(wrong)):
            cause = finding.cause if finding.line else f"in {where}, {finding.cause}"
            yield replace(finding, subject=f"{finding.subject} of {where}", cause=cause)
    found = [] if wrong else list(_of_layer(function, TRIES))
    yield from found
    if right and not any(finding.line for finding in found):
        kind = type(getattr(function.layer, "model", function.layer)).__name__
        after = "" if wrong else f"; look at how {kind} combines them"
        names = ", ".join(right[:8]) + (", …" if len(right) > 8 else "")
        yield Finding("right parts", "", cause=f"right by themselves: {names}{after}")


def _judged_parts(whole: ScalarFunction) -> tuple[dict[str, ScalarFunction], list[str]]:
    """Run a layer once. Return the innermost wrong parts that it calls by name, and the names of the outermost right
    ones; without parts that cannot run alone, or have nothing to derive by."""
    names = {id(part): name for name, part in named_parts(whole.layer) if name and hasattr(part, "backward")}
    called, wrong = dict[str, ScalarFunction](), dict[str, ScalarFunction]()  # the innermost first
    right = list[str]()

    def watch(layer: Any, inputs: Outputs, _: Any) -> None:
        if name := names.get(id(layer)):
            called.setdefault(name, ScalarFunction(layer, inputs, whole.rng, whole.seed))

    whole.forward(watcher=watch)
    for name, part in called.items():
        inside = f"{name}."
        with contextlib.suppress(Exception):  # the part's error
            if any(other.startswith(inside) for other in wrong):
                continue
            if _is_right(part):
                right = [*(other for other in right if not other.startswith(inside)), name]
            else:
                wrong[name] = part
    return wrong, right


def _is_right(part: ScalarFunction) -> bool:
    """True if proved, or right along a few directions without a proof. Raises: the part's errors."""
    proof = prove(part.checked().layer, *part.inputs.values(), rng=part.rng)
    if proof.verdict != NOT_PROVED:
        return bool(proof)
    return compared_along(part, part.gradients(), 3).ok


def _of_layer(function: ScalarFunction, tries: int) -> Iterator[Finding]:
    """Return the findings on a layer with right parts: the edits, and for other gradients a fact about numbers, or an
    example; then the place to look at."""
    found = mended(function, tries)
    edits = [each for each in found if each.is_edit]
    yield from edits
    if function.size > MOST_NUMBERS:
        yield Finding("large", "", cause="backward is wrong; for an explanation, run check_gradients on a smaller one")
        return
    wrong, (right, accuracy) = function.gradients(), right_and_accuracy(function)
    left = [
        each for each in compared("", wrong, right, accuracy) if each.count and d(each.name) not in _subjects(edits)
    ]
    said: dict[tuple[str, str], list[str]] = {}
    for each in left:
        for fact in itertools.islice(facts(wrong[each.name], right[each.name], each.name), 1):
            said.setdefault(fact, []).append(d(each.name))
    for (kind, text), names in said.items():
        subject = ", ".join(names) if len(names) <= 4 else f"{len(names)} gradients"
        subject = subject if len(names) == 1 else f"each of {subject}"
        yield Finding(kind, subject, cause=f"{subject} {text}")
    if left and not said and not edits:
        worst = max(left, key=lambda each: np.nan_to_num(each.relative_error, nan=np.inf)).name
        yield Finding("example", d(worst), cause=f"{d(worst)} {example(wrong[worst], right[worst])}")
    yield from (place for place in found if not place.is_edit)
