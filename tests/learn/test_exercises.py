"""Every exercise: its file, its right answers in several styles, and its known wrong answers, none of them accepted."""

import ast
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from npbert.learn import NOT_BEGUN, RIGHT, WRONG, judge_file
from npbert.learn.chapters import CHAPTERS
from npbert.learn.exercises import EXERCISES
from npbert.learn.mending import left_out
from npbert.learn.numbers import NumbersPart
from tests.learn import right_answers
from tests.learn.answering import answered
from tests.learn.answers import right_answers as right_texts
from tests.learn.answers import wrong_answers

PARTS = [(exercise, part) for exercise in EXERCISES.values() for part in exercise.parts]
MENDED = [
    (2, "weight_averaged", "drop factor"),
    (2, "bias_averaged", "sum or mean"),
    (2, "weight_set", "accumulate"),
    (2, "input_with_reshaped_weight", "transpose"),
    (7, "sign_of_the_deviation", "sign"),
    (7, "gamma_set", "accumulate"),
]
"""(exercise, mistake, kind of the edit that mends it)"""
STYLES = [(number, style) for number, styles in right_answers.RIGHT.items() for style in range(len(styles))]
each_exercise = pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda exercise: exercise.slug)


@pytest.fixture
def judge(tmp_path):
    """judge(exercise, text) -> the verdict on a file with this text."""

    def judge(exercise, text):
        path = tmp_path / exercise.file_name
        path.write_text(text, encoding="utf-8")
        return judge_file(exercise, path)

    return judge


@each_exercise
def test_no_known_wrong_answer_is_accepted_and_no_right_one_refused(exercise, judge):
    """505 wrong answers as data, judged without being mended."""
    with left_out():
        accepted = [name for name, text, _ in wrong_answers(exercise.number) if judge(exercise, text).status != WRONG]
        refused = [text for text in right_texts(exercise.number) if judge(exercise, text).status != RIGHT]
    assert (accepted, refused) == ([], [])


@pytest.mark.parametrize(("number", "name", "kind"), MENDED, ids=[f"{n:02} {name}" for n, name, _ in MENDED])
def test_a_wrong_answer_is_told_by_its_line_and_kind(number, name, kind, judge):
    (answer,) = (each for each in wrong_answers(number) if each.name == name)
    verdict = judge(EXERCISES[number], answer.text)
    assert kind in {finding.kind for finding in verdict.findings}
    assert {finding.line for finding in verdict.findings} & {*answer.lines, 0}
    assert verdict.says


@pytest.mark.parametrize(("number", "style"), STYLES)
def test_a_right_answer_is_right_in_any_style(number, style, judge):
    verdict = judge(EXERCISES[number], answered(number, right_answers.RIGHT[number][style]))
    assert (verdict.status, verdict.says) == (RIGHT, "")


@each_exercise
def test_a_file_that_was_not_touched_is_not_begun(exercise, judge):
    """Not even if a comment was added, or a line in the docstring."""
    assert judge(exercise, exercise.source()).status == NOT_BEGUN
    assert judge(exercise, exercise.source() + "\n# later\n").status == NOT_BEGUN


@each_exercise
def test_the_library_itself_is_right(exercise):
    assert [part.judge(part.right) for part in exercise.parts] == [None] * len(exercise.parts)


@each_exercise
def test_a_file_is_whole(exercise):
    """It is short enough to read, its lines fit, it says what to do, and it needs nothing but NumPy and npbert."""
    text = exercise.source()
    tree = ast.parse(text)
    assert len(ast.get_docstring(tree)) > 200
    assert max(map(len, text.splitlines())) <= 120
    assert text.count("raise NotImplementedError") == len(exercise.blanks) or exercise.number == 15
    modules = {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    assert {name.partition(".")[0] for name in modules} - sys.stdlib_module_names <= {"numpy", "npbert"}
    assert len(exercise.hints) == 3


@pytest.mark.parametrize(("number", "style"), [style for style in STYLES if style[1] == 1])
def test_a_right_answer_is_right_at_any_seed(number, style, judge):
    exercise = EXERCISES[number]
    seeds = tuple(range(20))
    parts = [replace(part, seeds=seeds) if isinstance(part, NumbersPart) else part for part in exercise.parts]
    text = answered(number, right_answers.RIGHT[number][style])
    assert judge(replace(exercise, parts=tuple(parts)), text).status == RIGHT


@each_exercise
def test_part_of_an_answer_is_not_finished(exercise, judge):
    text = re.sub(r"( +)(raise NotImplementedError)", r"\1z = 1\n\1\2", exercise.source())
    if exercise.number != 15:
        verdict = judge(exercise, text)
        assert verdict.status == WRONG
        assert "not finished: the `raise NotImplementedError` in line" in verdict.says


@pytest.mark.parametrize("chapter", CHAPTERS.values(), ids=lambda chapter: chapter.file)
def test_a_chapter_has_the_title_that_it_is_called_by(chapter):
    path = Path(__file__).parents[2] / "docs" / chapter.file
    assert path.read_text(encoding="utf-8").startswith(f"# {chapter.number}. {chapter.title}\n")


@pytest.mark.parametrize(("exercise", "part"), PARTS, ids=lambda one: getattr(one, "slug", getattr(one, "name", "")))
def test_what_is_asked_for_says_in_the_library_which_exercise_it_is(exercise, part):
    if not getattr(part.right, "__module__", "npbert.learn").startswith("npbert.learn") and part.name != "AdamW":
        assert f"xercise {exercise.number}" in part.right.__doc__
