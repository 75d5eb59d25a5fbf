"""Heads that are in the file, heads that are not, and heads of other models or of one's own."""

from itertools import product

import numpy as np
import pytest

from npbert import BertModel
from npbert.models.hugging_face.checkpoint import WEIGHTS_FILE, hugging_face_tensors
from tests.models.hugging_face.checkpoints import load, problems, random_float32, write_checkpoint
from tests.models.own import Score
from tests.models.small import CLASSES, each_class, small_config
from tests.tables import one_in

TASK_HEADS = "classifier", "qa_outputs"


def plain_tensors(model):
    return {name.removeprefix("bert."): tensor for name, tensor in hugging_face_tensors(model).items()}


@pytest.mark.parametrize(("saved", "loaded"), one_in(7, product(CLASSES, CLASSES)), ids=lambda cls: cls.__name__)
def test_a_head_that_is_not_there_is_new_and_a_classifier_that_is_may_be(saved, loaded, tmp_path):
    source = random_float32(saved, num_labels=1)
    stored, wanted = plain_tensors(source), plain_tensors(loaded(source.config, rng=None))
    write_checkpoint(tmp_path, source)
    lacking = [name for name in wanted if name not in stored]
    if lacking:
        lines = problems(loaded, tmp_path, new_head=False)
        assert [line.partition(" (")[0] for line in lines] == [f"missing: {name}" for name in lacking]
    for new_head in (None, True):
        new = [name for name in wanted if name in lacking or (new_head and name.startswith(TASK_HEADS))]
        model, warned = load(loaded, tmp_path, new_head=new_head)
        note = f"the head is new and needs training: {', '.join(new)} (not from {tmp_path / WEIGHTS_FILE})"
        assert warned == ([note] if new else [])
        for name, tensor in plain_tensors(model).items():
            is_small = np.abs(tensor - name.endswith("LayerNorm.weight")).max() < 0.1  # of normal(0, 0.02), or 0 or 1
            assert is_small if name in new else (tensor == stored[name]).all(), name


@each_class
def test_half_a_head_is_an_error_and_a_part_of_bert_is_never_new(cls, tmp_path):
    model = random_float32(cls)
    tensors = hugging_face_tensors(model)
    for name, tensor in ((name, tensors[name]) for name in tensors if not name.startswith("bert.")):
        write_checkpoint(tmp_path, model, {name: None})
        assert problems(cls, tmp_path) == [f"missing: {name.removeprefix('bert.')} {tensor.shape}"]


TURNED, OTHER, HINT = (6, 7), (2, 3), "; for a new head, give new_head=True"
INTERMEDIATE = "encoder.layer.0.intermediate.dense.weight"
MISFITS = [  # what is changed in a saved model of a class, and what is said when it is loaded
    (
        BertModel,
        {INTERMEDIATE: TURNED, "embeddings.LayerNorm.bias": None, "encoder.layer.2.b": OTHER, "some.thing": OTHER},
        [
            "missing: embeddings.LayerNorm.bias (6,)",
            f"of another shape: {INTERMEDIATE} (6, 7), wanted (7, 6)",
            "unknown: encoder.layer.2.b (2, 3)",
        ],
    ),
    (Score, {"norm.bias": OTHER}, [f"of another shape: norm.bias (2, 3), wanted (6,){HINT}"]),
    (Score, {"norm.weight": None, "norm.wieght": OTHER}, ["missing: norm.weight (6,)", "unknown: norm.wieght (2, 3)"]),
    (Score, {"noise.x": OTHER}, ["unknown: noise.x (2, 3)"]),  # in a part that the model has
]


@pytest.mark.parametrize(("cls", "changes", "lines"), MISFITS)
def test_all_that_does_not_fit_is_listed(cls, changes, lines, tmp_path):
    tensors = {name: shape and np.zeros(shape, np.float32) for name, shape in changes.items()}
    write_checkpoint(tmp_path, random_float32(cls), tensors)
    assert sorted(problems(cls, tmp_path)) == lines
    if HINT in lines[0]:
        load(cls, tmp_path, new_head=True)


def test_a_head_that_the_file_lacks_is_as_its_constructor_makes_it_and_nothing_else_is_drawn(tmp_path):
    source = random_float32(BertModel)
    write_checkpoint(tmp_path, source)
    rng, again = np.random.default_rng(3), np.random.default_rng(3)
    model, (said,) = load(Score, tmp_path, rng=rng, start=7.0)
    assert ": norm.weight, norm.bias, steps.scale.gamma, steps.out.0.weight, steps.out.0.bias, temperature, " in said

    out, noise = again.normal(0, 0.3, (6, 1)), again.uniform(1, 2, (1, 1))  # what __init__ itself reads and draws
    offsets = again.normal(0, 0.3, (3, 1))  # and then what is left to start
    assert rng.bit_generator.state == again.bit_generator.state
    wanted = {"steps.out.0.weight": 2 * out.astype(np.float32), "offsets.weight": offsets, "noise": noise}
    wanted |= {"norm.gamma": np.ones(6), "norm.beta": np.zeros(6), "steps.scale.gamma": np.ones(6)}
    wanted |= {"steps.out.0.bias": np.zeros(1), "temperature": 7.0}
    wanted |= {f"bert.{name}": parameter.value for name, parameter in source.named_parameters()}
    for name, parameter in model.named_parameters():
        np.testing.assert_array_equal(parameter.value, np.asarray(wanted[name], np.float32), strict=True, err_msg=name)


def test_two_parameters_of_one_name_are_refused_when_they_are_saved_and_when_they_are_loaded(tmp_path):
    class Twice(Score):
        def __init__(self, config, *, rng, dtype=np.float32):
            super().__init__(config, rng=rng, dtype=dtype)
            self.embeddings = BertModel(config, rng=rng, dtype=dtype).embeddings

    name = "embeddings.word_embeddings.weight"
    message = f"^Twice: bert.{name} and {name} would both be {name} in a file; rename one"
    with pytest.raises(ValueError, match=message):
        Twice(small_config(), rng=None).save_pretrained(tmp_path)
    assert not list(tmp_path.iterdir())
    write_checkpoint(tmp_path, random_float32(Score))
    with pytest.raises(ValueError, match=message):
        Twice.from_pretrained(tmp_path)
