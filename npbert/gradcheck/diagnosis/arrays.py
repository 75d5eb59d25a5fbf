"""findings_of_arrays: what is true of a layer whose parts are right, from its right and wrong gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np

from npbert.core import named_parameters
from npbert.gradcheck.diagnosis.example import counterexample
from npbert.gradcheck.diagnosis.explain import findings_of
from npbert.gradcheck.diagnosis.factors import cause_of, how_large
from npbert.gradcheck.diagnosis.finding import Case, Finding, d, listed
from npbert.gradcheck.diagnosis.formula import Formula
from npbert.gradcheck.diagnosis.heads import heads_of, wrong_in_heads
from npbert.gradcheck.diagnosis.linear import Power, powers_of_dy
from npbert.gradcheck.diagnosis.parts import is_right
from npbert.gradcheck.diagnosis.slopes import wrong_slope
from npbert.gradcheck.diagnosis.surroundings import Known
from npbert.gradcheck.diagnosis.wiring import Trace, wrong_between
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.report import COMPLEX_STEP, EXACT, FINITE_DIFFERENCES, Gradients, Report

_T = TypeVar("_T")


def findings_of_arrays(
    function: ScalarFunction, wrong: Gradients, numeric: dict[str, Gradients], report: Report
) -> Iterator[Finding]:
    """One factor on all that is wrong; else what is handed on between the parts; else what is true of each array, with
    the smallest counterexample if that is little."""
    known, names = Known.of(function), [name for name, count in report.wrong.items() if count]
    method = COMPLEX_STEP if COMPLEX_STEP in report.tolerances else FINITE_DIFFERENCES
    right = next((numeric[name] for name in (EXACT, method) if name in numeric), next(iter(numeric.values())))
    if [dy.size for dy in function.dy] == [1]:
        nothing: dict[str, Power] = {}
        powers = or_else(nothing, lambda: {each.name: each for each in powers_of_dy(function, wrong, names)})
        if powers:
            yield from _of_powers(function, wrong, right, known, names, powers)
            return
    if len(names) > 1:
        some = [{name: of[name] for name in names} for of in (wrong, right)]
        common = list(common_factor(some[0], some[1], known, _together(names, right)))
        if common:
            yield from common
            return
    trace = or_else(None, lambda: Trace.of(function, method))
    found = list(_between(trace, names, known)) if trace else []
    unexplained = names if all(map(_says_little, found)) else []
    if not found:
        formulas = {name: known.formula(of) for name, of in right.items()}
        for name in names:
            case = _case(name, wrong, right, known, formulas)
            if trace and name in known.inputs:
                array = function.inputs[function.float_inputs[name]]
                roads = trace.roads_from(None, array, right[name]) or case.roads
                given = trace.given if len(trace.steps) > 1 else {}  # one part alone gives the dx, be it right or not
                case = replace(case, roads=roads, others={**case.others, **given})
            here = list(findings_of(case))
            is_little = name in known.inputs and all(finding.what == "place" for finding in here)
            here = (list(_inside(case, function, known)) or here) if is_little else here
            unexplained = [each for each in unexplained if each != name or all(map(_says_little, here))]
            found += here
    yield from found
    if unexplained:
        none: list[Finding] = []
        yield from or_else(none, lambda: [each.finding for each in powers_of_dy(function, wrong, unexplained)])
        if unexplained == names:
            yield from or_else(none, lambda: list(_right_without_dropout(function)))
        example = counterexample(function, unexplained)
        if example:
            yield example


def _of_powers(
    function: ScalarFunction,
    wrong: Gradients,
    right: Gradients,
    known: Known,
    names: list[str],
    powers: dict[str, Power],
) -> Iterator[Finding]:
    """Where dy is one number: what is not proportional to it, and what else is true when that is put right."""
    formulas = {name: known.formula(of) for name, of in right.items()}
    dy = float(function.dy[0])
    for name in names:
        power = powers.get(name, Power(name, 1)).power
        if name in powers and power is not None:
            yield powers[name].finding
        corrected = wrong[name] * dy ** (1 - (1 if power is None else power))
        case = _case(name, {name: corrected}, right, known, formulas)
        if np.allclose(case.wrong, case.right, rtol=1e-9, atol=1e-12):
            continue
        apart = "apart from that, " if name in powers and power is not None else ""
        for finding in findings_of(case):
            if power is not None or finding.what != "factor":  # which is another one for another dy
                yield Finding(finding.what, name, apart + finding.text)
        if power is None:
            yield powers[name].finding


def _says_little(finding: Finding) -> bool:
    """Whether it only says where something is wrong, and not what."""
    return finding.what == "place" and ": " not in finding.text


def _right_without_dropout(function: ScalarFunction) -> Iterator[Finding]:
    if function.rng is None:
        return
    resting = ScalarFunction(function.layer, tuple(function.inputs), None, 0)
    is_drawn = any((one != other).any() for one, other in zip(function.outputs(), resting.outputs(), strict=True))
    if is_drawn and is_right(resting):
        yield Finding("dropout", "", "without dropout backward is right: what is wrong has to do with dropout")


def _inside(case: Case, function: ScalarFunction, known: Known) -> Iterator[Finding]:
    """What can be said of the gradient of an input from what the layer computes inside, be it attention or a slope."""
    if known.is_elementwise:
        yield from wrong_slope(case, known.inputs[case.name], known.y[0], known.dy[0])
    is_of_queries = case.name == next(iter(known.inputs))
    yield from wrong_in_heads(case, heads_of(function, known.heads), is_of_queries=is_of_queries)


def _between(trace: Trace, wrong_names: list[str], known: Known) -> Iterator[Finding]:
    """What the backward of a part is given, when that is wrong: the last in forward is the first to be undone."""
    for step, right, given_right in wrong_between(trace):
        so_far = f" (what {listed(given_right)} got is right)" if given_right else ""
        if step.dy is None:
            parameters = [f"{step.name}.{name}" for name, _ in named_parameters(step.part)]
            if parameters and not set(parameters) & set(wrong_names):
                continue  # it is done in another way
            text = f"{step.name}.backward is never called, though the loss moves with what {step.name} gives{so_far}"
            yield Finding("never called", step.name, text)
            return
        called = trace.called(step)
        others = {name: array for name, array in trace.given.items() if name != called}
        roads = trace.roads_from(step, step.y, right)
        case = Case(step.dy, right, step.name, numbers=known.numbers, roads=roads, others=others, called=called)
        found = list(findings_of(case))
        for finding in found:
            yield Finding(finding.what, step.name, finding.text + so_far)
        if not found:
            yield Finding("handed on", step.name, f"{called} is wrong: look at what comes between{so_far}")
        return


def _together(names: list[str], right: Gradients) -> str:
    if len(names) == len(right):
        return "every gradient"
    return " and ".join([listed(map(d, names[:-1]), 4), d(names[-1])])


def common_factor(wrong: Gradients, right: Gradients, known: Known, who: str) -> Iterator[Finding]:
    all_wrong, all_right = (np.concatenate([of[name].ravel() for name in wrong]) for of in (wrong, right))
    case = Case(all_wrong, all_right, "")
    if not case.right.any():
        return
    factor = float((case.wrong * case.right).sum() / (case.right * case.right).sum())
    if factor and case.explains(factor * case.right, fitted=1):
        cause = cause_of(factor, known.sizes, known.numbers)
        text = f"{who} {how_large(factor)}{cause and ': ' + cause}"
        text = text.replace(" is ", " are ", 1).replace(" has ", " have ", 1) if " and " in who else text
        yield Finding("factor", ", ".join(wrong), text)


def _case(name: str, wrong: Gradients, right: Gradients, known: Known, formulas: dict[str, Formula]) -> Case:
    of, formula = right[name], formulas[name]
    of_formulas = {key: array for other in formulas.values() for key, array in other.known.items()}
    return Case(
        wrong[name],
        of,
        name,
        known.sizes,
        known.numbers,
        {**of_formulas, **known.arrays()},
        formula.roads,
        formula.mistakes,
        {other: array for other, array in right.items() if other != name},
        known.places(of),
        known.heads,
        known.lengths,
        cuts=formula.cuts,
        terms=formula.terms,
    )


def or_else(otherwise: _T, compute: Callable[[], _T]) -> _T:
    """What is computed with the parts of a layer, or something else where they cannot be watched or run alone."""
    try:
        return compute()
    except Exception:
        return otherwise
