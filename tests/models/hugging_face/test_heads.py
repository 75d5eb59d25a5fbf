"""Heads that are in the file, heads that are not, and heads of other models."""

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
from tests.models.hugging_face.checkpoints import (
    WEIGHTS,
    assert_same_values,
    load,
    problems,
    random_float32,
    values,
    write_checkpoint,
)

POOLER = ["pooler.dense.weight", "pooler.dense.bias"]
NEXT_SENTENCE = ["cls.seq_relationship.weight", "cls.seq_relationship.bias"]
CLASSIFIER = ["classifier.weight", "classifier.bias"]
ANSWERS = ["qa_outputs.weight", "qa_outputs.bias"]
TRANSFORM = [f"cls.predictions.transform.{name}" for name in ("dense.weight", "dense.bias")]
TRANSFORM += [f"cls.predictions.transform.LayerNorm.{name}" for name in ("weight", "bias")]
WORDS = [*TRANSFORM, "cls.predictions.bias"]


def new_from(folder, names):
    """The warning of these new tensors, if any."""
    return [f"not from {folder / WEIGHTS}, but new: {', '.join(names)}"] if names else []


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
def test_a_head_that_is_not_there_is_new_or_missing_where_that_is_forbidden(saved, loaded, new, tmp_path):
    source = random_float32(saved)
    model, warned = load(loaded, write_checkpoint(tmp_path, source))
    assert warned == new_from(tmp_path, new)
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
    if new:
        lines = problems(loaded, tmp_path, new_head=False)
        assert [line.partition(" (")[0] for line in lines] == [f"missing: {name}" for name in new]
    else:
        assert_same_values(load(loaded, tmp_path, new_head=False)[0], model)


def test_a_new_head_is_drawn_from_the_rng(tmp_path):
    write_checkpoint(tmp_path, random_float32(BertForMaskedLM, num_labels=200))
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


@pytest.mark.parametrize(
    ("cls", "name", "shape"),
    [
        (BertForSequenceClassification, "classifier.bias", "(2,)"),
        (BertForSequenceClassification, "bert.pooler.dense.weight", "(6, 6)"),
        (BertForQuestionAnswering, "qa_outputs.weight", "(2, 6)"),
        (BertForMaskedLM, "cls.predictions.transform.LayerNorm.bias", "(6,)"),
        (BertForPreTraining, "cls.seq_relationship.bias", "(2,)"),
        (BertModel, "embeddings.LayerNorm.bias", "(6,)"),
    ],
)
def test_half_a_head_is_an_error_and_a_part_of_bert_is_never_new(cls, name, shape, tmp_path):
    write_checkpoint(tmp_path, random_float32(cls), {name: None})
    assert problems(cls, tmp_path) == [f"missing: {name.removeprefix('bert.')} {shape}"]


@pytest.mark.parametrize(
    ("saved", "loaded", "new"),
    [
        (BertForSequenceClassification, BertForSequenceClassification, CLASSIFIER),
        (BertForMultipleChoice, BertForMultipleChoice, CLASSIFIER),
        (BertForTokenClassification, BertForTokenClassification, CLASSIFIER),
        (BertForQuestionAnswering, BertForQuestionAnswering, ANSWERS),
        (BertForTokenClassification, BertForSequenceClassification, [*POOLER, *CLASSIFIER]),
        *((cls, cls, []) for cls in (BertModel, BertForMaskedLM, BertForPreTraining)),
    ],
)
def test_a_classifier_that_is_there_can_be_started_anew(saved, loaded, new, tmp_path):
    source = random_float32(saved)
    model, warned = load(loaded, write_checkpoint(tmp_path, source), new_head=True)
    assert warned == new_from(tmp_path, new)
    for name, value in values(model).items():
        is_new = name.startswith(("classifier", "qa_outputs")) or name not in values(source)
        assert is_new or (value == values(source)[name]).all(), name
        assert not (is_new and name in values(source) and (value == values(source)[name]).any()), name


def test_a_classifier_of_another_size(tmp_path):
    write_checkpoint(tmp_path, random_float32(BertForSequenceClassification, num_labels=4))
    hint = " (new_head=True starts this head anew)"
    assert set(problems(BertForSequenceClassification, tmp_path, num_labels=3)) == {
        f"of another shape: classifier.weight (4, 6), wanted (3, 6){hint}",
        f"of another shape: classifier.bias (4,), wanted (3,){hint}",
    }
    model, warned = load(BertForSequenceClassification, tmp_path, num_labels=3, new_head=True)
    assert warned == new_from(tmp_path, CLASSIFIER)
    assert model.classifier.weight.value.shape == (6, 3)
