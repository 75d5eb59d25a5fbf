"""judge: what is wrong with an answer, in words: the line, the kind of mistake and why; or what its numbers show."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck import explain
from npbert.gradcheck.explain import MANNERS, Finding, describe, describe_place
from npbert.learn.attempt import Failure, sentence
from npbert.learn.compared import Beside, is_number
from npbert.learn.exception_help import advised
from npbert.learn.exercise import Message, Part, numbered, paragraphs
from npbert.learn.layer import broken_promise
from npbert.learn.mending import findings_of

UNKNOWN, _OF_ANY, MOST_NAMES = "unknown", ("factor", "order", "not finite"), 6
_SITUATIONS = (*(f"where {words}" for words, _ in MANNERS), "when nothing is dropped")
_DAMAGED = Message(
    "forward does not give the right numbers: it was finished when the file was made.",
    "Something in it, or in what it calls, was changed. Put that right first: backward is compared with the derivative "
    "of the right forward. To see how it was, write the exercises into another folder: `npbert learn --folder again`; "
    "in a notebook, %exercise with its number puts it below.",
)
_CHANGING = (
    "So something is drawn that nobody can repeat (with np.random, or a generator of your own), or something of the "
    "first call is used in the second: what is kept in a default argument, in a global or on the class is still there. "
    "What forward drew is on the tape; backward itself draws and keeps nothing."
)


def judge(part: Part, thing: Any, *, mends: bool = True) -> Message | None:
    """Explain what is wrong with `thing`, which was written in the place of the library's; None if nothing is.

    mends: look for the edit that makes a wrong answer right, which takes longer. Raises: NotImplementedError where the
    line that stands for the answer is still there; its argument is the number of that line.
    """
    beside = Beside(part, thing)
    k = beside.first_wrong()
    if k is None:
        return part.prove(thing)
    stopped = beside.stopped()
    if stopped is not None and stopped.kind == "NotImplementedError":
        raise NotImplementedError(stopped.line)
    findings = findings_of(beside) if mends and part.is_mended and (stopped or not _of_first(beside)) else []
    if stopped is not None:
        return _stopped(beside.part, stopped, findings)
    message = _of_first(beside) or _broken(beside, findings) or _told(beside, findings)
    situation = _SITUATIONS[part.seeds[k] // 2]
    where = f"It is so {situation}; otherwise it is right." if k and situation != _SITUATIONS[0] else ""
    return message._replace(because=paragraphs(message.because, where))


def _stopped(part: Part, failure: Failure, findings: list[Finding]) -> Message:
    """The message on code that stops: where, why, and the edit that mends it."""
    help_ = advised(part.advice, failure.said) or failure.help
    return failure._replace(help=help_).finding._replace(findings=tuple(findings))


def _broken(beside: Beside, findings: list[Finding]) -> Message | None:
    """The message on a layer that breaks a promise, and on the line that does: where its numbers are right, or where no
    gradient can be right without it."""
    failure = next((each.stopped for each in beside.given if each.stopped), None)
    if failure is None or (beside.all_wrong() and failure.kind == "PromiseError"):
        return None
    if beside.all_wrong():
        return failure.finding
    promise = broken_promise(failure)
    mended = numbered([_message(beside.part, each) for each in findings if not each.is_of_right_code] or [promise])
    return Message(mended.says, paragraphs(promise.because, mended.because), tuple(findings))


def _of_first(beside: Beside) -> Message | None:
    """What has to be put right before anything else."""
    k = beside.first_wrong() or 0
    if beside.wrong_at(k) & set(beside.part.fixed):
        return _DAMAGED
    for name, array in beside.given[k].numbers.items():
        if not is_number(array):
            says = sentence(f"{name} is an array of {np.asarray(array).dtype}, wanted one of real numbers")
            return Message(says, "Of complex numbers, .real and .imag are real." * np.iscomplexobj(array))
    first, again = beside.given[0], beside.again(beside.part.seeds[0])
    for name, array in first.numbers.items():
        other = again.numbers.get(name)
        if (
            other is None
            or np.shape(other) != np.shape(array)
            or not np.allclose(array, other, 1e-9, 0, equal_nan=True)
        ):
            return Message(
                sentence(f"{name} is another one in a second call, though all that is given is the same"), _CHANGING
            )
    return None


def _told(beside: Beside, findings: list[Finding]) -> Message:
    """The message on wrong numbers: on the code, if edits explain them; on the numbers themselves, where none does."""
    seen = beside.part.watched(beside.thing)
    wrong, suspects = beside.all_wrong(), [each for each in findings if each.kind == UNKNOWN]
    empty = {name for name in wrong if not any(np.any(each.numbers.get(name, 1)) for each in beside.given)}
    findings = [each for each in findings if each not in suspects]
    findings = [each for each in findings if not each.is_of_right_code or each.subject not in empty]
    findings.sort(key=lambda finding: (not finding.line, finding.line))  # those without a line come last
    messages = [_message(beside.part, finding) for finding in findings]
    explained = {name for each in findings for name in each.subject.split(", ")}
    left = [name for name in wrong if name not in explained and not ("." in name and explained)]
    if seen is not None:
        first = messages[0]._replace(because=paragraphs(messages[0].because, seen.says)) if messages else seen
        return Message(first.says, paragraphs(first.because, seen.because), (*findings, *seen.findings))
    came = [name for name in left if any(name in each.numbers for each in beside.given)]
    if left := came or left:  # what comes after what is not right is told when it is
        place = describe_place(suspects[0]) if suspects and not empty else ""
        messages.append(_of_numbers(beside, left, place))
        findings += suspects
    return numbered(messages)._replace(findings=tuple(findings))


def _message(part: Part, finding: Finding) -> Message:
    """In words: the line, the kind and the cause; and why the right formula is as it is."""
    says, _, rest = describe(finding).partition("\n")
    names = [name for name in part.reasons if name in finding.subject.split(", ")]
    names = [finding.subject] if finding.subject in part.reasons else names
    return Message(says, paragraphs(rest, part.reasons[names[0]] if len(names) == 1 else ""))


def _of_numbers(beside: Beside, names: Sequence[str], place: str) -> Message:
    """A sentence on the numbers of each of these arrays, at the first sample where it is wrong."""
    told = [sentence(_statement(beside, name)) for name in names]
    reasons = [beside.part.reasons.get(name, "") for name in names]
    right = [name for name in beside.right[0] if name not in (*beside.all_wrong(), *beside.part.fixed)]
    is_are = "is" if len(right) == 1 else "are"
    others = f"{', '.join(right)} {is_are} right." if 0 < len(right) < MOST_NAMES else ""
    return Message(told[0], paragraphs(place, *told[1:], *reasons, others))


def _statement(beside: Beside, name: str) -> str:
    """What is true of an array that is not right."""
    k = next(k for k in range(len(beside.given)) if name in beside.wrong_at(k))
    one, right = beside.given[k].numbers.get(name), beside.right[k][name]
    if one is None:
        return f"there is no {name}"
    if np.ndim(one) and np.ndim(one) == np.ndim(right) and (rows := _missing_rows(one, right)):
        return f"{name} has shape {np.shape(one)}, wanted {np.shape(right)}: {rows}"
    is_gradient = re.fullmatch(r"d\w+", name) is not None
    if not is_gradient and np.shape(one) != right.shape:
        return f"{name} has shape {np.shape(one)}, wanted {right.shape}"
    for finding in explain(one, right, name=name[1:] if is_gradient else name):
        if is_gradient or finding.kind in _OF_ANY:
            return name + finding.cause.removeprefix(finding.subject)
    return _example(name, np.asarray(one), right)


def _missing_rows(one: Array, right: Array) -> str:
    """Which rows of the right array are not in the other, if all of its own are; else ""."""
    if np.shape(one)[1:] != right.shape[1:] or len(one) >= len(right):
        return ""
    rows, at = [], 0
    for number, row in enumerate(right):
        if at < len(one) and np.allclose(one[at], row):
            at += 1
        else:
            rows.append(number)
    if at < len(one):
        return ""
    zero = ", which are 0" if not right[rows].any() else ""
    return (
        f"row {', '.join(map(str, rows))} of {len(right)} (counted from 0) {'is' if len(rows) == 1 else 'are'} missing"
        f"{zero}. Begin with np.zeros of the whole shape, and put your rows where they belong in it"
    )


def _example(name: str, one: Array, right: Array) -> str:
    """The first number that differs."""
    wrong = ~np.isclose(one, right, rtol=1e-6, atol=1e-6 * np.abs(right).max(initial=0))
    if not wrong.any():
        return f"{name} is nearly right, but only in about 6 digits"
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    where = f" at {list(place)}" if place else ""
    count = f"; {int(wrong.sum())} of its {wrong.size} numbers are wrong" if wrong.size > 1 else ""
    return f"{name} is wrong: {one[place]:.6g}{where}, wanted {right[place]:.6g}{count}"
