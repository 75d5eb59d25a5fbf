"""Every exercise: its file, its right answers in several styles, and its known wrong answers, each named."""

import ast
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from npbert.catalogue import CATALOGUE
from npbert.gradcheck import GradientError, check_directions
from npbert.learn import NOT_BEGUN, RIGHT, WRONG, judge_file
from npbert.learn.chapters import CHAPTERS
from npbert.learn.exercises import EXERCISES
from npbert.learn.numbers import NumbersPart
from tests.learn import right_answers
from tests.learn.answering import answered

PARTS = [(exercise, part) for exercise in EXERCISES.values() for part in exercise.parts]
MISTAKES = {
    f"{exercise.slug}, {part.name}: {mistake.name}": (part, mistake)
    for exercise, part in PARTS
    for mistake in part.mistakes
}
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


@pytest.mark.parametrize(("part", "mistake"), MISTAKES.values(), ids=MISTAKES)
def test_a_known_mistake_is_named(part, mistake):
    finding = part.judge(mistake.thing)
    assert finding.says == mistake.says
    assert finding.because.startswith(mistake.because)


@pytest.mark.parametrize(("number", "style"), STYLES)
def test_a_right_answer_is_right_in_any_style(number, style, judge):
    verdict = judge(EXERCISES[number], answered(number, right_answers.RIGHT[number][style]))
    assert (verdict.status, verdict.says) == (RIGHT, "")


@each_exercise
def test_there_are_three_right_answers_and_four_wrong_ones_that_say_what_and_why(exercise):
    assert len(right_answers.RIGHT[exercise.number]) >= 3
    mistakes = [mistake for part in exercise.parts for mistake in part.mistakes]
    assert len(mistakes) >= 4
    assert all(
        mistake.says.endswith(".") and mistake.because.endswith((".", ")", "")[: 2 + (exercise.number == 15)])
        for mistake in mistakes
    )
    for part in exercise.parts:
        assert len({mistake.says for mistake in part.mistakes}) == len(part.mistakes)


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


CAUGHT = ("WRONG", "is set by backward", "a gradient of shape", "forward gives another y without a tape")
LAYERS = {
    name: (part, mistake)
    for name, (part, mistake) in MISTAKES.items()
    if part.name in CATALOGUE and mistake.name not in ("scaled_in_evaluation", "axis_one")
}


@pytest.mark.parametrize(("part", "mistake"), LAYERS.values(), ids=LAYERS)
def test_gradcheck_rejects_what_an_exercise_knows_to_be_wrong(part, mistake):
    """At the catalogue's own point, along directions, like all planted bugs (tests/planted)."""
    layer, inputs, rng = CATALOGUE[part.name].make(mistake.thing)
    try:
        said = "right" if check_directions(layer, *inputs, rng=rng).ok else "WRONG"
    except (GradientError, ValueError) as error:
        said = str(error)
    assert any(words in said for words in CAUGHT), said


@pytest.mark.parametrize(("exercise", "part"), PARTS, ids=lambda one: getattr(one, "slug", getattr(one, "name", "")))
def test_what_is_asked_for_says_in_the_library_which_exercise_it_is(exercise, part):
    if not getattr(part.right, "__module__", "npbert.learn").startswith("npbert.learn") and part.name != "AdamW":
        assert f"xercise {exercise.number}" in part.right.__doc__
