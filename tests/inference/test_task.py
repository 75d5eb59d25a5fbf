"""Task: reading a model with its vocabulary, and many texts in batches. What a folder holds is said in words, not as a
list of tensors."""

import io
import itertools
import json
import logging
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st

import npbert
from npbert import Answer, BertModel, Classify, Embed, FillMask, Tag, Tokenizer
from npbert.inference import Task, batches_by_length
from npbert.inference.task import MANY
from npbert.io.files import FileError
from tests.inference.checkpoints import LONGEST, WORDS, small_model, write_checkpoint, write_vocabulary

COLUMNS = {
    Embed: [["the cat", "a dog ran"]],
    Classify: [["the cat", ("a dog", "ran")]],
    FillMask: [["the [MASK]", "[MASK] ran"]],
    Tag: [["the cat", "a dog ran"]],
    Answer: [["the cat?", "a dog?"], ["the cat sat", "a dog ran"]],
}


@pytest.fixture(scope="module")
def tokenizer(checkpoints):
    return Tokenizer.from_pretrained(checkpoints["embed"])


@pytest.fixture(scope="module")
def task(tokenizer):
    return Task(small_model(BertModel), tokenizer)


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 100), st.none() | st.integers(1, 9))
def test_batches_by_length(lengths, tokens, batch_size):
    most = batch_size or len(lengths)
    batches = list(batches_by_length(lengths, tokens, batch_size=batch_size))
    assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[number] for number in batch) <= tokens
        assert len(batch) <= most
    for batch in batches[:-1]:
        has_room = (len(batch) + 1) * max(1, lengths[batch[0]]) <= tokens and len(batch) < most
        assert not has_room, "one more would have found room"


def test_results_are_in_the_order_of_the_texts(task):
    lengths, words = (3, 30, 1, 7, 7, 30, 0, 15) * 20, itertools.cycle(WORDS[5:14])
    encodings, sizes = task.tokenize([" ".join([next(words)] * count) for count in lengths]), []
    wanted = [encoding.ids.tolist() for encoding in encodings]

    def compute(batch):
        sizes.append(batch.input_ids.size)
        return [row[row != task.tokenizer.pad_id].tolist() for row in batch.input_ids]

    for batch_size, most in ((None, 2048), (3, 3 * 32)):
        assert task.run(encodings, compute, batch_size=batch_size) == wanted
        assert max(sizes) <= most and len(sizes) > 1
        sizes.clear()
    with pytest.raises(ValueError, match="batch_size is 0, wanted at least 1"):
        task.run([], compute, batch_size=0)


def test_ids_are_what_a_model_reads_of_an_encoding(task, monkeypatch):
    monkeypatch.setattr("npbert.inference.task.TEXTS_AT_ONCE", 2)
    texts, tokenizer = ["the cat", ("the cat ran", "the cat"), "", "the " * 40, "ran"], task.tokenizer
    encodings, ids = tokenizer.encode(texts, max_length=task.max_length), task._encode(texts)
    assert [each.overflowing for each in ids] == [False, False, False, True, False]
    np.testing.assert_equal(vars(tokenizer.batch(ids)), vars(tokenizer.batch(encodings)))
    assert tokenizer.batch(ids).input_ids[-1, -1] == tokenizer.pad_id


@pytest.mark.parametrize(
    ("of_tokenizer", "given", "length", "why"),
    [
        (999, None, LONGEST, "the model takes"),
        (10, None, 10, "max_length allows"),
        (10, 20, 20, "max_length allows"),
    ],
)
def test_a_text_is_cut_where_the_tokenizer_or_the_caller_says(tmp_path, of_tokenizer, given, length, why):
    write_vocabulary(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"model_max_length": of_tokenizer}))
    model, tokenizer = small_model(BertModel), Tokenizer.from_pretrained(tmp_path)
    task = Task(model, tokenizer, max_length=given)
    message = f"^2 of 4 texts cut to the {length} tokens that {why}; the first is text 3$"
    with pytest.warns(UserWarning, match=message):
        encodings = task.tokenize(["cat " * (length - 2), "cat", "cat " * (length - 1), "dog " * 99])
    assert [len(encoding.ids) for encoding in encodings] == [length, 3, length, length]
    with pytest.raises(ValueError, match=f"max_length is {LONGEST + 1}, wanted at most {LONGEST} for this model"):
        Task(model, tokenizer, max_length=LONGEST + 1)


@pytest.mark.parametrize(("task_class", "columns"), COLUMNS.items())
def test_texts_may_come_from_an_iterator_and_weights_that_are_too_large_are_said(tokenizer, task_class, columns):
    """All texts would get one label, and the same words: a LayerNorm would make 0 of what is too large for it."""
    task = task_class(small_model(task_class.model_class), tokenizer)
    from_lists, from_iterators = task(*columns), task(*map(iter, columns))
    assert len(from_lists) == 2
    assert np.array_equal(from_iterators, from_lists) if task_class is Embed else from_iterators == from_lists
    for parameter in task.model.parameters():
        parameter.value *= 1e25
    with pytest.raises(ValueError, match="the model's output is not finite: its weights are too large for float32"):
        task(*columns)


class Terminal(io.StringIO):
    """Standard error as a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("count", "stream", "options", "level", "is_shown"),
    [
        (MANY, Terminal, {}, logging.INFO, True),
        (MANY - 1, Terminal, {}, logging.INFO, False),
        (MANY, Terminal, {}, logging.ERROR, False),  # npbert is to be quiet
        (3, io.StringIO, {"show_progress_bar": True}, logging.INFO, True),
    ],
)
def test_a_progress_bar(task, monkeypatch, caplog, count, stream, options, level, is_shown):
    """For many texts on a terminal, unless it is said."""
    monkeypatch.setattr(sys, "stderr", stream())
    with caplog.at_level(level, "npbert"):
        found = task.run(task.tokenize(["cat"] * count), lambda batch: batch.input_ids[:, 1], **options)
    assert len(found) == count
    assert f"{count}/{count}" in sys.stderr.getvalue() if is_shown else sys.stderr.getvalue() == ""


USES = {
    "Classify": ("BertForSequenceClassification", "a text classifier"),
    "Tag": ("BertForTokenClassification", "a tagger"),
    "Answer": ("BertForQuestionAnswering", "a question-answering model"),
    "FillMask": ("BertForMaskedLM", "a pre-trained BERT with a masked-LM head"),
}
FINETUNE = "; npbert finetune makes one from it"
HELD = {
    **{name: (called, "") for name, called in USES.values()},
    "BertForMultipleChoice": ("a model for multiple choice", ""),
    "BertModel": ("a BERT without a head", FINETUNE),
    "BertForPreTraining": ("a pre-trained BERT with a masked-LM head", FINETUNE),
    "BertForMaskedLM": ("a pre-trained BERT with a masked-LM head", FINETUNE),
}


@pytest.mark.parametrize("held", HELD)
def test_every_use_of_every_model(tmp_path, held):
    """A use is refused with what the folder holds, and what makes of it what is wanted."""
    called, hint = HELD[held]
    folder = write_checkpoint(tmp_path, getattr(npbert, held))
    npbert.Embed.from_pretrained(folder)
    for task, (wanted, name) in USES.items():
        if wanted == held or (wanted, held) == ("BertForMaskedLM", "BertForPreTraining"):
            getattr(npbert, task).from_pretrained(folder)
        else:
            with pytest.raises(FileError) as error:
                getattr(npbert, task).from_pretrained(folder)
            assert str(error.value) == f"{folder} has {called}, wanted {name}{hint}"


@pytest.mark.parametrize("architectures", [[], ["TwoTowers"]])
def test_without_a_known_class_in_the_configuration_the_tensors_decide(tmp_path, architectures):
    folder = write_checkpoint(tmp_path, npbert.BertForTokenClassification)
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "architectures": architectures}))
    npbert.Tag.from_pretrained(folder)
    with pytest.raises(FileError, match="does not fit BertForQuestionAnswering:\n  missing: qa_outputs"):
        npbert.Answer.from_pretrained(folder)
