"""SQuAD: every gold answer is found at the right tokens of a window, and the right tokens give exact match 100."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from npbert.data.squad import GoldAnswer, Question
from npbert.models.question_answering import QuestionAnsweringOutput
from npbert.training.tasks import QuestionAnswering, TaskSettings
from tests.training.tasks.tiny import FILES, Planted, tiny_tokenizer


def make(tokenizer, max_length=24):
    return QuestionAnswering(TaskSettings(max_length=max_length), tokenizer)


def windows_of(task, *questions):
    """The windows; of the model it is asked only how long its sequences may be."""
    return task.windows(Planted(task.tokenizer), questions)


def ask(passage, *answers, id="q"):
    return Question(id, "who?", passage, tuple(GoldAnswer(text, passage.index(text)) for text in answers))


@pytest.mark.parametrize(
    ("passage", "answer", "tokens"),
    [
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


words = st.sampled_from(["ann", "Bob", "playing", "sings", "Rome.", "a", "(b)", "ünknown", "7"])


@given(st.data(), st.lists(words, min_size=1, max_size=60).map(" ".join))
def test_the_first_answer_is_found_in_every_window_that_has_all_of_it(data, passage):
    start = data.draw(st.integers(0, len(passage) - 1))
    answer = passage[start : data.draw(st.integers(start + 1, start + 9))]
    assume(answer.strip())
    question = Question("q", "who?", passage, (GoldAnswer(answer, start), GoldAnswer(passage[0], 0)))
    first, last = start + len(answer) - len(answer.lstrip()), start + len(answer.rstrip())
    windows = windows_of(make(tiny_tokenizer(), max_length=28), question)
    for window in windows:
        encoding = window.encoding
        assert len(encoding.ids) <= 28
        edges = [place for place, which in zip(encoding.offsets, encoding.sequence_ids, strict=True) if which == 1]
        if edges[0][0] <= first and last <= edges[-1][1]:
            starts, ends = encoding.offsets[window.start], encoding.offsets[window.end]
            assert starts[0] <= first < starts[1]
            assert ends[0] < last <= ends[1]
            assert encoding.sequence_ids[window.start] == encoding.sequence_ids[window.end] == 1
        else:
            assert (window.start, window.end) == (0, 0)
    assert any(window.start for window in windows)


def test_a_batch_and_what_it_is_made_from(tokenizer, read):
    task, questions = read(QuestionAnswering, FILES["squad"][1])
    assert questions == [Question("1", "who?", "ann sings", (GoldAnswer("ann", 0),))]
    assert task.config() == {}
    batch = task.collate(windows_of(task, ask("Ann sings in Rome.", "in Rome"), ask("a b", "b")))
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
    places = {tuple(window.encoding.ids): (window.start, window.end) for window in windows_of(task, *known)}

    def answer(batch):
        logits = np.zeros((2, *batch.input_ids.shape))
        for row, (ids, mask) in enumerate(zip(batch.input_ids, batch.attention_mask, strict=True)):
            start, end = places[tuple(ids[mask == 1])]
            if start:
                logits[0, row, start + shift] = logits[1, row, end + shift] = 9
        return QuestionAnsweringOutput(*logits)

    metrics = task.evaluate(Planted(tokenizer, answer), questions)
    losses = []
    for window in windows_of(task, *questions):  # each by itself, without padding
        logits = answer(tokenizer.batch([window.encoding]))
        for scores, right in zip(logits, (window.start, window.end), strict=True):
            losses.append(np.log(np.exp(scores[0]).sum()) - scores[0, right])
    assert metrics.pop("loss") == pytest.approx(np.mean(losses))
    assert metrics == pytest.approx({"exact_match": exact_match, "f1": f1})
