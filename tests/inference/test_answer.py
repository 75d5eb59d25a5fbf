"""Answer: spans of a passage, also where it is longer than the model takes."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from npbert import Answer, BertForQuestionAnswering, Tokenizer
from npbert.inference import AnswerSpan, best_spans
from tests.inference.checkpoints import LONGEST, WORDS, write_checkpoint, write_vocabulary

NEEDLE = WORDS.index("café")
QUESTION, PASSAGE = "the dog ran on?", "The cat sat on\tthe mat. A  dog ran\non the road. The dog"


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    return Answer.from_pretrained(write_checkpoint(tmp_path_factory.mktemp("qa"), BertForQuestionAnswering))


class Planted:
    """In the place of a model: every `café` has a logit of `height`, as a start and as an end, and all else 0."""

    config = SimpleNamespace(vocab_size=len(WORDS), max_position_embeddings=LONGEST)

    def __init__(self, height):
        self.height = height

    def __call__(self, batch):
        logits = np.where(batch.input_ids == NEEDLE, self.height, 0.0)
        return logits, logits


@pytest.fixture
def planted(tmp_path):
    (tmp_path / "tokenizer_config.json").write_text('{"strip_accents": false}')
    tokenizer = Tokenizer.from_pretrained(write_vocabulary(tmp_path))

    def make(height, **options):
        return Answer(Planted(height), tokenizer, **options)

    return make


def legal_spans(count, longest=30):
    return sum(min(longest, count - start) for start in range(count))


def test_against_the_logits(answer):
    """Of the passage's tokens alone, with their places in the text."""
    answers = answer.n_best([QUESTION], [PASSAGE], 7)[0]
    (encoding,) = answer.tokenizer.encode([(QUESTION, PASSAGE)])
    start_logits, end_logits = answer.model(answer.tokenizer.batch([encoding]))
    first, last = encoding.sequence_ids.index(1), len(encoding.ids) - 1
    spans, log_total = best_spans(start_logits[0, first:last], end_logits[0, first:last], max_length=30, n_best=7)
    for span, found in zip(spans, answers, strict=True):
        start, end = encoding.offsets[first + span.start][0], encoding.offsets[first + span.end][1]
        assert (found.start, found.end) == (start, end)
        assert found.text == PASSAGE[start:end]
        assert found.score == pytest.approx(np.exp(span.score - log_total), rel=1e-4)


@pytest.mark.parametrize("piece", ["un", "##aff", "##able"])
def test_an_answer_is_made_of_whole_words(planted, monkeypatch, piece):
    monkeypatch.setattr("tests.inference.test_answer.NEEDLE", WORDS.index(piece))
    span = planted(20.0)("a cat?", "the cat is unaffable. the dog ran")
    assert (span.text, span.start, span.end) == ("unaffable", 11, 20)


def test_one_question_or_many(answer):
    questions, passages = [QUESTION, "a cat?", "mat?"], [PASSAGE, "the mat", "cat. " * 40]
    together = answer(questions, passages)
    best = [answers[0] for answers in answer.n_best(questions, passages, 3)]
    assert [span[2:] for span in together] == [span[2:] for span in best]
    for question, passage, span in zip(questions, passages, together, strict=True):
        alone = answer(question, passage)
        assert (alone.text, alone.start, alone.end) == (span.text, span.start, span.end)
        assert alone.score == pytest.approx(span.score, rel=1e-4)
        assert type(alone) is AnswerSpan
        assert type(alone.score) is float
    assert answer([], []) == []


@pytest.mark.parametrize("passage", [PASSAGE, PASSAGE * 9])
def test_n_best(answer, passage):
    """Sorted, each place once, probabilities. In one window all legal spans are there, and sum to 1."""
    (answers,) = answer.n_best([QUESTION], [passage], 10**6)
    scores = [span.score for span in answers]
    assert scores == sorted(scores, reverse=True)
    assert len({(span.start, span.end) for span in answers}) == len(answers)
    assert all(span.text == passage[span.start : span.end] for span in answers)
    assert 0 <= scores[-1] <= scores[0] <= 1
    if passage is PASSAGE:
        assert sum(scores) == pytest.approx(1)
        assert len(answers) == legal_spans(16)
    else:
        assert sum(scores) < 1 + 1e-12
    few = answer.n_best([QUESTION], [passage], 4)[0]
    assert [span[2:] for span in few] == [span[2:] for span in answers[:4]]


def test_spans_are_no_longer_than_asked_for(planted):
    (answers,) = planted(0.0, max_answer_length=2).n_best(["cat"], ["the cat sat on the mat"], 99)
    assert {len(span.text.split()) for span in answers} == {1, 2}
    assert len(answers) == legal_spans(6, 2) == 11
    assert [span.score for span in answers] == pytest.approx([1 / 11] * 11)


@pytest.mark.parametrize("place", [0, 1, 20, 24, 25, 26, 60, 119, 149])
def test_an_answer_anywhere_in_a_long_passage(planted, place):
    words = ["cat"] * 150
    words[place] = "Café"
    span = planted(20.0)("where is the café?", " ".join(words))
    assert (span.text, span.start) == ("Café", 4 * place)
    assert 0.49 < span.score <= 1, "a half where two windows share it"


def test_the_windows_compete(planted):
    """All logits are 0, so every span of every window is equally probable."""
    answer = planted(0.0, max_length=12)  # 12 − 3 − 1 = 8 tokens of the passage a window, 4 of them new
    (answers,) = answer.n_best(["dog"], ["the cat sat on a mat the cat sat on a mat"], 999)
    total = 2 * legal_spans(8)
    assert [span.score for span in answers] == pytest.approx([1 / total] * (total - legal_spans(4)))
    assert len({span[2:] for span in answers}) == total - legal_spans(4)


def test_windows_of_all_questions_share_batches_and_are_not_confused(planted):
    passages = ["café " + "cat " * count for count in (90, 5, 40)] + ["dog " * 50 + "a café", "cat"]
    spans = planted(20.0)(["the café"] * 4 + ["cat"], passages)
    assert [span.start for span in spans] == [0, 0, 0, 202, 0]
    assert [span.text for span in spans] == ["café"] * 4 + ["cat"]


def test_a_long_question_is_cut_and_said_so(planted):
    answer = planted(20.0, max_question_length=3)
    with pytest.warns(UserWarning, match="^question cut to 3 tokens: 'the cat sat on'…$"):
        cut = answer("the cat sat on", "a café")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert answer("the cat sat", "a café") == cut == answer("unaffable", "a café")


def test_the_question_is_cut_to_its_first_tokens(planted, monkeypatch):
    answer = planted(0.0, max_question_length=2)
    asked, encode_windows = [], answer.tokenizer.encode_windows

    def note(question, *arguments, **options):
        asked.append(question)
        return encode_windows(question, *arguments, **options)

    monkeypatch.setattr(answer.tokenizer, "encode_windows", note)
    with pytest.warns(UserWarning, match="question cut to 2 tokens"):
        answer("the  cat sat on", "a dog")
    assert asked == ["the  cat"]


@pytest.mark.parametrize("passage", ["", " \n", "\x00"])
def test_an_empty_passage(answer, passage):
    with pytest.raises(ValueError, match=r"^the passage for the question 'cat\?' is empty$"):
        answer(["the?", "cat?"], ["the mat", passage])


def test_lists_of_different_lengths(answer):
    with pytest.raises(ValueError, match="2 questions for 1 passages, wanted one for each"):
        answer(["the?", "a?"], ["the mat"])


def test_lengths_that_the_model_does_not_take(answer, planted):
    with pytest.raises(ValueError, match="max_length is 33, but the model takes 32 tokens"):
        planted(0.0, max_length=33)
    with pytest.raises(ValueError, match="the question leaves room for 9 tokens of the passage, wanted more than 10"):
        planted(0.0, max_question_length=64)("cat " * 20, "the mat")
    with pytest.raises(ValueError, match="n_best 0: wanted at least 1 of each"):
        answer.n_best(["cat"], ["the mat"], 0)


def test_at_most_384_tokens_unless_told(planted, monkeypatch):
    assert planted(0.0).max_length == LONGEST
    monkeypatch.setattr(Planted, "config", SimpleNamespace(vocab_size=len(WORDS), max_position_embeddings=512))
    assert planted(0.0).max_length == 384
    assert planted(0.0, max_length=500).max_length == 500
