"""SQuAD v1.1's exact match and F1: by hand, against torchmetrics."""

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from npbert.training.span_metrics import SquadScores, exact_match, normalize_answer, squad_scores, token_f1

PIECES = [
    "\t",
    " ",
    "\u00a0",
    *["the", "The", "A", "an", "a", "cats", "Ω", "é", "7", ".", "-", "'s", "–", "“", "_"],
]
texts = st.lists(st.sampled_from(PIECES), max_size=8).map("".join) | st.text(max_size=12)
word_texts = st.lists(st.sampled_from(["the", "cat", "sat", "on", "mat."]), max_size=6).map(" ".join)


@pytest.fixture(scope="module")
def reference():
    """squad_scores as torchmetrics has it, in float64. Where neither side has a word its F1 is 1, as in SQuAD v2.0."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch==2.13.0")
    reason = "torchmetrics is not installed: pip install torchmetrics"
    text = pytest.importorskip("torchmetrics.functional.text", reason=reason)

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


def test_exact_match_and_token_f1_by_hand():
    assert exact_match("the Broncos.", ["Denver Broncos", "Broncos"]) == 1
    assert exact_match("Broncos of Denver", ["Denver Broncos"]) == 0
    answers, precision, recall = ["Denver Broncos", "Broncos of the west"], 2 / 3, 2 / 2
    for golds in (answers, answers[::-1]):  # 2 of 3 words are in one answer of 2, and 1 in the other; the better counts
        assert token_f1("big Denver Broncos", golds) == pytest.approx(2 * precision * recall / (precision + recall))
    assert token_f1("Panthers", ["Denver Broncos"]) == 0
    assert token_f1("so so so", ["so so"]) == pytest.approx(2 * 2 / (3 + 2))
    assert type(exact_match("x", ["x"])) is type(token_f1("x", ["y"])) is float
    assert (exact_match("the", ["."]), token_f1("the", ["."])) == (1, 0), "as in evaluate-v1.1: neither has a word"


def test_squad_scores_by_hand():
    """The first is right, the second half right, the third has no prediction; "9" is not a question."""
    answers = {"1": ["cat"], "2": ["cat sat"], "3": ["dog"]}
    scores = squad_scores({"1": "the cat", "2": "sat up", "9": "dog"}, answers)
    assert scores == pytest.approx(SquadScores(100 / 3, 100 * (1 + 1 / 2) / 3))
    assert all(type(score) is float for score in scores)
    assert squad_scores({}, answers) == (0, 0)


asked = st.tuples(texts | word_texts, st.lists(texts | word_texts, min_size=1, max_size=3))
HARD = [("the–end", ["–end"]), ("", ["cat"]), ("cat", [""])]


@settings(max_examples=50)
@given(st.lists(asked, min_size=1, max_size=5))
@example(HARD)
def test_equal_torchmetrics(reference, questions):
    questions = [each for each in questions if normalize_answer(each[0]) or all(map(normalize_answer, each[1]))]
    assume(questions)
    predictions, answers = (dict(zip("12345", side, strict=False)) for side in zip(*questions, strict=True))
    assert squad_scores(predictions, answers) == pytest.approx(reference(predictions, answers), rel=1e-12)


def test_what_is_no_list_of_answers():
    for score in (exact_match, token_f1):
        with pytest.raises(ValueError, match="answers is empty, wanted at least one gold answer"):
            score("cat", [])
        with pytest.raises(TypeError, match="answers is the string 'cat', wanted a list of gold answers"):
            score("cat", "cat")
    with pytest.raises(ValueError, match="answers is empty, wanted at least one question"):
        squad_scores({"1": "cat"}, {})
    with pytest.raises(ValueError, match=r"answers\['2'\] is empty, wanted at least one gold answer"):
        squad_scores({"1": "cat"}, {"1": ["cat"], "2": []})
    with pytest.raises(TypeError, match=r"answers\['1'\] is the string 'cat'"):
        squad_scores({}, {"1": "cat"})
