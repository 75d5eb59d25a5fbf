"""SQuAD v1.1's exact match and F1: by hand, and against torchmetrics."""

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from npbert.training.metrics import SquadScores, exact_match, normalize_answer, squad_scores, token_f1

PIECES = ["the", "The", "A", "an", "a", "cat", "cats", "Ω", "é", "7", ".", "-", "'s", "–", "“", "_", " ", "\t", "\xa0"]
texts = st.lists(st.sampled_from(PIECES), max_size=8).map("".join) | st.text(max_size=12)
word_texts = st.lists(st.sampled_from(["the", "cat", "sat", "on", "mat."]), max_size=6).map(" ".join)
TWO_OF_THREE = 2 * (2 / 3) * (2 / 2) / (2 / 3 + 2 / 2)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The Denver Broncos!", "denver broncos"),
        ("  a\tbig \u00a0 cat\n", "big cat"),
        ("another theme, Ana", "another theme ana"),
        ("Levi's", "levis"),
        ("twenty-one", "twentyone"),
        ("A.N. Other", "other"),
        ("the–end “a” quote", "–end “ ” quote"),
        ("Große Straße", "große straße"),
        ("The.", ""),
    ],
)
def test_normalize_answer(text, normal):
    assert normalize_answer(text) == normal


@pytest.mark.parametrize(
    ("prediction", "answers", "exact", "f1"),
    [
        ("the Broncos.", ["Denver Broncos", "Broncos"], 1, 1),
        ("Broncos of Denver", ["Denver Broncos"], 0, TWO_OF_THREE),
        ("big Denver Broncos", ["Denver Broncos", "Broncos of the west"], 0, TWO_OF_THREE),
        ("big Denver Broncos", ["Broncos of the west", "Denver Broncos"], 0, TWO_OF_THREE),
        ("Panthers", ["Denver Broncos"], 0, 0),
        ("so so so", ["so so"], 0, 2 * 2 / (3 + 2)),
        *((nothing, ["."], 1, 0) for nothing in ("", ".", "the", " a\tthe ")),  # so evaluate-v1.1 has it
    ],
)
def test_one_question_by_hand(prediction, answers, exact, f1):
    assert (exact_match(prediction, answers), token_f1(prediction, answers)) == pytest.approx((exact, f1))
    assert type(exact_match(prediction, answers)) is type(token_f1(prediction, answers)) is float


def test_squad_scores_by_hand():
    """The first is right, the second half right, the third has no prediction; "9" is no question."""
    answers = {"1": ["cat"], "2": ["cat sat"], "3": ["dog"]}
    scores = squad_scores({"1": "the cat", "2": "sat up", "9": "dog"}, answers)
    assert scores == pytest.approx(SquadScores(100 / 3, 100 * (1 + 1 / 2) / 3))
    assert all(type(score) is float for score in scores)
    assert squad_scores({}, answers) == (0, 0)


@given(texts | word_texts, st.lists(texts | word_texts, min_size=1, max_size=3))
@settings(max_examples=100)
@example("the–end", ["–end"])
@example("", ["cat"])
@example("cat", [""])
def test_equal_torchmetrics(prediction, answers):
    """But where neither side has a word: F1 is 1 there, as in SQuAD v2.0."""
    assume(normalize_answer(prediction) or all(map(normalize_answer, answers)))
    reason = "torchmetrics is not installed: pip install torch==2.13.0 torchmetrics"
    squad = pytest.importorskip("torchmetrics.functional.text", reason=reason).squad
    result = squad({"id": "1", "prediction_text": prediction}, {"id": "1", "answers": {"text": answers}})
    wanted = SquadScores(result["exact_match"].item(), result["f1"].item())
    assert squad_scores({"1": prediction}, {"1": answers}) == pytest.approx(wanted, rel=1e-6), "in float32"


@pytest.mark.parametrize(
    ("answers", "error", "message"),
    [
        ({}, ValueError, "answers is empty, wanted at least one question"),
        ({"1": ["cat"], "2": []}, ValueError, r"answers\['2'\] is empty, wanted at least one gold answer"),
        ({"1": "cat"}, TypeError, r"answers\['1'\] is the string 'cat', wanted a list of gold answers"),
    ],
)
def test_wrong_answers(answers, error, message):
    with pytest.raises(error, match=message):
        squad_scores({"1": "cat"}, answers)


@pytest.mark.parametrize("score", [exact_match, token_f1])
def test_one_question_without_an_answer(score):
    with pytest.raises(ValueError, match="answers is empty, wanted at least one gold answer"):
        score("cat", [])
