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
    tensors = hugging_face_tensors(model)
    for name, tensor in ((name, tensors[name]) for name in tensors if not name.startswith("bert.")):
        write_checkpoint(tmp_path, model, {name: None})
        assert problems(cls, tmp_path) == [f"missing: {name.removeprefix('bert.')} {tensor.shape}"]


TURNED, OTHER, HINT = (6, 7), (2, 3), " (new_head=True starts this head anew)"
INTERMEDIATE = "encoder.layer.0.intermediate.dense.weight"
MISFITS = [  # what is changed in a saved model of a class, and what is said when it is loaded
    (
        BertModel,
        {INTERMEDIATE: TURNED, "some.thing": OTHER, "embeddings.LayerNorm.bias": None, "encoder.layer.2.b": OTHER},
        [
            "missing: embeddings.LayerNorm.bias (6,)",
            f"of another shape: {INTERMEDIATE} (6, 7), wanted (7, 6)",
            "unknown: encoder.layer.2.b (2, 3)",
            "unknown: some.thing (2, 3)",
        ],
    ),
    (
        BertForSequenceClassification,
        {"classifier.bias": (4,), "classifier.weight": (4, 6)},
        [
            f"of another shape: classifier.bias (4,), wanted (2,){HINT}",
            f"of another shape: classifier.weight (4, 6), wanted (2, 6){HINT}",
        ],
    ),
    (Score, {"norm.bias": OTHER}, [f"of another shape: norm.bias (2, 3), wanted (6,){HINT}"]),
    (
        Score,  # where something is missing, all that is unknown is listed
        {"norm.weight": None, "nrom.weight": OTHER, "classifier.bias": OTHER},
        ["missing: norm.weight (6,)", "unknown: nrom.weight (2, 3)"],
    ),
    *[  # what is unknown in a part that the model has is a mistake
        (Score, {name: OTHER}, [f"unknown: {name} (2, 3)"])
        for name in ("bert.encoder.layer.1.gate", "embeddings.word_embedings.weight", "norm.scale", "noise.x")
    ],
]


@pytest.mark.parametrize(("cls", "changes", "lines"), MISFITS)
def test_all_that_does_not_fit_is_listed(cls, changes, lines, tmp_path):
    tensors = {name: shape and np.zeros(shape, np.float32) for name, shape in changes.items()}
    write_checkpoint(tmp_path, random_float32(cls), tensors)
    assert sorted(problems(cls, tmp_path)) == lines
    if HINT in lines[0]:
        load(cls, tmp_path, new_head=True)


def test_a_part_of_bert_that_was_replaced_is_not_new(tmp_path):
    write_checkpoint(tmp_path, random_float32(BertModel))
    missing, *unknown = problems(OwnParts, tmp_path)
    assert missing == "missing: encoder.layers.1.feed_forward.gamma (6,)"
    assert all(line.startswith("unknown: encoder.layer.1.") for line in unknown)
