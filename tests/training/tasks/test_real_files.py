"""CoLA, STS-B and SQuAD as they are published."""

import shutil
from collections import Counter

import pytest

from npbert.data import Tokenizer
from npbert.training.tasks import QuestionAnswering, TaskSettings, TextClassification, TextRegression
from tests.shared_data import shared_data
from tests.training.tasks.tiny import Planted

pytest.importorskip("tokenizers", reason="tokenizers is not installed: pip install -e '.[hf]'")


@pytest.fixture
def tokenizer(tmp_path):
    shutil.copy(shared_data() / "vocab" / "bert-base-uncased-vocab.txt", tmp_path / "vocab.txt")
    return Tokenizer.from_pretrained(tmp_path)


def test_cola_and_stsb(tokenizer):
    cola = TextClassification(TaskSettings(text="3"), tokenizer)
    assert len(cola.read(str(shared_data() / "cola" / "in_domain_dev.tsv"))) == 527
    assert cola.labels == ("0", "1")
    similarity = TextRegression(TaskSettings(text="5", text_pair="6", label="4", delimiter="tab"), tokenizer)
    examples = similarity.read(str(shared_data() / "stsb" / "sts-dev.csv"))
    assert len(examples) == 1500
    assert max(example.label for example in examples) == 5
    assert set(examples[0].encoding.sequence_ids) == {None, 0, 1}


@pytest.mark.parametrize(("name", "step"), [("train-40-articles.json", 45), ("dev-8-articles.json", 16)])
def test_real_answers_are_found(tokenizer, name, step):
    """All of them; an answer that begins or ends inside a token (18 in 2018, thing in things) comes with all of it."""
    task = QuestionAnswering(TaskSettings(max_length=128), tokenizer)
    questions = task.read(str(shared_data() / "squad" / name))[::step]
    how = Counter()
    for question in questions:
        (text, start), end = question.answers[0], question.answers[0].start + len(question.answers[0].text)
        spans = {found(window, question.passage) for window in task.windows(Planted(tokenizer), [question])} - {None}
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
    if window.start == 0:
        return None
    return passage[window.encoding.offsets[window.start][0] : window.encoding.offsets[window.end][1]]
