"""Task: reading a model with its vocabulary, and many texts in batches."""

import io
import re
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import Answer, BertForMaskedLM, BertModel, Embed, FillMask, Tokenizer
from npbert.extras import MissingExtraError
from npbert.files import FileError
from npbert.inference import Task, batches_by_length
from npbert.inference.task import MANY
from tests.inference.checkpoints import LONGEST, WORDS, small_model, write_checkpoint, write_vocabulary


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
    seen = []

    def compute(batch, numbers):
        seen.append(batch.input_ids.size)
        return zip(numbers, batch.attention_mask.sum(axis=1), strict=True)

    results = task.run(task.encode(texts), compute)
    assert results == [(number, len(text.split()) + 2) for number, text in enumerate(texts)]
    assert 1 < len(seen) < 10
    assert max(seen) <= 2048


def test_a_result_too_few_is_noticed(task):
    with pytest.raises(ValueError, match="shorter"):
        task.run(task.encode(["cat", "dog"]), lambda batch, numbers: [1])


def test_batching_changes_no_result(tokenizer):
    embed = Embed(small_model(BertModel), tokenizer)
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS[5:14], rng.integers(0, 29))) for _ in range(120)]
    together = embed(texts)
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_allclose(embed(text), vector, atol=1e-5)


def test_a_text_that_is_too_long_is_cut_and_said_so(task):
    texts = ["cat " * (LONGEST - 2), "cat", "cat " * (LONGEST - 1), "dog " * 99]
    message = f"^2 of 4 texts are longer than the {LONGEST} tokens that the model takes, .*; the first is text 3$"
    with pytest.warns(UserWarning, match=message):
        encodings = task.encode(texts)
    assert [len(encoding.ids) for encoding in encodings] == [LONGEST, 3, LONGEST, LONGEST]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        task.encode(texts[:2])


def test_a_vocabulary_that_the_model_has_no_rows_for(tokenizer):
    with pytest.raises(ValueError, match="the vocabulary has 20 tokens, but the model's vocab_size is 19"):
        Task(small_model(BertModel, vocab_size=19), tokenizer)
    Task(small_model(BertModel, vocab_size=21), tokenizer)


@pytest.mark.parametrize("words", [WORDS[:-1], [*WORDS, "new"]])
def test_a_vocabulary_of_another_size_in_the_folder(tmp_path, words):
    folder = write_vocabulary(write_checkpoint(tmp_path, BertModel), words)
    message = f"{folder}: the vocabulary has {len(words)} tokens, but vocab_size in its config.json is 20"
    with pytest.raises(FileError, match="^" + re.escape(message)):
        Embed.from_pretrained(folder)


@pytest.mark.parametrize("task_class", [FillMask, Answer])
def test_a_head_that_the_file_does_not_have(tmp_path, task_class):
    folder = write_checkpoint(tmp_path, BertModel)
    path = re.escape(str(folder / "model.safetensors"))
    with pytest.raises(FileError, match=f"^{path} does not fit {task_class.model_class.__name__}:\n  missing: "):
        task_class.from_pretrained(folder)


def test_folders_that_are_none(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"bert-base-uncased is no checkpoint: there is no such folder"):
        FillMask.from_pretrained("bert-base-uncased")
    small_model(BertForMaskedLM).save_pretrained(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"has no tokenizer\.json and no vocab\.txt"):
        FillMask.from_pretrained(tmp_path)


class Terminal(io.StringIO):
    """Standard error as a terminal."""

    def isatty(self):
        return True


def run_many(task, count):
    assert task.run(task.encode(["cat"] * count), lambda batch, numbers: numbers) == list(range(count))


def test_a_progress_bar_for_many_texts_on_a_terminal(task, monkeypatch):
    written = {}
    for count, stream in [(MANY, Terminal()), (MANY - 1, Terminal()), (MANY, io.StringIO())]:
        monkeypatch.setattr(sys, "stderr", stream)
        run_many(task, count)
        written[count, stream.isatty()] = stream.getvalue()
    assert f"{MANY}/{MANY}" in written.pop((MANY, True))
    assert set(written.values()) == {""}


def test_few_texts_need_no_progress_bar(task, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    run_many(task, MANY - 1)
    with pytest.raises(MissingExtraError, match="tqdm"):
        run_many(task, MANY)
