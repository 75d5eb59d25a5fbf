"""Answer: spans of a passage, also where it is longer than the model takes."""

import math

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from npbert import Answer
from npbert.inference import AnswerSpan
from tests.inference.checkpoints import LONGEST
from tests.small_tokenizer import small_tokenizer
from tests.training.tasks.tiny import Planted

pytestmark = pytest.mark.filterwarnings("error")

QUESTION, PASSAGE = "the dog ran on?", "The cat sat on\tthe mat. A  dog ran\non the road. The dog"


@pytest.fixture(scope="module")
def answer(checkpoints):
    return Answer.from_pretrained(checkpoints["answer"])


@pytest.fixture
def planted():
    """make(height): in place of a model, every `needle` has that logit, as a start and as an end, and all else 0."""
    tokenizer = small_tokenizer("the a cat dog sat ran on mat road un ##aff ##able cafe . ?")
    tokens = tokenizer.decode(range(len(tokenizer)))

    def make(height, needle="cafe", longest=LONGEST, of_tokenizer=None, **options):
        tokenizer.max_length = of_tokenizer
        model = Planted(tokenizer, lambda batch: (height * (batch.input_ids == tokens.index(needle)),) * 2)
        model.config.max_position_embeddings = longest
        return Answer(model, tokenizer, **options)

    return make


@pytest.mark.parametrize("piece", ["un", "##aff", "##able"])
def test_an_answer_is_made_of_whole_words(planted, piece):
    span = planted(20.0, needle=piece)("a cat?", "the cat is unaffable. the dog ran")
    assert (span.text, span.start, span.end) == ("unaffable", 11, 20)


def test_one_question_or_many(answer):
    questions, passages = [QUESTION, "a cat?", "mat?"], [PASSAGE, "the mat", "cat. " * 40]
    together = answer(questions, passages)
    for span, alone in zip(together, map(answer, questions, passages), strict=True):
        assert type(alone) is AnswerSpan and alone == (*span[:1], pytest.approx(span.score, rel=1e-4), *span[2:])
    assert answer([], []) == []


def test_an_answer_anywhere_in_a_long_passage(planted):
    """The windows of all questions share batches, and are not confused."""
    places = [0, 1, 20, 24, 25, 26, 60, 119, 149]
    passages = ["cat " * place + "Café" + " cat" * (149 - place) for place in places]
    spans = planted(20.0)(["where is the café?"] * len(places), passages)
    assert [(span.text, span.start) for span in spans] == [("Café", 4 * place) for place in places]
    assert all(0.49 < span.score <= 1 for span in spans), "a half where two windows share it"


def test_the_windows_compete(planted):
    """All logits are 0, so every span of every window is equally probable, and those in two windows count once."""
    answer = planted(0.0, max_length=12)  # 12 − 3 − 1 = 8 tokens of the passage a window, 4 of them new
    (answers,) = answer.n_best(["dog"], ["the cat sat on a mat the cat sat on a mat"], 999)
    assert [span.score for span in answers] == pytest.approx([1 / 72] * (72 - 10))  # 36 spans each, 10 in both
    assert len({(span.start, span.end) for span in answers}) == 62


def test_long_questions_are_cut_to_their_first_tokens_and_said_so_in_one_line(planted):
    """(One alone: tests/cli/test_inference.py.)"""
    questions = ["dog", "a cat on a mat", "the cat sat on", "unaffable"]
    with pytest.warns(UserWarning) as caught:
        windows = planted(0.0, max_question_length=3).all_windows(questions, ["a dog"] * 4)
    assert [str(each.message) for each in caught] == [
        "2 of 4 questions cut to 3 tokens; the first is 'a cat on a mat'…"
    ]
    for (window,), words in zip(windows, ["dog", "a cat on", "the cat sat", "un ##aff ##able"], strict=True):
        assert window.tokens == ["[CLS]", *words.split(), "[SEP]", "a", "dog", "[SEP]"]


def test_errors(answer):
    for passage in ("", " \n", "\x00"):
        with pytest.raises(ValueError, match=r"^the passage for the question 'cat\?' is empty, wanted text$"):
            answer(["the?", "cat?"], ["the mat", passage])


@pytest.mark.parametrize(
    ("longest", "given", "of_tokenizer", "max_length", "for_question"),
    [(32, None, None, 32, 10), (512, None, 500, 384, 64), (512, 500, 128, 500, 64)],
)
def test_at_most_384_tokens_unless_told(planted, longest, given, of_tokenizer, max_length, for_question):
    answer = planted(0.0, longest=longest, of_tokenizer=of_tokenizer, max_length=given)
    assert (answer.max_length, answer.max_question_length, answer.max_answer_length) == (max_length, for_question, 30)


# Quarters, so that scores tie and sums are exact.
pairs = st.tuples(*[st.integers(-12, 12).map(lambda number: number / 4)] * 2)


@given(st.lists(pairs, min_size=1, max_size=9), st.integers(1, 11), st.integers(1, 60))
@example([(0.0, 0.0), (800.0, 800.0)], 2, 1)  # too large for exp
@example([(-800.0, -800.0), (-800.0, -900.0)], 2, 9)
def test_spans_against_loops(pairs, max_length, n_best):
    """The legal spans, best first; of equal ones that with the earlier start, and then the earlier end."""
    tokenizer, passage = small_tokenizer("the cat"), "cat " * len(pairs)
    answer = Answer(Planted(tokenizer), tokenizer, max_answer_length=max_length)
    ((window,),) = answer.all_windows(["the the"], [passage])
    logits = np.full((2, len(window.ids)), 900.0)  # of the question more than of the passage
    logits[:, 4:-1] = np.array(pairs).T
    found = answer.best([window], [logits], passage, n_best)
    wanted = {
        (4 * start, 4 * end + 3): pairs[start][0] + pairs[end][1]
        for start in range(len(pairs))
        for end in range(start, min(start + max_length, len(pairs)))
    }
    places = sorted(wanted, key=lambda place: -wanted[place])[:n_best]
    assert [(span.start, span.end) for span in found] == places
    total = np.logaddexp.reduce(list(wanted.values()))
    scores = [math.exp(wanted[place] - total) for place in places]
    assert [span.score for span in found] == pytest.approx(scores, rel=1e-12, abs=1e-12)
    assert all(type(span.score) is float and span.text == passage[span.start : span.end] for span in found)
