"""SQuAD: every gold answer is found at the right tokens of a window, and the right tokens give exact match 100."""

import shutil
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from npbert.data import Tokenizer
from npbert.data.squad import GoldAnswer, Question
from npbert.models.question_answering import QuestionAnsweringOutput
from npbert.training.tasks import QuestionAnswering, TaskSettings, TextClassification, TextRegression
from tests.shared_data import shared_file
from tests.training.tasks.tiny import FILES, Planted, tiny_tokenizer


def make(tokenizer, max_length=24):
    return QuestionAnswering(Planted(tokenizer), tokenizer, TaskSettings(max_length=max_length))


def ask(passage, *answers, id="q"):
    return Question(id, "who?", passage, tuple(GoldAnswer(text, passage.index(text)) for text in answers))


words = st.sampled_from(["ann", "Bob", "playing", "sings", "Rome.", "a", "(b)", "ünknown", "Röme", "我", "  ", "7"])


@given(st.data(), st.lists(words, min_size=1, max_size=60).map(" ".join))
def test_the_first_answer_is_found_in_every_window_that_has_all_of_it(data, passage):
    start = data.draw(st.integers(0, len(passage) - 1))
    answer = passage[start : data.draw(st.integers(start + 1, start + 9))]
    assume(answer.strip())
    question = Question("q", "who?", passage, (GoldAnswer(answer, start), GoldAnswer(passage[0], 0)))
    first, last = start + len(answer) - len(answer.lstrip()), start + len(answer.rstrip())
    windows = make(tiny_tokenizer(), max_length=28).prepare([question])
    for window in windows:
        encoding, _, (start, end) = window
        assert len(encoding.ids) <= 28
        edges = [place for place, which in zip(encoding.offsets, encoding.sequence_ids, strict=True) if which == 1]
        if edges[0][0] <= first and last <= edges[-1][1]:
            starts, ends = encoding.offsets[start], encoding.offsets[end]
            assert starts[0] <= first < starts[1]
            assert ends[0] < last <= ends[1]
            assert encoding.sequence_ids[start] == encoding.sequence_ids[end] == 1
        else:
            assert (start, end) == (0, 0)
    assert any(window.target[0] for window in windows)


def test_a_batch_and_what_it_is_made_from(tokenizer, read):
    task, windows = read(QuestionAnswering, FILES["squad"][1])
    assert [window.given for window in windows] == [Question("1", "who?", "ann sings", (GoldAnswer("ann", 0),))]
    batch = task.collate(task.prepare([ask("Ann sings in Rome.", "in Rome"), ask("a b", "b")]))
    assert batch.start_positions.tolist() == [6, 5]
    assert batch.end_positions.tolist() == [7, 5]
    assert batch.token_type_ids.tolist() == [[0] * 4 + [1] * 6, [0] * 4 + [1] * 3 + [0] * 3]
    assert tokenizer.decode(batch.input_ids[1])[:7] == ["[CLS]", "[UNK]", "?", "[SEP]", "a", "b", "[SEP]"]


QUESTIONS = [
    ask("Ann sings well in Rome. Bob plays.", "in Rome", id="1"),
    ask("Bob", "Bob", id="2"),
    ask("a b c d e f " * 9 + "Ann playing. Bob", "Ann playing", id="3"),
    ask("e f Ann plays well. Bob", "plays", "Ann plays", id="4"),
]


@pytest.mark.parametrize(
    ("questions", "known", "shift", "exact_match", "f1"),
    [
        (QUESTIONS, QUESTIONS, 0, 100, 100),
        (QUESTIONS[::3], QUESTIONS[::3], 1, 0, 100 / 3),  # Rome. for in Rome; well for plays
        (QUESTIONS[3:], [ask("e f Ann plays well. Bob", "Ann plays")], 0, 100, 100),  # any gold answer counts
    ],
)
def test_planted_answers(tokenizer, questions, known, shift, exact_match, f1):
    """The model knows the answer of each window, or the one that is `shift` tokens after it."""
    task = make(tokenizer)
    places = {tuple(window.encoding.ids): window.target for window in task.prepare(known)}

    def answer(batch):
        logits = np.zeros((2, *batch.input_ids.shape))
        for row, (ids, mask) in enumerate(zip(batch.input_ids, batch.attention_mask, strict=True)):
            start, end = places[tuple(ids[mask == 1])]
            if start:
                logits[0, row, start + shift] = logits[1, row, end + shift] = 9
        return QuestionAnsweringOutput(*logits)

    task.model.answer, windows = answer, task.prepare(questions)
    metrics = task.evaluate(windows)
    losses = []
    for window in windows:  # each by itself, without padding
        logits = answer(tokenizer.batch([window.encoding]))
        for scores, right in zip(logits, window.target, strict=True):
            losses.append(np.log(np.exp(scores[0]).sum()) - scores[0, right])
    assert metrics.pop("loss") == pytest.approx(np.mean(losses))
    assert metrics == pytest.approx({"exact_match": exact_match, "f1": f1})


pytest.importorskip("tokenizers", reason="tokenizers is not installed: pip install -e '.[hf]'")


@pytest.fixture
def bert_tokenizer(tmp_path):
    shutil.copy(shared_file("vocab/bert-base-uncased-vocab.txt"), tmp_path / "vocab.txt")
    return Tokenizer.from_pretrained(tmp_path)


def test_cola_and_stsb(bert_tokenizer):
    rows, labels = TextClassification.read(str(shared_file("cola/in_domain_dev.tsv")), TaskSettings(text="3"))
    assert (len(rows), labels) == (527, ("0", "1"))
    settings = TaskSettings(text="5", text_pair="6", label="4", delimiter="tab")
    rows, _ = TextRegression.read(str(shared_file("stsb/sts-dev.csv")), settings)
    examples = TextRegression(Planted(bert_tokenizer), bert_tokenizer, settings).prepare(rows)
    assert len(examples) == 1500
    assert max(example.target for example in examples) == 5
    assert set(examples[0].encoding.sequence_ids) == {None, 0, 1}


def test_real_answers_are_found(bert_tokenizer):
    """All of them; an answer that begins or ends inside a token (18 in 2018, thing in things) comes with all of it."""
    task = QuestionAnswering(Planted(bert_tokenizer), bert_tokenizer, TaskSettings(max_length=128))
    questions = task.read(str(shared_file("squad/dev-8-articles.json")), task.settings)[0][::16]
    how = Counter()
    for question in questions:
        (text, start), end = question.answers[0], question.answers[0].start + len(question.answers[0].text)
        spans = {found(window, question.passage) for window in task.prepare([question])} - {None}
        assert len(spans) == 1, f"{text!r} is in no window"
        how[spans == {text}] += 1
        if spans != {text}:
            assert text in spans.pop()
            edges = question.passage[start - 1 : start + 1], question.passage[end - 1 : end + 1]
            assert any(edge.isalnum() and len(edge) == 2 for edge in edges), "only a part of a word grows"
    assert how.total() == len(questions) >= 100
    assert how[False] <= 0.02 * len(questions)


def found(window, passage):
    """The text between the first and the last token of the answer, or None."""
    start, end = window.target
    return passage[window.encoding.offsets[start][0] : window.encoding.offsets[end][1]] if start else None
