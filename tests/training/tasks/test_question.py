"""SQuAD: every gold answer is found at the right tokens of a window, and the right tokens give exact match 100."""

import json
import shutil
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import Tokenizer
from npbert.data.squad import GoldAnswer, Question
from npbert.files import FileError
from npbert.models.question_answering import QuestionAnsweringOutput
from npbert.training.tasks import QuestionAnswering, TaskSettings
from tests.shared_data import shared_data
from tests.training.tasks.tiny import Planted, model_that_learned, tiny_tokenizer


def make(tokenizer, max_length=24):
    return QuestionAnswering(TaskSettings(max_length=max_length), tokenizer)


def windows_of(task, *questions):
    """The windows; of the model it is asked only how long its sequences may be."""
    return task.windows(Planted(task.tokenizer), questions)


def ask(passage, *answers, id="q", start=None):
    golds = [GoldAnswer(text, passage.index(text) if start is None else start) for text in answers]
    return Question(id, "who?", passage, tuple(golds))


def found(window, passage):
    """The text of a window's answer, or None."""
    if (window.start, window.end) == (0, 0):
        return None
    assert 0 < window.start <= window.end < len(window.encoding.ids)
    assert {window.encoding.sequence_ids[index] for index in range(window.start, window.end + 1)} == {1}
    offsets = window.encoding.offsets
    return passage[offsets[window.start][0] : offsets[window.end][1]]


@pytest.mark.parametrize(
    ("passage", "answer", "tokens"),
    [
        ("Ann sings in Rome.", "Ann", ["ann"]),
        ("Ann sings in Rome.", "Rome", ["rome"]),
        ("Ann sings in Rome.", "Rome.", ["rome", "."]),
        ("Ann sings in Rome.", "Ann sings in Rome.", ["ann", "sings", "in", "rome", "."]),
        ("Ann  playing  well", "playing", ["play", "##ing"]),
        ("Ann playing well", "play", ["play"]),
        ("Ann playing well", "ing well", ["##ing", "well"]),
        ("Ann sings", "sing", ["sings"]),
        ("Ann sings in Rome", " sings in ", ["sings", "in"]),
        ("Änn in Röme well", "Röme", ["rome"]),
        ("Ann 我 Bob", "Bob", ["bob"]),
    ],
)
def test_the_tokens_of_an_answer(tokenizer, passage, answer, tokens):
    """A token that the answer has a part of belongs to it."""
    (window,) = windows_of(make(tokenizer), ask(passage, answer))
    assert window.encoding.tokens[window.start : window.end + 1] == tokens


def test_the_answer_is_where_the_file_says(tokenizer):
    """Not where the same words stand first; and it is the first answer that is learned."""
    question = Question("q", "who?", "a b a b a", (GoldAnswer("a", 4), GoldAnswer("b", 2)))
    (window,) = windows_of(make(tokenizer), question)
    assert (window.start, window.end) == (6, 6)
    assert window.encoding.tokens[:6] == ["[CLS]", "[UNK]", "?", "[SEP]", "a", "b"]


def test_windows_without_the_whole_answer_point_at_cls(tokenizer):
    passage = " ".join(f"{'abcdef'[number % 6]}" for number in range(60))
    windows = windows_of(make(tokenizer), ask(passage, "a b c d", start=24), ask(passage, "a", start=0))
    spans = [found(window, passage) for window in windows]
    half = len(spans) // 2
    assert len(spans) == 2 * half > 6
    assert set(spans[:half]) == {None, "a b c d"}
    assert [span for span in spans[half:] if span] == ["a"], "an answer at the very beginning is in one window alone"
    for window in windows[:half]:
        characters = [window.encoding.offsets[i] for i, s in enumerate(window.encoding.sequence_ids) if s == 1]
        is_inside = characters[0][0] <= 24 and characters[-1][1] >= 24 + len("a b c d")
        assert (found(window, passage) is not None) == is_inside


words = st.sampled_from(["ann", "Bob", "playing", "sings", "Rome.", "a", "(b)", "ünknown", "7"])


@given(st.data(), st.lists(words, min_size=1, max_size=60))
def test_any_answer_is_found(data, passage):
    first = data.draw(st.integers(0, len(passage) - 1))
    answer = " ".join(passage[first : data.draw(st.integers(first + 1, first + 3))])
    start = len(" ".join([*passage[:first], ""]))
    passage = " ".join(passage)
    windows = windows_of(make(tiny_tokenizer(), max_length=30), ask(passage, answer, start=start))
    assert {found(window, passage) for window in windows} <= {None, answer}
    starts = {window.encoding.offsets[window.start][0] for window in windows if found(window, passage)}
    assert starts == {start}, "in at least one window, and nowhere else"


def test_a_batch_is_what_the_model_learns_from(tokenizer):
    task = make(tokenizer)
    batch = task.collate(windows_of(task, ask("Ann sings in Rome.", "in Rome"), ask("a b", "b")))
    assert batch.start_positions.tolist() == [6, 5]
    assert batch.end_positions.tolist() == [7, 5]
    assert batch.token_type_ids.tolist() == [[0] * 4 + [1] * 6, [0] * 4 + [1] * 3 + [0] * 3]
    _, loss = model_that_learned(task, batch)
    assert abs(loss - (np.log(10) + np.log(7)) / 2) < 0.1, "of 10 tokens, and of 7"


def planted(task, questions, shift=0):
    """A model that knows the answer of each window, or one that is `shift` tokens after it."""
    windows = windows_of(task, *questions)
    places = {tuple(window.encoding.ids): (window.start, window.end) for window in windows}
    assert len(places) == len(windows)

    def answer(batch):
        logits = np.zeros((2, *batch.input_ids.shape))
        for row, (ids, mask) in enumerate(zip(batch.input_ids, batch.attention_mask, strict=True)):
            span = places[tuple(ids[mask == 1])]
            if span != (0, 0):
                logits[0, row, span[0] + shift] = logits[1, row, span[1] + shift] = 9
        return QuestionAnsweringOutput(*logits)

    return Planted(task.tokenizer, answer)


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
        (QUESTIONS[3:], [ask("e f Ann plays well. Bob", "Ann plays")], 0, 100, 100),
    ],
    ids=["right", "one token on", "any gold answer"],
)
def test_planted_answers(tokenizer, questions, known, shift, exact_match, f1):
    task = make(tokenizer)
    metrics = task.evaluate(planted(task, known, shift), questions)
    assert metrics == pytest.approx({"exact_match": exact_match, "f1": f1})


def test_reading(read):
    row = {"id": "1", "question": "who?", "answers": [{"text": "Ann", "answer_start": 0}]}
    stored = {"data": [{"paragraphs": [{"context": "Ann", "qas": [row]}]}]}
    task, questions = read(QuestionAnswering, json.dumps(stored), name="a.json")
    assert questions == [Question("1", "who?", "Ann", (GoldAnswer("Ann", 0),))]
    assert task.config() == {}
    with pytest.raises(FileError, match=r"a\.json, line 1"):
        read(QuestionAnswering, "", name="a.json")


@pytest.mark.parametrize(("name", "step"), [("train-40-articles.json", 90), ("dev-8-articles.json", 16)])
def test_real_answers_are_found(tmp_path, name, step):
    """All of them; an answer that begins or ends inside a token (18 in 2018, thing in things) comes with all of it."""
    shutil.copy(shared_data() / "vocab" / "bert-base-uncased-vocab.txt", tmp_path / "vocab.txt")
    task = make(Tokenizer.from_pretrained(tmp_path), max_length=128)
    questions = task.read(str(shared_data() / "squad" / name))[::step]
    how = Counter()
    for question in questions:
        (text, start), end = question.answers[0], question.answers[0].start + len(question.answers[0].text)
        spans = {found(window, question.passage) for window in windows_of(task, question)} - {None}
        assert len(spans) == 1, f"{text!r} is in no window"
        is_exact = spans == {text}
        how[is_exact] += 1
        if not is_exact:
            assert text in spans.pop()
            edges = question.passage[start - 1 : start + 1], question.passage[end - 1 : end + 1]
            assert any(edge.isalnum() and len(edge) == 2 for edge in edges), "only a part of a word grows"
    assert how.total() == len(questions) >= 99
    assert how[False] <= 0.02 * len(questions)
