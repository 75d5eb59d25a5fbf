"""Edits of the lines whose numbers a right code lacks, and the line to look at first, if none helps."""

from collections.abc import Iterator

from npbert.gradcheck.explain.edits import Edit, edits_of, statement_edits, transplants
from npbert.gradcheck.explain.places import CodePlace, places_in
from npbert.gradcheck.explain.survey import Made, Survey
from npbert.gradcheck.explain.trace import Trace, telling, watched
from npbert.gradcheck.explain.trial import has_failed


def line_edits(survey: Survey, *, alone: bool) -> Iterator[Made]:
    """Yield the edits of these lines after which an output is right; or, unless `alone`, fewer lines are unknown."""
    right = survey.right
    if right is None:
        return
    for place in survey.unknown:
        for edit in sorted(_toward(place, survey, right), key=lambda edit: edit.rank):
            made = None if survey.trial.is_over else survey.made(edit)
            if made:
                yield survey.mending_more(made)
            elif not (alone or survey.trial.is_over) and (made := _made_known(edit, survey, right)):
                yield made


def _toward(unknown: CodePlace, survey: Survey, right: Trace) -> Iterator[Edit]:
    """Yield the edits of a statement with which it may have numbers of the right code; none if it reads numbers that
    the right code lacks, as then an earlier line comes first."""
    here = [place for place in survey.reach if place.statement is unknown.statement]
    if not all(right.has_exactly(array) for each in here if each.is_name for array in telling(each.value)):
        return
    code = survey.code
    yield from statement_edits(code, {place.statement: None for place in here}, ())
    for whole in here:
        if whole.is_whole and whole.is_float:
            start, end = code.span(whole.expr)
            for place in here:
                if start <= code.span(place.expr)[0] < end:
                    for edit in edits_of(place, survey.vocabulary, lambda _: True):
                        before, after = code.text[start : edit.start].decode(), code.text[edit.end : end].decode()
                        if survey.has_right_numbers(f"{before}{edit.new}{after}", whole.env):
                            yield edit
            yield from transplants(whole, code, right.events)


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


def suspect(survey: Survey) -> CodePlace | None:
    """Return the first place whose numbers are in no right run: wrong outputs come from it, and no right ones."""
    for place in survey.unknown:
        is_known = survey.right and all(map(survey.right.has, telling(place.value)))  # under another name
        if not is_known and any(each.statement is place.statement for each in survey.reach):
            return place
    return None
