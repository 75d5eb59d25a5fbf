"""Heads that are in the file, heads that are not, and heads of other models."""

import numpy as np
import pytest

from npbert import BertForMaskedLM, BertForSequenceClassification, BertForTokenClassification, BertModel
from npbert.models.hugging_face.checkpoint import WEIGHTS_FILE, hugging_face_tensors
from tests.models.hugging_face.checkpoints import load, problems, random_float32, write_checkpoint
from tests.models.own import OwnParts, Score
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
    note = f"the head is new, and has to be trained: {', '.join(new)} (not from {tmp_path / WEIGHTS_FILE})"
    assert warned == ([note] if new else [])
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


TURNED, OTHER, HINT = (6, 7), (2, 3), " (new_head=True starts this head anew)"
MISFITS = [  # the model that is saved, and what is changed in it: the model that is loaded, and what is said
    (
        BertModel,
        {
            "encoder.layer.0.intermediate.dense.weight": TURNED,
            "some.thing": OTHER,
            "pooler.dense.bias": TURNED,
            "embeddings.LayerNorm.bias": None,
            "encoder.layer.2.output.dense.weight": OTHER,
        },
        BertModel,
        [
            "missing: embeddings.LayerNorm.bias (6,)",
            "of another shape: encoder.layer.0.intermediate.dense.weight (6, 7), wanted (7, 6)",
            "of another shape: pooler.dense.bias (6, 7), wanted (6,)",
            "unknown: encoder.layer.2.output.dense.weight (2, 3)",
            "unknown: some.thing (2, 3)",
        ],
    ),
    (
        BertForSequenceClassification,
        {"classifier.bias": (4,), "classifier.weight": (4, 6)},
        BertForSequenceClassification,
        [
            f"of another shape: classifier.bias (4,), wanted (2,){HINT}",
            f"of another shape: classifier.weight (4, 6), wanted (2, 6){HINT}",
        ],
    ),
    (Score, {"norm.bias": OTHER}, Score, [f"of another shape: norm.bias (2, 3), wanted (6,){HINT}"]),
    (
        Score,  # where something is missing, all that is unknown is listed
        {"norm.weight": None, "nrom.weight": OTHER, "classifier.bias": OTHER},
        Score,
        ["missing: norm.weight (6,)", "unknown: nrom.weight (2, 3)"],
    ),
    *[  # what is unknown in a part that the model has is a mistake
        (Score, {name: OTHER}, Score, [f"unknown: {name} (2, 3)"])
        for name in ("bert.encoder.layer.1.gate", "embeddings.word_embedings.weight", "norm.scale", "noise.x")
    ],
    (
        BertModel,  # a part of BERT is never new
        {},
        OwnParts,
        [
            *(f"missing: encoder.layers.1.feed_forward.{name}" for name in ("gate (6, 6)", "linear.bias (6,)")),
            "missing: encoder.layers.1.feed_forward.linear.weight (6, 6)",
        ],
    ),
]


@pytest.mark.parametrize(("saved", "changes", "loaded", "lines"), MISFITS)
def test_all_that_does_not_fit_is_listed(saved, changes, loaded, lines, tmp_path):
    tensors = {name: shape and np.zeros(shape, np.float32) for name, shape in changes.items()}
    write_checkpoint(tmp_path, random_float32(saved), tensors)
    found = [line for line in sorted(problems(loaded, tmp_path)) if loaded is not OwnParts or "missing" in line]
    assert found == lines
    if HINT in lines[0]:
        load(loaded, tmp_path, new_head=True)
