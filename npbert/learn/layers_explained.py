"""What is true of a layer that is wrong: what the gradient check finds, and what it does to others' arrays."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.core import Tape
from npbert.gradcheck.inputs import as_tuple
from npbert.learn.attempt import Failure, attempt, sentence
from npbert.learn.exercise import Finding
from npbert.learn.layers_made import check_of, file_of, given_of, make
from npbert.learn.layers_run import BETWEEN
from npbert.learn.numbers import Numbers
from npbert.learn.wrong_arrays import same_each_time


def explain_layer(setting: Setting, layer_class: type[Any], names: dict[str, str]) -> list[tuple[str, str]]:
    """What the gradient check finds to be true of the error, of which gradient."""
    layer, inputs, rng = make(setting, layer_class, 0)
    report = attempt(lambda: check_of(layer)(layer, *inputs, rng=rng), file_of(layer_class))
    if isinstance(report, Failure):
        return [("", sentence(in_the_learners_letters(report.message, given_of(setting))))]
    found = []
    findings = report.diagnosis
    if len(findings) > 1:  # what the gradients of two backwards show already
        findings = [finding for finding in findings if "is set by backward" not in finding.text]
    for finding in _true_of_another_point(setting, layer_class, findings):
        called = names.get(finding.where, f"d{finding.where}")
        text = in_the_learners_letters(finding.text, given_of(setting))
        for name, gradient in {finding.where: called, **names}.items():
            text = re.sub(rf"\bd{re.escape(name)}\b", gradient, text)
        found.append((called, sentence(text)))
    return found


def _true_of_another_point(setting: Setting, layer_class: type[Any], findings: list[Any]) -> list[Any]:
    """The findings, where those of a factor also say what it is at another point, if it is another one there."""
    if not any(finding.what == "factor" for finding in findings):
        return findings
    layer, inputs, rng = make(setting, layer_class, 1)
    report = attempt(lambda: check_of(layer)(layer, *inputs, rng=rng))
    there = {} if isinstance(report, Failure) else {(each.what, each.where): each.text for each in report.diagnosis}
    return [
        finding._replace(text=same_each_time(finding.text, there.get((finding.what, finding.where), finding.text)))
        if finding.what == "factor"
        else finding
        for finding in findings
    ]


class _FrozenTape(Tape):
    """What it gives back cannot be written to."""

    def take(self, layer: Any) -> Any:
        return _frozen(super().take(layer))


def _frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return type(value)(map(_frozen, value)) if type(value) in (tuple, list) else value


def changed_in_place(setting: Setting, layer_class: type[Any]) -> str:
    """Of an answer that is wrong: which line of it changes what forward kept, if one does."""
    layer, inputs, rng = make(setting, layer_class, 0)
    tape = _FrozenTape(rng)
    y = attempt(lambda: layer.forward(*inputs, tape=tape))
    if isinstance(y, Failure):
        return ""
    dy = tuple(np.ones(np.shape(part)) for part in as_tuple(y))
    found = attempt(lambda: layer.backward(dy if isinstance(y, tuple) else dy[0], tape), file_of(layer_class))
    if not (isinstance(found, Failure) and "read-only" in found.message and found.line):
        return ""
    return (
        f"Line {found.line} changes what forward kept, in place: is that needed once more after it?\n\n  {found.code}"
    )


def in_the_learners_letters(text: str, given: str) -> str:
    """What the gradient check says, with the names that stand in the exercise.

    given: what backward is given, as `dc`; so c is what forward returns. The number that the gradient check derives is
    called L, and not S, as S may be the scores.
    """
    text = re.sub(r"^( +)S = ", r"\1L = ", text, flags=re.MULTILINE).replace("So dS/d", "So dL/d")
    return re.sub(r"\bdy\b", given, re.sub(r"(?<!\w)y(?!\w)", given[1:], text)) if given != "dy" else text


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
