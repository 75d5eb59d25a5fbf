"""Task: reading a model with its vocabulary, and many texts in batches."""

import io
import re
import sys
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import Answer, BertForMaskedLM, BertModel, FillMask, Tokenizer
from npbert.extras import MissingExtraError
from npbert.files import FileError
from npbert.inference import Task, batches_by_length
from npbert.inference.task import MANY
from tests.inference.checkpoints import LONGEST, small_model, write_checkpoint, write_vocabulary


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return Tokenizer.from_pretrained(write_vocabulary(tmp_path_factory.mktemp("vocabulary")))


@pytest.fixture(scope="module")
def task(tokenizer):
    return Task(small_model(BertModel), tokenizer)


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 100))
def test_batches_by_length(lengths, tokens):
    batches = list(batches_by_length(lengths, tokens))
    assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[number] for number in batch) <= tokens
    in_order = [lengths[number] for batch in batches for number in batch]
    assert in_order == sorted(lengths, reverse=True), "like goes with like"
    for batch in batches[:-1]:
        assert (len(batch) + 1) * max(1, lengths[batch[0]]) > tokens, "one more would have found room"


def test_results_are_in_the_order_of_the_texts(task):
    texts = [" ".join(["cat"] * count) for count in (3, 30, 1, 7, 7, 30, 0, 15) * 20]
    sizes = []

    def compute(batch, numbers):
        sizes.append(batch.input_ids.size)
        return zip(numbers, batch.attention_mask.sum(axis=1), strict=True)

    wanted = [(number, len(text.split()) + 2) for number, text in enumerate(texts)]
    assert task.run(task.encode(texts), compute) == wanted
    assert 1 < len(sizes) < 10
    assert max(sizes) <= 2048
    with pytest.raises(ValueError, match="shorter"):
        task.run(task.encode(["cat", "dog"]), lambda batch, numbers: [1])


def test_a_text_that_is_too_long_is_cut_and_said_so(task):
    texts = ["cat " * (LONGEST - 2), "cat", "cat " * (LONGEST - 1), "dog " * 99]
    message = f"^2 of 4 texts are longer than the {LONGEST} tokens that the model takes, .*; the first is text 3$"
    with pytest.warns(UserWarning, match=message):
        encodings = task.encode(texts)
    assert [len(encoding.ids) for encoding in encodings] == [LONGEST, 3, LONGEST, LONGEST]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        task.encode(texts[:2])


def test_a_vocabulary_or_a_folder_that_does_not_fit(tokenizer, tmp_path):
    """Each error names the folder or the file. (The command line's tests have the vocabulary of another size.)"""
    with pytest.raises(ValueError, match="the vocabulary has 20 tokens, but the model's vocab_size is 19"):
        Task(small_model(BertModel, vocab_size=19), tokenizer)
    Task(small_model(BertModel, vocab_size=21), tokenizer)
    with pytest.raises(FileNotFoundError, match=r"bert-base-uncased is no checkpoint: there is no such folder"):
        FillMask.from_pretrained("bert-base-uncased")
    small_model(BertForMaskedLM).save_pretrained(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"has no tokenizer\.json and no vocab\.txt"):
        FillMask.from_pretrained(tmp_path)
    path = re.escape(str(write_checkpoint(tmp_path, BertModel) / "model.safetensors"))
    for task_class in (FillMask, Answer):
        with pytest.raises(FileError, match=f"^{path} does not fit {task_class.model_class.__name__}:\n  missing: "):
            task_class.from_pretrained(tmp_path)


class Terminal(io.StringIO):
    """Standard error as a terminal."""

    def isatty(self):
        return True


def test_a_progress_bar_for_many_texts_on_a_terminal(task, monkeypatch):
    encodings = task.encode(["cat"] * MANY)
    for count, stream, shown in ((MANY, Terminal(), True), (MANY - 1, Terminal(), False), (MANY, io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        assert task.run(encodings[:count], lambda batch, numbers: numbers) == list(range(count))
        assert f"{MANY}/{MANY}" in stream.getvalue() if shown else stream.getvalue() == ""
    monkeypatch.setitem(sys.modules, "tqdm", None)
    task.run(encodings[1:], lambda batch, numbers: numbers)
    with pytest.raises(MissingExtraError, match="tqdm"):
        task.run(encodings, lambda batch, numbers: numbers)
