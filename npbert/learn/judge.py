"""judge: explains a wrong answer, by the line, the kind of mistake and the reason; or by its numbers."""

import ast
import functools
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from npbert.compute import Array
from npbert.gradcheck import PromiseError, explain
from npbert.gradcheck.explain import VARIATIONS, Finding, describe, describe_place
from npbert.learn.blank import Blank
from npbert.learn.comparison import Comparison, is_number
from npbert.learn.failure import Failure, attempt, file_of, sentence
from npbert.learn.layer import broken_promise
from npbert.learn.limits import lift_time_limit
from npbert.learn.mending import UNKNOWN, findings_of
from npbert.learn.verdict import Verdict, numbered

_OF_ANY, MOST_NAMES = ("factor", "order", "not finite"), 6
_SITUATIONS = "", *(f"where {words}" for words, _ in VARIATIONS[1:]), "when nothing is dropped"
_DAMAGED = Verdict(
    "forward returns wrong numbers, but was right in the original file.",
    "It, or a function that it calls, was changed. Restore it first: backward is compared with the derivative of the "
    "right forward. To see the original, write the exercises into another folder: `npbert learn --folder again`; in a "
    "notebook, run %exercise with its number.",
)


def judge(blank: Blank, thing: object, node: ast.stmt | None = None, *, mends: bool = True) -> Verdict | None:
    """Return the verdict on `thing`, the learner's answer, or None if it is right.

    node: its definition in the learner's file. mends: search the edit that makes a wrong answer right, which takes
    longer.
    """
    compared = Comparison(blank, thing)
    compared.run()
    stopped = compared.stopped
    if compared.first is None:
        proved = attempt(functools.partial(blank.prove, thing, node), file_of(thing))
        return proved.verdict if isinstance(proved, Failure) else proved
    if stopped is not None and isinstance(stopped.error, NotImplementedError):
        return stopped.verdict
    first = _before_all(compared, compared.first) if stopped is None else None
    lift_time_limit()  # the search counts rounds of loops
    findings = findings_of(compared) if mends and first is None else []
    if stopped is not None:
        return replace(stopped.verdict, findings=tuple(findings))
    verdict = first or _told(compared, findings)
    situation = _SITUATIONS[blank.seeds[compared.first] // 2]
    return verdict.because_of(f"This happens {situation}; otherwise it is right." if situation else "")


def _before_all(compared: Comparison, k: int) -> Verdict | None:
    """Return the verdict on mistakes to fix first."""
    if compared.wrong[k] & set(compared.blank.fixed):
        return _DAMAGED
    unreal = [name for name, array in compared.given[k].items() if not is_number(array)]
    if unreal:
        return _of_numbers(compared, unreal[:1], "")
    vital = compared.broken
    is_vital = vital is not None and not isinstance(vital.error, PromiseError)
    return vital.verdict if vital and is_vital and compared.all_wrong() else None


def _told(compared: Comparison, findings: list[Finding]) -> Verdict:
    """Return the verdict on the code, as far as edits explain what is wrong, and on the numbers for the rest."""
    suspects = [each for each in findings if each.kind == UNKNOWN]
    edits = [each for each in findings if each.kind != UNKNOWN]
    edits.sort(key=lambda finding: (not finding.line, finding.line))  # edits without a line come last
    if compared.broken is not None and not compared.all_wrong():
        promise = broken_promise(compared.broken)
        told = [_of_edit(compared.blank, each) for each in edits if not each.is_of_right_code] or [promise]
        return replace(numbered(told).because_of(promise.because), findings=tuple(findings))
    verdicts = [_of_edit(compared.blank, finding) for finding in edits]
    explained = {name for each in edits for name in each.subject.split(", ")}
    left = [name for name in compared.all_wrong() if name not in explained and not ("." in name and explained)]
    left = [name for name in left if any(name in each for each in compared.given)] or left
    if left:
        verdicts.append(_of_numbers(compared, left, describe_place(suspects[0]) if suspects else ""))
        edits += suspects
    return replace(numbered(verdicts), findings=tuple(edits))


def _of_edit(blank: Blank, finding: Finding) -> Verdict:
    """Return the line, the kind and the cause in words, with the reason of the right formula."""
    says, _, rest = describe(finding).partition("\n")
    reasons = blank.entries("reasons")
    names = [name for name in reasons if name in finding.subject.split(", ")]
    reason = reasons[names[0]] if len(names) == 1 else ""
    return Verdict(says).because_of(rest, reasons.get(finding.subject, reason))


def _of_numbers(compared: Comparison, names: Sequence[str], place: str) -> Verdict:
    """Return a sentence on the numbers of each of these arrays, at its first wrong seed."""
    first, *others = [sentence(_statement(compared, name)) for name in names]
    reasons = compared.blank.entries("reasons")
    right = [name for name in compared.right[0] if name not in (*compared.all_wrong(), *compared.blank.fixed)]
    is_are = "is" if len(right) == 1 else "are"
    rest = f"{', '.join(right)} {is_are} right." if 0 < len(right) < MOST_NAMES else ""
    return Verdict(first).because_of(place, *others, *(reasons.get(name, "") for name in names), rest)


def _statement(compared: Comparison, name: str) -> str:
    """Return a fact about a wrong array."""
    k = next(k for k, wrong in enumerate(compared.wrong) if name in wrong)
    one, right = compared.given[k].get(name), compared.right[k][name]
    if one is None:
        return f"{name} is missing"
    if not is_number(one):
        real = ". Of complex numbers, .real and .imag are real" * bool(np.iscomplexobj(one))
        return f"{name} is an array of {np.asarray(one).dtype}, wanted one of real numbers{real}"
    is_gradient, has_shape = re.fullmatch(r"d\w+", name) is not None, np.shape(one) == right.shape
    missing = _missing_rows(one, right) if np.ndim(one) and np.ndim(one) == right.ndim else ""
    if missing or not (is_gradient or has_shape):
        return f"{name} has shape {np.shape(one)}, wanted {right.shape}{missing}"
    for finding in explain(one, right, name=name[1:] if is_gradient else name):
        if is_gradient or finding.kind in _OF_ANY:
            return name + finding.cause.removeprefix(finding.subject)
    return _example(name, np.asarray(one), right)


def _missing_rows(one: Array, right: Array) -> str:
    """Return the missing rows of the right array, if all others are right; otherwise ""."""
    if one.shape[1:] != right.shape[1:] or len(one) >= len(right):
        return ""
    rows = [number for number, row in enumerate(right) if not any(np.allclose(row, each) for each in one)]
    if len(one) + len(rows) != len(right):
        return ""
    numbers, zero = ", ".join(map(str, rows)), "" if right[rows].any() else ", which are 0"
    return (
        f": row {numbers} of {len(right)} (counted from 0) {'is' if len(rows) == 1 else 'are'} missing{zero}. Start "
        "with np.zeros of the whole shape, and put your rows in their places"
    )


def _example(name: str, one: Array, right: Array) -> str:
    """Return the first number that differs."""
    wrong = ~np.isclose(one, right, rtol=1e-6, atol=1e-6 * np.abs(right).max(initial=0))
    if not wrong.any():
        return f"{name} is right in only about 6 digits"
    place = tuple(map(int, np.argwhere(wrong)[0]))
    where = f" at {list(place)}" if place else ""
    count = f"; {int(wrong.sum())} of its {wrong.size} numbers are wrong" if wrong.size > 1 else ""
    return f"{name} is wrong: {one[place]:.6g}{where}, wanted {right[place]:.6g}{count}"
