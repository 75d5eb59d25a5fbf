"""SQuAD v1.1's exact match and F1: by hand, against torchmetrics, and over the real answers."""

import json

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from npbert.training.metrics import SquadScores, exact_match, normalize_answer, squad_scores, token_f1
from tests.shared_data import shared_data

PIECES = ["the", "The", "A", "an", "a", "cat", "cats", "Ω", "é", "7", ".", "-", "'s", "–", "“", "_", " ", "\t", "\xa0"]
texts = st.lists(st.sampled_from(PIECES), max_size=8).map("".join) | st.text(max_size=12)
word_texts = st.lists(st.sampled_from(["the", "cat", "sat", "on", "mat."]), max_size=6).map(" ".join)
WORDLESS = ["", ".", "the", "An!", " a\tthe "]


@pytest.fixture(scope="module")
def reference():
    """squad_scores as torchmetrics has it, in float64. Where neither side has a word its F1 is 1, as in SQuAD v2.0."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch==2.13.0")
    reason = "torchmetrics is not installed: pip install torchmetrics"
    squad = pytest.importorskip("torchmetrics.functional.text", reason=reason).squad

    def scores(predictions, answers):
        result = squad(
            [{"id": question, "prediction_text": prediction} for question, prediction in predictions.items()],
            [{"id": question, "answers": {"text": golds}} for question, golds in answers.items()],
        )
        return SquadScores(result["exact_match"].item(), result["f1"].item())

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield scores
    torch.set_default_dtype(before)


@pytest.fixture(scope="module")
def real_answers():
    """From the id of each question of a real file to its gold answers."""
    content = json.loads((shared_data() / "squad" / "dev-8-articles.json").read_text(encoding="utf-8"))
    questions = [question for article in content["data"] for part in article["paragraphs"] for question in part["qas"]]
    return {question["id"]: [answer["text"] for answer in question["answers"]] for question in questions}


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
        ("Broncos of Denver", ["Denver Broncos"], 0, 2 * 2 / (3 + 2)),
        ("big Denver Broncos", ["Denver Broncos", "Broncos of the west"], 0, 2 * (2 / 3) * (2 / 2) / (2 / 3 + 2 / 2)),
        ("big Denver Broncos", ["Broncos of the west", "Denver Broncos"], 0, 2 * (2 / 3) * (2 / 2) / (2 / 3 + 2 / 2)),
        ("Panthers", ["Denver Broncos"], 0, 0),
        ("so so so", ["so so"], 0, 2 * 2 / (3 + 2)),
        *((prediction, [answer], 1, 0) for prediction in WORDLESS for answer in WORDLESS),  # so evaluate-v1.1 has it
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
def test_equal_torchmetrics(reference, prediction, answers):
    assume(normalize_answer(prediction) or all(map(normalize_answer, answers)))
    scores = squad_scores({"1": prediction}, {"1": answers})
    assert scores == pytest.approx(reference({"1": prediction}, {"1": answers}), rel=1e-12)


@pytest.mark.filterwarnings("ignore:Unanswered question")
def test_real_answers_equal_torchmetrics(reference, real_answers):
    """Predicted is the last gold answer, against the others; every tenth question has another's, or none."""
    answers = {question: golds[:-1] for question, golds in real_answers.items()}
    predictions = {question: golds[-1] for question, golds in real_answers.items()}
    ids = list(answers)
    for wrong, unanswered in zip(ids[::10], ids[5::10], strict=False):
        predictions[wrong] = predictions.pop(unanswered)
    scores = squad_scores(predictions, answers)
    assert scores == pytest.approx(reference(predictions, answers), rel=1e-12)
    assert 0 < scores.exact_match < scores.f1 < 90


@pytest.mark.parametrize(("place", "wordless"), [(0, 0), (-1, 1)])
def test_a_real_gold_answer_is_right(real_answers, place, wordless):
    """100 %, but for one F1: the answer "." has no word to share, not even with itself."""
    predictions = {question: golds[place] for question, golds in real_answers.items()}
    f1 = 100 * (1 - wordless / len(real_answers))
    assert squad_scores(predictions, real_answers) == pytest.approx(SquadScores(100, f1), rel=1e-12)


@pytest.mark.parametrize(
    ("answers", "error", "message"),
    [
        ({}, ValueError, "answers is empty, wanted at least one question"),
        ({"1": ["cat"], "2": []}, ValueError, r"answers\['2'\] is empty, wanted at least one gold answer"),
        ({"1": "cat"}, TypeError, r"answers\['1'\] is the string 'cat', wanted a list of gold answers"),
    ],
)
def test_wrong_questions(answers, error, message):
    with pytest.raises(error, match=message):
        squad_scores({"1": "cat"}, answers)
