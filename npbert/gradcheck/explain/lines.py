"""Edits of the lines whose numbers a right code lacks, and the line to look at first, if none helps."""

import ast
from collections.abc import Iterator

import numpy as np

from npbert.gradcheck.explain.edits import Edit, edits_of, statement_edits
from npbert.gradcheck.explain.foreign import transplants
from npbert.gradcheck.explain.places import CodePlace, places_in
from npbert.gradcheck.explain.survey import Made, Survey
from npbert.gradcheck.explain.trace import Trace, telling, watched
from npbert.gradcheck.explain.trial import has_failed, is_equal

_LOST = "Line {{}} computes the right {}: look at what happens to it after that."
_NEW = (
    "Look from line {} on, and at what it uses: it is the first with numbers that the library's answer does not have."
)


def line_edits(survey: Survey, *, alone: bool) -> Iterator[Made]:
    """Yield the edits of these lines after which an output is right; or, unless `alone`, fewer lines are unknown."""
    right = survey.right
    if right is None:
        return
    for place in survey.unknown:
        for edit, is_new in sorted(_toward(place, survey, right), key=lambda each: each[0].rank):
            made = None if survey.trial.is_over else survey.made(edit)
            if not (made or alone or survey.trial.is_over) and is_new:
                made = _made_known(edit, survey, right)
            if made:
                yield made


def _toward(unknown: CodePlace, survey: Survey, right: Trace) -> Iterator[tuple[Edit, bool]]:
    """Yield the edits of a statement with which it may have numbers of the right code, and whether they are new; none
    if it reads numbers that the right code lacks, as then an earlier line comes first."""
    here = [place for place in survey.reach if place.statement is unknown.statement]
    if not all(right.names_of(array) for each in here if each.is_name for array in telling(each.value)):
        return
    code = survey.code
    yield from ((edit, True) for edit in statement_edits(code, [unknown.statement], ()))
    for whole in here:
        if whole.is_whole and whole.is_float:
            start, end = code.span(whole.expr)
            for place in here:
                if start <= code.span(place.expr)[0] < end:
                    for edit in edits_of(place, survey.vocabulary, lambda _: True):
                        before, after = code.text[start : edit.start].decode(), code.text[edit.end : end].decode()
                        after_it = f"{before}{edit.new}{after}"
                        if survey.has_right_numbers(after_it, whole.env):
                            yield edit, bool(survey.has_right_numbers(after_it, whole.env, is_new=True))
            yield from ((edit, True) for edit in transplants(whole, survey))


def whole_edits(survey: Survey) -> Iterator[Made]:
    """Yield the expressions of the right code that make an output right in the place of any value of a statement, even
    if that is computed from other wrong numbers."""
    for place in survey.reach if survey.right else ():
        if place.is_whole and place.is_float and place.statement not in survey.fine:
            made = (survey.made(edit) for edit in transplants(place, survey))
            yield from filter(None, made)


def _made_known(edit: Edit, survey: Survey, right: Trace) -> Made | None:
    """Return the code with the edit, if fewer lines are unknown, and no right output is wrong."""
    edit = edit.tidied(survey.code)
    code = edit.of(survey.code)
    if has_failed([survey.trial.look(survey.trial.compiled(code), survey.first)]):
        return None
    _, unknown = right.verdicts(watched(survey.trial, code, places_in(code), survey.first))
    if len(unknown) >= len(survey.unknown):
        return None
    after = survey.trial.looks(code)
    keeps = all(now.right <= then.right for now, then in zip(survey.now, after, strict=True))
    return (edit, code, after) if keeps else None


def suspect(survey: Survey) -> tuple[CodePlace, str] | None:
    """Return the first place with the right value of a wrong output, or the first computed result that is in no right
    run, or is no right result: wrong outputs come from it, and no right ones; with a sentence for it."""
    now = survey.now[survey.first]
    for place, value, _ in watched(survey.trial, survey.code, places_in(survey.code), survey.first):
        for name, (_, right) in now.arrays.items() if place.is_result and isinstance(value, np.ndarray) else ():
            if name in now.wrong and right.any() and is_equal(value, right):
                return place, _LOST.format(name)
    computing = {each.statement for each in survey.reach if each.is_whole and each.is_float}
    for place, array in survey.unknown.items():
        is_known = survey.right and survey.right.has(array)  # under another name
        if place.statement in computing and (not is_known or isinstance(place.statement, ast.Return)):
            return place, _NEW
    return None
