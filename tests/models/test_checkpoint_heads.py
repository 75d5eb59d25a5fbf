"""Heads that are in the file, heads that are not, and heads of other models."""

import warnings

import numpy as np
import pytest

from npbert import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
)
from npbert.files import FileError
from tests.models.checkpoints import assert_same_values, random_model, values, write_checkpoint

POOLER = ["pooler.dense.weight", "pooler.dense.bias"]
NEXT_SENTENCE = ["cls.seq_relationship.weight", "cls.seq_relationship.bias"]
CLASSIFIER = ["classifier.weight", "classifier.bias"]
ANSWERS = ["qa_outputs.weight", "qa_outputs.bias"]
WORDS = [
    "cls.predictions.transform.dense.weight",
    "cls.predictions.transform.dense.bias",
    "cls.predictions.transform.LayerNorm.weight",
    "cls.predictions.transform.LayerNorm.bias",
    "cls.predictions.bias",
]


def load(cls, folder, **options):
    """The model, and all that it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = cls.from_pretrained(folder, **options)
    return model, caught


def assert_warned_of(caught, folder, names):
    """One warning, of this file, with these names, which points to who called from_pretrained."""
    assert [str(warning.message) for warning in caught] == [
        f"not from {folder / 'model.safetensors'}, but new: {', '.join(names)}"
    ]
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("saved", "loaded", "new"),
    [
        (BertForPreTraining, BertModel, []),
        (BertForPreTraining, BertForMaskedLM, []),
        (BertForPreTraining, BertForSequenceClassification, CLASSIFIER),
        (BertForPreTraining, BertForMultipleChoice, CLASSIFIER),
        (BertForPreTraining, BertForTokenClassification, CLASSIFIER),
        (BertForPreTraining, BertForQuestionAnswering, ANSWERS),
        (BertForMaskedLM, BertModel, POOLER),
        (BertForMaskedLM, BertForPreTraining, [*POOLER, *NEXT_SENTENCE]),
        (BertForMaskedLM, BertForSequenceClassification, [*POOLER, *CLASSIFIER]),
        (BertModel, BertForPreTraining, [*WORDS, *NEXT_SENTENCE]),
        (BertForSequenceClassification, BertForTokenClassification, []),
        (BertForSequenceClassification, BertForQuestionAnswering, ANSWERS),
        (BertForTokenClassification, BertForSequenceClassification, POOLER),
        (BertForQuestionAnswering, BertForMaskedLM, WORDS),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_head_that_is_not_there_is_new(saved, loaded, new, tmp_path):
    source = random_model(saved)
    model, caught = load(loaded, write_checkpoint(tmp_path, source))
    if new:
        assert_warned_of(caught, tmp_path, new)
    else:
        assert not caught
    stored = {name.removeprefix("bert."): value for name, value in values(source).items()}
    fresh = 0
    for name, value in values(model).items():
        if name.removeprefix("bert.") in stored:
            np.testing.assert_array_equal(value, stored[name.removeprefix("bert.")], err_msg=name)
            continue
        fresh += 1
        if value.ndim == 2:
            assert 0 < np.abs(value).max() < 0.2, name  # normal(0, 0.02)
        else:
            assert (value == (1 if name.endswith("gamma") else 0)).all(), name
    assert fresh == len(new)


def test_a_new_head_is_drawn_from_the_rng(tmp_path):
    write_checkpoint(tmp_path, random_model(BertForMaskedLM, num_labels=200))
    heads = []
    for options in ({}, {"rng": np.random.default_rng(0)}, {"rng": np.random.default_rng(1)}):
        model, _ = load(BertForTokenClassification, tmp_path, **options)
        heads.append(model.classifier.weight.value)
    np.testing.assert_array_equal(heads[0], heads[1])
    assert (heads[1] != heads[2]).any()
    wide, _ = load(BertForTokenClassification, tmp_path, initializer_range=0.3, dtype=np.float64)
    for head, scale in ((heads[0], 0.02), (wide.classifier.weight.value, 0.3)):
        assert head.std() == pytest.approx(scale, rel=0.1)
        assert abs(head.mean()) < scale / 10


HALVES = [
    (BertForSequenceClassification, "classifier.bias", "(2,)"),
    (BertForSequenceClassification, "bert.pooler.dense.weight", "(6, 6)"),
    (BertForQuestionAnswering, "qa_outputs.weight", "(2, 6)"),
    (BertForMaskedLM, "cls.predictions.transform.LayerNorm.bias", "(6,)"),
    (BertForPreTraining, "cls.seq_relationship.bias", "(2,)"),
]


@pytest.mark.parametrize(("cls", "name", "shape"), HALVES, ids=lambda value: getattr(value, "__name__", ""))
def test_half_a_head_is_an_error(cls, name, shape, tmp_path):
    write_checkpoint(tmp_path, random_model(cls), {name: None})
    with pytest.raises(FileError, match=f"does not fit {cls.__name__}") as caught:
        cls.from_pretrained(tmp_path)
    assert str(caught.value).split("\n  ")[1:] == [f"missing: {name.removeprefix('bert.')} {shape}"]


@pytest.mark.parametrize(
    ("saved", "loaded", "missing"),
    [
        (BertForPreTraining, BertForSequenceClassification, CLASSIFIER),
        (BertForPreTraining, BertForQuestionAnswering, ANSWERS),
        (BertForMaskedLM, BertModel, POOLER),
        (BertModel, BertForMaskedLM, WORDS),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_new_head_can_be_forbidden(saved, loaded, missing, tmp_path):
    write_checkpoint(tmp_path, random_model(saved))
    with pytest.raises(FileError, match=f"does not fit {loaded.__name__}") as caught:
        loaded.from_pretrained(tmp_path, new_head=False)
    lines = str(caught.value).split("\n  ")[1:]
    assert [line.partition(" (")[0] for line in lines] == [f"missing: {name}" for name in missing]
    model, warned = load(saved, tmp_path, new_head=False)
    assert not warned
    assert_same_values(model, random_model(saved))


def test_a_part_of_bert_is_never_new(tmp_path):
    write_checkpoint(tmp_path, random_model(BertModel), {"embeddings.LayerNorm.bias": None})
    with pytest.raises(FileError, match=r"missing: embeddings.LayerNorm.bias \(6,\)"):
        BertModel.from_pretrained(tmp_path)


@pytest.mark.parametrize(
    ("cls", "new"),
    [
        (BertForSequenceClassification, CLASSIFIER),
        (BertForMultipleChoice, CLASSIFIER),
        (BertForTokenClassification, CLASSIFIER),
        (BertForQuestionAnswering, ANSWERS),
    ],
)
def test_a_head_that_is_there_can_be_started_anew(cls, new, tmp_path):
    saved = random_model(cls)
    model, caught = load(cls, write_checkpoint(tmp_path, saved), new_head=True)
    assert_warned_of(caught, tmp_path, new)
    for name, value in values(model).items():
        assert (value == values(saved)[name]).all() == name.startswith("bert."), name


def test_started_anew_beside_one_that_is_not_there(tmp_path):
    write_checkpoint(tmp_path, random_model(BertForTokenClassification))
    _, caught = load(BertForSequenceClassification, tmp_path, new_head=True)
    assert_warned_of(caught, tmp_path, [*POOLER, *CLASSIFIER])


@pytest.mark.parametrize("cls", [BertModel, BertForMaskedLM, BertForPreTraining])
def test_what_has_no_classifier_has_none_to_start_anew(cls, tmp_path):
    saved = random_model(cls)
    model, caught = load(cls, write_checkpoint(tmp_path, saved), new_head=True)
    assert not caught
    assert_same_values(model, saved)


def test_a_classifier_of_another_size(tmp_path):
    write_checkpoint(tmp_path, random_model(BertForSequenceClassification, num_labels=4))
    with pytest.raises(FileError, match="does not fit BertForSequenceClassification") as caught:
        BertForSequenceClassification.from_pretrained(tmp_path, num_labels=3)
    hint = " (new_head=True starts this head anew)"
    assert set(str(caught.value).split("\n  ")[1:]) == {
        f"of another shape: classifier.weight (4, 6), wanted (3, 6){hint}",
        f"of another shape: classifier.bias (4,), wanted (3,){hint}",
    }
    model, warned = load(BertForSequenceClassification, tmp_path, num_labels=3, new_head=True)
    assert_warned_of(warned, tmp_path, CLASSIFIER)
    assert model.classifier.weight.value.shape == (6, 3)


def test_no_hint_where_it_would_not_help(tmp_path):
    write_checkpoint(tmp_path, random_model(BertModel), {"pooler.dense.bias": np.zeros(4, np.float32)})
    with pytest.raises(FileError, match=r"pooler.dense.bias \(4,\), wanted \(6,\)$"):
        BertModel.from_pretrained(tmp_path)
