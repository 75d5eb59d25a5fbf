"""SQuAD v1.1's exact match and F1: by hand, against torchmetrics."""

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from npbert.training.span_metrics import SquadScores, exact_match, normalize_answer, squad_scores, token_f1

PIECES = [
    "the",
    "The",
    "A",
    "an",
    "a",
    "cat",
    "cats",
    "Ω",
    "é",
    "7",
    ".",
    "-",
    "'s",
    "–",
    "“",
    "_",
    " ",
    "\t",
    "\u00a0",
]
texts = st.lists(st.sampled_from(PIECES), max_size=8).map("".join) | st.text(max_size=12)
word_texts = st.lists(st.sampled_from(["the", "cat", "sat", "on", "mat."]), max_size=6).map(" ".join)


@pytest.fixture(scope="module")
def reference():
    """squad_scores as torchmetrics has it, in float64. Where neither side has a word its F1 is 1, as in SQuAD v2.0."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch==2.13.0")
    text = pytest.importorskip(
        "torchmetrics.functional.text", reason="torchmetrics is not installed: pip install torchmetrics"
    )

    def scores(predictions, answers):
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            result = text.squad(
                [{"id": question, "prediction_text": prediction} for question, prediction in predictions.items()],
                [{"id": question, "answers": {"text": golds}} for question, golds in answers.items()],
            )
        finally:
            torch.set_default_dtype(before)
        return SquadScores(result["exact_match"].item(), result["f1"].item())

    return scores


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


def test_exact_match_by_hand():
    assert exact_match("the Broncos.", ["Denver Broncos", "Broncos"]) == 1
    assert exact_match("Broncos of Denver", ["Denver Broncos"]) == 0
    assert type(exact_match("x", ["x"])) is float


def test_token_f1_by_hand():
    """2 of 3 words are in the first answer of 2, and 1 in the second; the better counts."""
    precision, recall = 2 / 3, 2 / 2
    expected = 2 * precision * recall / (precision + recall)
    assert token_f1("big Denver Broncos", ["Denver Broncos", "Broncos of the west"]) == pytest.approx(expected)
    assert token_f1("big Denver Broncos", ["Broncos of the west", "Denver Broncos"]) == pytest.approx(expected)
    assert token_f1("Panthers", ["Denver Broncos"]) == 0
    assert token_f1("so so so", ["so so"]) == pytest.approx(2 * 2 / (3 + 2))
    assert type(token_f1("x", ["y"])) is float
    assert (exact_match("the", ["."]), token_f1("the", ["."])) == (1, 0), "as in evaluate-v1.1: neither has a word"


def test_squad_scores_by_hand():
    """The first is right, the second half right, the third has no prediction; "9" is not a question."""
    answers = {"1": ["cat"], "2": ["cat sat"], "3": ["dog"]}
    scores = squad_scores({"1": "the cat", "2": "sat up", "9": "dog"}, answers)
    assert scores == pytest.approx(SquadScores(100 / 3, 100 * (1 + 1 / 2) / 3))
    assert all(type(score) is float for score in scores)
    assert squad_scores({}, answers) == (0, 0)


@settings(max_examples=200)
@given(texts | word_texts, st.lists(texts | word_texts, min_size=1, max_size=3))
@example("the–end", ["–end"])
@example("", ["cat"])
@example("cat", [""])
def test_equal_torchmetrics(reference, prediction, answers):
    assume(normalize_answer(prediction) or all(map(normalize_answer, answers)))
    expected = reference({"1": prediction}, {"1": answers})
    assert exact_match(prediction, answers) * 100 == expected.exact_match
    assert token_f1(prediction, answers) * 100 == pytest.approx(expected.f1, rel=1e-12)


@pytest.mark.parametrize("score", [exact_match, token_f1])
def test_wrong_answers(score):
    with pytest.raises(ValueError, match="answers is empty, wanted at least one gold answer"):
        score("cat", [])
    with pytest.raises(TypeError, match="answers is the string 'cat', wanted a list of gold answers"):
        score("cat", "cat")


def test_wrong_questions():
    with pytest.raises(ValueError, match="answers is empty, wanted at least one question"):
        squad_scores({"1": "cat"}, {})
    with pytest.raises(ValueError, match=r"answers\['2'\] is empty, wanted at least one gold answer"):
        squad_scores({"1": "cat"}, {"1": ["cat"], "2": []})
    with pytest.raises(TypeError, match=r"answers\['1'\] is the string 'cat'"):
        squad_scores({}, {"1": "cat"})
