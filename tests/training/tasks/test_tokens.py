"""Tagging: the first token of a word carries its tag, and entities are judged as a whole. SQuAD: every gold answer is
found at the right tokens of a window, and the right tokens give exact match 100."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from npbert import IGNORED
from npbert.data.task_files import GoldAnswer, Question
from npbert.models import QuestionAnsweringOutput
from npbert.training.tasks import QuestionAnswering, Tagging, TaskSettings
from tests.training.tasks.tiny import Planted, tiny_tokenizer, words_of

SENTENCES = "Ann B-PER\nAnn I-PER\nplaying O\nin O\nRome B-LOC\n. O\n\nBob B-PER\nsings O\n"
TOKENS = ["[CLS] ann ann play ##ing in rome . [SEP]", "[CLS] bob sings [SEP]"]
LABELS = ("B-LOC", "B-PER", "I-PER", "O")


@pytest.mark.parametrize(
    ("content", "tokens", "tags"),
    [
        (SENTENCES, TOKENS, ["- B-PER I-PER O - O B-LOC O -", "- B-PER O - - - - - -"]),
        # a.b is three tokens; a zero-width space none, so it has no target; the same word twice is two words
        ("a.b B\n\u200b I-X\nann B\nann O\n", ["[CLS] a . b ann ann [SEP]"], ["- B - - B O -"]),
    ],
)
def test_the_first_token_of_a_word_has_its_tag(read, tokenizer, content, tokens, tags):
    task, examples = read(Tagging, content)
    batch = task.collate(examples)
    assert [" ".join(words) for words in words_of(tokenizer, batch)] == tokens
    found = [[task.labels[label] if label != IGNORED else "-" for label in row] for row in batch.labels]
    assert [" ".join(row) for row in found] == tags
    assert content != SENTENCES or task.labels == LABELS


def scores(precision, recall, accuracy):
    f1 = 2 * precision * recall / (precision + recall) if precision else 0
    return {"precision": precision, "recall": recall, "f1": f1, "accuracy": accuracy}


@pytest.mark.filterwarnings("ignore:.* cut to the 8 tokens")
@pytest.mark.parametrize(
    ("content", "said", "wanted"),
    [
        (SENTENCES, ["B-PER I-PER O O B-LOC O", "B-PER O"], scores(1, 1, 1)),
        (SENTENCES, ["B-PER I-PER O O O O", "B-PER O"], scores(1, 2 / 3, 7 / 8)),
        (SENTENCES, ["B-PER B-PER O O B-LOC O", "I-PER O"], scores(2 / 4, 2 / 3, 6 / 8)),
        (SENTENCES, ["O O O O O O", "O O"], scores(0, 0, 4 / 8)),
        # as if the words cut off had been said to be outside, also when the model does not know it
        ("in O\n" * 6 + "Rome B-LOC\nin O\n\nBob B-PER\n", ["O O O O O O", "B-PER"], scores(1, 1 / 2, 8 / 9)),
        ("Bob B-PER\n" * 10, ["B-PER B-PER B-PER B-PER B-PER B-PER"], scores(1, 0.6, 0.6)),
    ],
)
def test_metrics_of_tags(read, content, said, wanted):
    labels = LABELS if "O\n" in content else LABELS[:3]
    task, examples = read(Tagging, content, labels=labels, max_length=32 if content == SENTENCES else 8)
    logits = [np.eye(len(labels))[[labels.index(tag) for tag in tags.split()]] for tags in said]
    metrics = task.judge(logits, examples)
    assert 0 < metrics.pop("loss") < 3
    assert metrics == pytest.approx(wanted)


@pytest.mark.parametrize(("label", "labels"), [("2", ("B-NP", "B-VP", "O")), ("", ("B-PER", "O"))])
def test_columns(read, label, labels):
    """Outside is always a label; by default, the labels are in the last column."""
    task, (example,) = read(Tagging, "1 Ann B-NP B-PER\n2 sings B-VP O\n", text="1", label=label)
    assert task.labels == labels and example.encoding.tokens[1:-1] == ["ann", "sings"]


def make(tokenizer, max_length=24):
    return QuestionAnswering(Planted(tokenizer), tokenizer, TaskSettings(max_length=max_length))


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
        encoding, (start, end) = window.encoding, window.target
        edges = [place for place, which in zip(encoding.offsets, encoding.sequence_ids, strict=True) if which == 1]
        if edges[0][0] <= first and last <= edges[-1][1]:
            assert encoding.offsets[start][0] <= first < encoding.offsets[start][1]
            assert encoding.offsets[end][0] < last <= encoding.offsets[end][1]
            assert encoding.sequence_ids[start] == encoding.sequence_ids[end] == 1
        else:
            assert (start, end) == (0, 0)
    assert any(window.target[0] for window in windows)


def ask(passage, *answers, id="q"):
    return Question(id, "who?", passage, tuple(GoldAnswer(text, passage.index(text)) for text in answers))


LONG = "a b c d e f " * 9 + "Ann playing. Bob"
QUESTIONS = [ask("Ann sings in Rome.", "in Rome", id="1"), ask("Bob", "Bob", id="2"), ask(LONG, "Ann playing", id="3")]
SEVERAL = ask("e f Ann plays well. Bob", "plays", "Ann plays")


@pytest.mark.parametrize(
    ("questions", "known", "shift", "exact_match", "f1"),
    [
        (QUESTIONS, QUESTIONS, 0, 100, 100),
        ([SEVERAL], [SEVERAL], 1, 0, 0),  # well for plays
        ([SEVERAL], [ask(SEVERAL.passage, "Ann plays")], 0, 100, 100),  # any gold answer counts
        (QUESTIONS[:1], QUESTIONS[:1], 1, 0, 200 / 3),  # Rome. for in Rome
    ],
)
def test_planted_answers(tokenizer, questions, known, shift, exact_match, f1):
    """The model knows the answer of each window, or the one that is `shift` tokens after it."""
    task = make(tokenizer)
    places = {tuple(window.encoding.ids): window.target for window in task.prepare(known)}

    def answer(batch):
        logits = np.zeros((2, *batch.input_ids.shape))
        for row, (ids, mask) in enumerate(zip(batch.input_ids, batch.attention_mask, strict=True)):
            place = np.array(places[tuple(ids[mask == 1])])
            if place[0]:
                logits[[0, 1], row, place + shift] = 9
        return QuestionAnsweringOutput(*logits)

    task.model.answer = answer
    metrics = task.evaluate(task.prepare(questions))
    del metrics["loss"]
    assert metrics == pytest.approx({"exact_match": exact_match, "f1": f1})
