"""Every exercise: its file, its right answers in several styles, and its known wrong answers, none of them accepted."""

import itertools
import re
from dataclasses import replace
from functools import partial
from inspect import getmodule
from operator import itemgetter

import pytest

from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.restoring import in_place_of
from npbert.learn import NOT_BEGUN, RIGHT, WRONG
from npbert.learn.exercises import ALL, EXERCISES
from npbert.learn.failure import attempt, load
from npbert.learn.judge import Comparison, judge as judged
from tests.learn.answers import right, right_answer, wrong_answers
from tests.tables import one_in, one_of_each

MENDED = [
    (1, "central_difference: same_array", "copy", "the gradient"),
    (2, "input_with_reshaped_weight", "transpose", "dx"),
    (6, "last_of_repeated_ids_wins", "repeated index", "dW"),
    (6, "added_to_a_copy", "temporary", "dW"),
    (5, "blind_rows_of_targets", "index", "dlogits"),
    (5, "blind_maximum_and_dloss", "missing term", "dlogits"),
    (11, "embedding_into_a_copy", "needless copy", "dE"),
    (2, "input_times_x", "too much", "dx"),
    (7, "gamma_set", "= or +=", "the gradient of gamma after two backwards"),
    (17, "gate_lost", "unused result", "dx"),
    (
        13,
        "clip_by_global_norm: root_forgotten",
        "missing root",
        "a short gradient afterwards, the gradient afterwards, the result",
    ),
    (11, "rows_by_place", "result", "dE"),
    (9, "blind_nothing_past", "overwritten", "dz"),
]
"""(exercise, mistake, kind of the edit that mends it, what is wrong)"""
STYLES = [(number, style) for number in EXERCISES for style in right(number)]
each_exercise = pytest.mark.parametrize("exercise", ALL.values(), ids=lambda exercise: exercise.slug)


def blanks_named(exercise, name):
    """The exercise, of which only the blank of this name is judged."""
    return replace(exercise, blanks=tuple(blank for blank in exercise.blanks if blank.name == name))


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda exercise: exercise.slug)
def test_no_known_wrong_answer_is_accepted(exercise, tmp_path, thorough, monkeypatch):
    """Hundreds of wrong answers as data, judged without being mended; without --thorough, one in twelve."""
    monkeypatch.setattr("npbert.learn.judge.findings_of", lambda compared: [])
    accepted, path = [], tmp_path / exercise.file_name
    at_one_seed = {blank.name: replace(blank, seeds=blank.seeds[1:3][-1:]) for blank in exercise.blanks}
    for answer in itertools.islice(wrong_answers(exercise.number), None, None, 1 if thorough else 12):
        path.write_text(answer.text, encoding="utf-8")
        module = load(path, answer.text)
        (blank,) = blanks_named(exercise, answer.part).blanks
        tried = at_one_seed[answer.part], blank  # one seed tries no promise, and is not always enough
        if not any(attempt(partial(judged, each, module)) for each in tried):
            accepted.append(answer.name)
    assert accepted == []


@pytest.mark.parametrize(("number", "style"), one_of_each(itemgetter(0), STYLES))
def test_a_right_answer_is_right_in_any_style(number, style, judge):
    """At a quarter of the seeds."""
    exercise, styles = EXERCISES[number], list(right(number))
    name, at = style.partition(":")[0].partition(".")[0], styles.index(style)
    blanks = [replace(blank, seeds=blank.seeds[at % 4 :: 4]) for blank in blanks_named(exercise, name).blanks]
    verdict = judge(replace(exercise, blanks=tuple(blanks)), right_answer(number, style))
    assert (verdict.status, verdict.says) == (RIGHT, "")


@pytest.mark.parametrize(("number", "name", "kind", "subject"), one_in(3, MENDED), ids=lambda value: str(value)[:24])
def test_a_wrong_answer_is_told_by_its_line_and_kind(number, name, kind, subject, judge):
    (answer,) = (each for each in wrong_answers(number) if each.name == name)
    verdict = judge(blanks_named(EXERCISES[number], answer.part), answer.text)
    first, *_ = verdict.findings
    assert (first.kind, first.subject) == (kind, subject) and first.line in answer.lines
    assert f"line {first.line} ({kind})" in verdict.says


def test_all_wrong_blanks_are_told_and_what_inherits_from_one_may_be_right(judge):
    texts = {answer.name: answer.text for answer in wrong_answers(14)}
    adam, kept = texts["Adam.step: uphill"], texts["AdamW.kept: growth"]
    verdict = judge(EXERCISES[14], adam)
    assert [finding.line for finding in verdict.findings] == [69] and verdict.because.endswith("AdamW is right.")
    both = [*adam.splitlines()[:80], *kept.splitlines()[80:]]
    verdict = judge(EXERCISES[14], "\n".join(both))
    assert [finding.line for finding in verdict.findings] == [69, 103]
    assert "\n\nAdamW: kept for a matrix is wrong; line 103 (sign):" in verdict.because


@each_exercise
def test_what_wrong_answers_are_compared_with_is_right(exercise, tmp_path):
    """The code in small steps; and the library's, where no answer in a style of its own is tried."""
    path = tmp_path / exercise.file_name
    path.write_text(exercise.source, encoding="utf-8")
    module = load(path, exercise.source)
    for blank in exercise.blanks:
        if exercise.number not in EXERCISES:
            assert judged(replace(blank, seeds=blank.seeds[::4]), getmodule(blank.right)) is None
        if plain := blank.text.get("plain"):
            plain = Code.parsed(plain, vars(module)).compiled(lambda value=None: None)
            tried = replace(blank, seeds=(3, 4))
            assert len(tried.right_numbers) == 2  # known before the library's class has another method
            with in_place_of(blank.function_of(getmodule(blank.right)), plain):
                assert Comparison(tried, getmodule(blank.right)).first is None


@each_exercise
def test_a_file_that_was_not_touched_is_not_begun_and_part_of_an_answer_not_finished(exercise, judge):
    """Not begun even if a comment was added."""
    source = exercise.source
    assert judge(exercise, source + "\n# later\n").status == NOT_BEGUN
    assert max(map(len, source.splitlines())) <= 120 and len(exercise.hints) == 3
    if exercise.slug != "find_the_bug":
        assert source.count("raise NotImplementedError") == len(exercise.written)
        verdict = judge(exercise, re.sub(r"( +)(raise NotImplementedError)", r"\1z = 1\n\1\2", source))
        assert verdict.status == WRONG
        assert "Not finished: the `raise NotImplementedError` is left in line" in verdict.says
