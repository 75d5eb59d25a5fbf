"""Heads that are in the file, heads that are not, and heads of other models."""

import numpy as np
import pytest

from npbert import BertForMaskedLM, BertForSequenceClassification, BertForTokenClassification
from npbert.models.hugging_face.checkpoint import WEIGHTS_FILE, hugging_face_tensors
from tests.models.hugging_face.checkpoints import load, problems, random_float32, write_checkpoint
from tests.models.small import CLASSES, each_class

TASK_HEADS = "classifier", "qa_outputs"


def plain_tensors(model):
    return {name.removeprefix("bert."): tensor for name, tensor in hugging_face_tensors(model).items()}


def is_initial(name, tensor):
    """Drawn from normal(0, 0.02), or 1 for a γ, or 0."""
    if tensor.ndim == 2:
        return 0 < np.abs(tensor).max() < 0.1
    return (tensor == name.endswith("LayerNorm.weight")).all()


@pytest.mark.parametrize("new_head", [None, True, False])
@pytest.mark.parametrize("loaded", CLASSES, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("saved", CLASSES, ids=lambda cls: cls.__name__)
def test_a_head_that_is_not_there_is_new_and_a_classifier_that_is_may_be(saved, loaded, new_head, tmp_path):
    source = random_float32(saved, num_labels=1)
    stored, wanted = plain_tensors(source), plain_tensors(random_float32(loaded, num_labels=1))
    write_checkpoint(tmp_path, source)
    new = [name for name in wanted if name not in stored or (new_head and name.startswith(TASK_HEADS))]
    if new and new_head is False:
        lines = problems(loaded, tmp_path, new_head=False)
        assert [line.partition(" (")[0] for line in lines] == [f"missing: {name}" for name in new]
        return
    model, warned = load(loaded, tmp_path, new_head=new_head)
    assert warned == ([f"not from {tmp_path / WEIGHTS_FILE}, but new: {', '.join(new)}"] if new else [])
    for name, tensor in plain_tensors(model).items():
        assert is_initial(name, tensor) if name in new else (tensor == stored[name]).all(), name


def test_a_new_head_is_drawn_from_the_rng(tmp_path):
    write_checkpoint(tmp_path, random_float32(BertForMaskedLM, num_labels=200))
    every = ({}, {"rng": np.random.default_rng(0)}, {"rng": np.random.default_rng(1)}, {"initializer_range": 0.3})
    heads = [load(BertForTokenClassification, tmp_path, **options)[0].classifier.weight.value for options in every]
    np.testing.assert_array_equal(heads[0], heads[1])
    assert (heads[1] != heads[2]).any()
    assert [head.std() for head in heads] == pytest.approx([0.02, 0.02, 0.02, 0.3], rel=0.1)
    assert [head.mean() for head in heads] == pytest.approx([0] * 4, abs=0.03)


@each_class
def test_half_a_head_is_an_error_and_a_part_of_bert_is_never_new(cls, tmp_path):
    model = random_float32(cls)
    for name, tensor in hugging_face_tensors(model).items():
        write_checkpoint(tmp_path, model, {name: None})
        assert problems(cls, tmp_path) == [f"missing: {name.removeprefix('bert.')} {tensor.shape}"]


def test_a_classifier_of_another_size(tmp_path):
    write_checkpoint(tmp_path, random_float32(BertForSequenceClassification, num_labels=4))
    hint = " (new_head=True starts this head anew)"
    assert sorted(problems(BertForSequenceClassification, tmp_path, num_labels=3)) == [
        f"of another shape: classifier.bias (4,), wanted (3,){hint}",
        f"of another shape: classifier.weight (4, 6), wanted (3, 6){hint}",
    ]
    model, _ = load(BertForSequenceClassification, tmp_path, num_labels=3, new_head=True)
    assert model.classifier.weight.value.shape == (6, 3)
