"""Edits by the numbers and the expressions of a right code, and the line to look at first, if none helps.

`line_edits` go line by line, to the first whose numbers the right code lacks; `whole_edits` replace a result, whatever
it was computed from. `transplants` are the right code's expressions in the names of the author's code: a name of the
right code stands for a value. If the author's code has the value, under any name, that name replaces it; otherwise the
expression that the right code assigns to it does.
"""

import ast
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.code import names_in, text_of, tidied
from npbert.gradcheck.explain.edits import Edit, edits_of, statement_edits
from npbert.gradcheck.explain.grammar import KINDS
from npbert.gradcheck.explain.places import CodePlace, places_in
from npbert.gradcheck.explain.search import Search
from npbert.gradcheck.explain.trace import Trace, telling, watched
from npbert.gradcheck.explain.trial import has_failed, is_equal

_LOST = "Line {{}} computes the right {}: look at what happens to it after that."
_EARLY = "In line {{}}, this is a value that the library's answer has on the way to {}: a step is missing after it."
_NEW = (
    "Look from line {} on, at what it uses, and at what may be missing before it: it is the first with numbers that "
    "the library's answer does not have."
)


def line_edits(search: Search, *, alone: bool) -> Iterator[Search]:
    """Yield the edits of unknown lines after which an output is right; or, unless `alone`, fewer lines are unknown:
    first those with new numbers."""
    edits = (
        each for place in search.unknown for each in sorted(_toward(place, search), key=lambda each: each[0].rank())
    )
    for edit, newness in edits if alone else sorted(edits, key=itemgetter(1), reverse=True):
        if search.trial.is_over:
            return
        made = search.made(edit)
        if newness and not (made or alone):
            made = _made_known(edit, search)
        if made:
            yield made


def _toward(unknown: CodePlace, search: Search) -> Iterator[tuple[Edit, int]]:
    """Yield the edits of a statement with which it may have numbers of the right code, and their newness; none if it
    reads numbers that the right code lacks, as then an earlier line comes first."""
    here = [place for place in search.reach if place.statement is unknown.statement]
    if search.trial.is_over or not all(
        search.right.has(array) for each in here if each.is_name for array in telling(each.value)
    ):
        return
    code = search.code
    yield from ((edit, 1) for edit in statement_edits([unknown], search.vocabulary))
    for whole in here:
        if whole.is_whole and whole.is_float:
            start, end = code.span(whole.expr)
            for place in here:
                if start <= code.span(place.expr)[0] < end:
                    for edit in edits_of(place, search.vocabulary, KINDS):
                        if search.trial.is_over:
                            return
                        after_it = code.piece((start, end), edit.changes)
                        if arrays := search.known_arrays(after_it, whole.env):
                            yield edit, _newness(arrays, whole, search)
            yield from ((edit, 1) for edit in transplants(whole, search))


def _newness(arrays: list[Array], place: CodePlace, search: Search) -> int:
    """Return 0 if the right numbers of an edit repeat, or are those of a variable, and so may be right by chance; 2 if
    the code does not have them; and 1 otherwise."""
    for array in arrays:
        repeats = len(np.unique(array)) < np.count_nonzero(array) / 2
        if repeats or any(np.array_equal(array, other) for other in place.env.values()):
            return 0
    return 2 - all(map(search.own.has, arrays))


def whole_edit(search: Search) -> list[Search]:
    """Return the first expression of the right code that makes an output right in the place of any value of a
    statement, even if that is computed from other wrong numbers; [] without one."""
    for place in search.reach:
        is_zero = isinstance(place.value, np.ndarray) and not place.value.any()  # to be filled
        is_computed = place.is_whole and place.is_float and (not is_zero or has_failed(search.now))
        if is_computed and place.statement not in search.fine:
            for edit in transplants(place, search):
                whole = edit if edit.kind == "missing term" else _of_result(edit, place, search)
                if made := search.made(whole):
                    return [made]
        if search.trial.is_over:
            break
    return []


def _of_result(edit: Edit, place: CodePlace, search: Search) -> Edit:
    """Return the edit of a result: of the first line that writes wrong numbers into it, if it is only passed on; or of
    a line before that only chooses wrong ones, such as the wrong half of an array."""
    names, first = {name.id for name in names_in(place.expr)}, None
    passed_on = names.copy() if place.is_given and not isinstance(place.expr, ast.BinOp) else set()
    computing = {each.statement for each in search.places if each.is_float and isinstance(each.expr, ast.BinOp)}
    for wrong, array in reversed(search.unknown.items()):
        name, statement = text_of(wrong.expr), wrong.statement
        if wrong.is_target and name in names and not search.right.has(array):  # under no other name
            names |= {each.id for each in names_in(statement)}
            chooses = statement not in computing and not isinstance(statement, ast.AugAssign)
            if chooses or name in passed_on:
                first = statement
    return replace(edit, kind="result", told=first)


def _made_known(edit: Edit, search: Search) -> Search | None:
    """Return the code with the edit, if fewer lines are unknown, and no right output is wrong."""
    edit = edit.tidied()
    code = edit.applied
    if has_failed([search.trial.look(search.trial.compiled(code), search.first)]):
        return None
    _, unknown = search.right.verdicts(watched(search.trial, code, places_in(code), search.first))
    if len(unknown) >= len(search.unknown):
        return None
    made = search.after(edit)
    keeps = all(now.right <= then.right for now, then in zip(search.now, made.now, strict=True))
    return made if keeps else None


def suspects(search: Search, known: Trace) -> Iterator[tuple[CodePlace, str]]:
    """Yield each place with the right value of a wrong output; then each computed result that is in no right run, or is
    no right result; then a returned value that is right for an earlier one; or, without a right code, the results that
    are not `known`, nor used for what is: wrong outputs come from them, and no right ones. Each with a sentence."""
    now = search.outlook
    wrong = [(name, *pair) for name, pair in now.arrays.items() if name in now.wrong]
    for (place, value, _), (name, _, right) in itertools.product(search.own.events, wrong):
        if place.is_result and isinstance(value, np.ndarray) and right.any() and is_equal(value, right):
            yield place, _LOST.format(name)
    whole = [place for place in search.reach if place.is_whole and place.is_float]
    computing = {place.statement for place in whole}
    for place, array in search.unknown.items():
        is_known = search.right.has(array)  # under another name
        if place.statement in computing and (not is_known or isinstance(place.statement, ast.Return)):
            yield place, _NEW
    only = [place for place in whole if not place.is_name or isinstance(place.statement, ast.Return)]
    for place, (name, given, _) in itertools.product(only, wrong):
        value = np.asarray(place.value)
        known_as = search.right.names_of(value)
        if known_as and "return" not in known_as and is_equal(value, given):  # a result is only in another order
            yield place, _EARLY.format(name)
    if not search.right:
        fine, unknown = known.verdicts([(place, value, 0) for place, value, _ in search.own.events])
        uses = [(name.id, each.lineno) for each in fine if not isinstance(each, ast.Return) for name in names_in(each)]
        new = [
            place
            for place in unknown
            if not isinstance(place.value, dict)
            and not any(name == place.name and line > place.statement.lineno for name, line in uses)
        ]
        moved = {place.statement for place in search.places if place.is_whole and place.has_floats}
        to_blame = {each.statement for each in search.reach if each in search.alone or each.statement not in moved}
        after = [place for place in (new if known else only) if place.statement in to_blame]
        last = max((place.statement.lineno for place in after if not (place.is_given and place.is_name)), default=0)
        for place in after:
            where = f"lines {{}} to {last}" if last > place.statement.lineno else "line {}"
            yield place, f"Look at {where}: only wrong gradients come from there."


def transplants(place: CodePlace, search: Search) -> Iterator[Edit]:
    """Yield the expressions of the right run as edits of a place, the last first; of a sum that it has one term of, the
    other term. None with the right numbers of an output where the code only begins to compute it."""
    code, results = search.code, search.outlook.arrays.values()
    begins = [right for given, right in results if not is_equal(np.asarray(place.value), given)]
    steps = search.right.steps
    for number, (_, step) in reversed([*enumerate(steps)]):
        if step.is_float and not isinstance(step.expr, ast.Name | ast.Constant):
            try:
                text = _in_names(step, steps[:number], place.env)
                value = np.asarray(code.value(text, place.env))
            except Exception:  # a name without a value here, or code of the author's that fails
                continue
            if _is_same(value, step.value) and not any(is_equal(value, right) for right in begins):
                kind = "expression"
                for term, rest in _terms_of(text):
                    if is_equal(np.asarray(code.value(term, place.env)), np.asarray(place.value)):
                        kind, text = "missing term", f"{code.source(place.expr)} + {rest}"
                yield Edit(code, kind, [(*code.span(place.expr), f"({text})")])


def _terms_of(text: str) -> list[tuple[str, str]]:
    """Return each of the two terms of a sum, with the other; [] for any other expression."""
    match ast.parse(text, mode="eval").body:
        case ast.BinOp(left, ast.Add(), right):
            return list(itertools.permutations((text_of(left), text_of(right)), 2))
    return []


def _in_names(step: CodePlace, steps: Sequence[tuple[str, CodePlace]], known: Mapping[str, Any]) -> str:
    """Return an expression of the right code in the author's names. steps: before it. known: the author's variables.
    Raises: ValueError for a name of the right code that has no value here."""

    def named(word: re.Match[str]) -> str:
        name = word[0]
        if name not in step.env:
            return name  # global, or of a comprehension
        value = step.env[name]
        others = known if isinstance(value, np.ndarray) and value.size > 1 else ()  # not by chance
        for each in (name, *others):
            if each in known and _is_same(known[each], value):
                return each
        number = max(number for number, (assigned, _) in enumerate(steps) if assigned == name)
        return f"({_in_names(steps[number][1], steps[:number], known)})"

    return tidied(re.sub(r"(?<![\w.])[^\W\d]\w*", named, text_of(step.expr)))


def _is_same(one: Any, other: Any) -> bool:
    """True if two arrays or numbers are equal, or two other values of one type."""
    if not all(isinstance(each, np.ndarray | np.generic | int | float) for each in (one, other)):
        return type(one) is type(other)
    a, b = np.asarray(one), np.asarray(other)
    return a.dtype.kind == b.dtype.kind and is_equal(a, b)
