"""Wrong answers to exercises 10 to 15 that are in no catalogue are told what is wrong."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from npbert.learn import RIGHT, WRONG, judge_file
from npbert.learn.exercises import EXERCISES
from npbert.learn.exercises.attention_of_one_head import ONE_HEAD
from npbert.learn.exercises.attention_padded import HEADS
from tests.learn.answering import answered
from tests.learn.wrong_answers_last import OF_ONE_EXERCISE, wrong_answers

ANSWERS = list(wrong_answers())


@pytest.fixture
def judge(tmp_path):
    def judge(number, bodies, parts=slice(None)):
        exercise = replace(EXERCISES[number], parts=EXERCISES[number].parts[parts])
        path = tmp_path / exercise.file_name
        path.write_text(answered(number, bodies), encoding="utf-8")
        return judge_file(exercise, path)

    return judge


@pytest.mark.parametrize("number", OF_ONE_EXERCISE)
def test_the_answers_that_are_changed_are_right(number, judge):
    assert judge(number, OF_ONE_EXERCISE[number]).status == RIGHT


@pytest.mark.parametrize(("number", "name", "body", "says"), ANSWERS, ids=[f"{a[1]}: {a[3][:40]}" for a in ANSWERS])
def test_a_wrong_answer_is_told_what_is_wrong(number, name, body, says, judge):
    part = list(OF_ONE_EXERCISE[number]).index(name)
    verdict = judge(number, {**OF_ONE_EXERCISE[number], name: body}, slice(part, None if name == "step" else part + 1))
    assert verdict.status == WRONG
    assert says in f"{verdict.says}\n{verdict.because}"


@pytest.mark.parametrize(
    ("setting", "sizes"), [(ONE_HEAD, ("N", "H", "D", "M", "T")), (HEADS, ("N", "H", "D", "T"))], ids=["one", "several"]
)
def test_no_size_can_be_taken_for_another(setting, sizes):
    """Each size of attention is there, none is 1, and no two have a common factor."""
    module = __import__(setting.inputs.__module__, fromlist=["N"])
    numbers = [getattr(module, size) for size in sizes]
    assert all(math.gcd(one, other) == 1 for one, other in itertools.combinations(numbers, 2))
    assert min(numbers) > 1
    given = [value for value in setting.inputs(np.random.default_rng(0)) if isinstance(value, np.ndarray)]
    assert math.prod(numbers) in {given[0].size, given[0].size * module.T}


def test_the_letters_are_those_of_the_exercise(judge):
    """c is what forward returns; what the gradient check derives is called L, as S are the scores."""
    body = OF_ONE_EXERCISE[10]["PaddedAttention.backward"].replace("-2) @ dc", "-2) @ dc**2")
    verdict = judge(10, {**OF_ONE_EXERCISE[10], "PaddedAttention.backward": body})
    text = f"{verdict.says}\n{verdict.because}"
    assert "L = Σ dc · c" in text
    assert "dL/dv[" in text
    assert "S =" not in text and "dS" not in text
    assert "dv is not right; c, dq and dk are." in verdict.because
