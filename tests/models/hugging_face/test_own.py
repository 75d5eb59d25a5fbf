"""Heads and parts of one's own: out to a file and back, and what becomes of those that the file lacks."""

import re

import numpy as np
import pytest

from npbert import BertForSequenceClassification, BertModel, Init, Linear, check_directions
from npbert.gradcheck import LossOf
from npbert.models.hugging_face.checkpoint import WEIGHTS_FILE, hugging_face_tensors
from tests.models.hugging_face.checkpoints import assert_loads, load, problems, random_float32, write_checkpoint
from tests.models.own import NoBert, OwnParts, Score, TwoTower
from tests.models.small import fixed_batch, random_model, small_config

each_own = pytest.mark.parametrize("cls", [Score, TwoTower, OwnParts, NoBert])
OWN_HEAD = {  # by name: shape in the file, and whether that is the transpose
    "norm.weight": ((6,), False),
    "norm.bias": ((6,), False),
    "steps.scale.gamma": ((6,), False),
    "steps.out.0.weight": ((1, 6), True),
    "steps.out.0.bias": ((1,), False),
    "temperature": ((), False),
    "offsets.weight": ((3, 1), False),
    "noise": ((1, 1), False),
}
OWN_PARTS = {
    "encoder.layer.1.attention.self.query.weight": ((6, 6), True),
    "encoder.layers.1.feed_forward.linear.weight": ((6, 6), True),
    "encoder.layers.1.feed_forward.linear.bias": ((6,), False),
    "encoder.layers.1.feed_forward.gate": ((6, 6), False),
    "encoder.layers.1.output_norm.g": ((6,), False),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@each_own
def test_there_and_back_bit_for_bit(cls, dtype, tmp_path):
    model = random_model(cls, dtype=dtype)
    model.save_pretrained(tmp_path)
    assert_loads(model, tmp_path, dtype=dtype)


def test_the_models_are_right():
    batch = fixed_batch(labels=[2.0, 3.0])
    check_directions(LossOf(random_model(Score)), batch).raise_if_wrong()
    check_directions(random_model(OwnParts), batch).raise_if_wrong()
    pairs = fixed_batch().grouped(2)
    pairs.labels = np.array([2.0])
    check_directions(LossOf(random_model(TwoTower)), pairs).raise_if_wrong()


@pytest.mark.parametrize(("cls", "wanted"), [(Score, OWN_HEAD), (OwnParts, OWN_PARTS)])
def test_names_and_shapes_are_those_of_torch_for_what_torch_has_and_else_its_own(cls, wanted):
    model = random_model(cls)
    tensors = hugging_face_tensors(model)
    ours = dict(model.named_parameters())
    in_npbert = {"encoder.layer.1.attention.self.query.weight": "encoder.layers.1.attention.query.weight"}
    in_npbert |= {"norm.weight": "norm.gamma", "norm.bias": "norm.beta"}
    for name, (shape, transposed) in wanted.items():
        value = ours[in_npbert.get(name, name)].value
        np.testing.assert_array_equal(tensors[name], value.T if transposed else value, strict=True)
        assert tensors[name].shape == shape
    others = {name for name in tensors if name not in wanted}
    assert all(re.match(r"(bert\.)?(embeddings|encoder\.layer|pooler)\.", name) for name in others)


@pytest.mark.parametrize("options", [{}, {"start": 7.0}])
def test_a_head_that_the_file_lacks_is_as_its_constructor_makes_it_and_nothing_else_is_drawn(options, tmp_path):
    source = random_float32(BertModel)
    write_checkpoint(tmp_path, source)
    rng, again = np.random.default_rng(3), np.random.default_rng(3)
    model, warned = load(Score, tmp_path, rng=rng, **options)
    names = ", ".join(OWN_HEAD)
    assert warned == [f"not from {tmp_path / WEIGHTS_FILE}, but new: {names}"]

    out, offsets = again.normal(0, 0.3, (6, 1)), again.normal(0, 0.3, (3, 1))
    noise = again.uniform(1, 2, (1, 1))
    assert rng.bit_generator.state == again.bit_generator.state
    wanted = {"steps.out.0.weight": 2 * out.astype(np.float32), "offsets.weight": offsets, "noise": noise}
    wanted |= {"norm.gamma": np.ones(6), "norm.beta": np.zeros(6), "steps.scale.gamma": np.ones(6)}
    wanted |= {"steps.out.0.bias": np.zeros(1), "temperature": options.get("start", 5.0)}
    stored = {f"bert.{name}": parameter.value for name, parameter in source.named_parameters()}
    for name, parameter in model.named_parameters():
        value = np.asarray({**stored, **wanted}[name], np.float32)
        np.testing.assert_array_equal(parameter.value, value, strict=True, err_msg=name)


def test_where_nothing_is_new_nothing_is_drawn(tmp_path):
    write_checkpoint(tmp_path, random_float32(Score))
    rng = np.random.default_rng(3)
    load(Score, tmp_path, rng=rng)
    assert rng.bit_generator.state == np.random.default_rng(3).bit_generator.state


def test_a_constructor_may_spawn_generators(tmp_path):
    class Spawns(BertModel):
        def __init__(self, config, *, rng, dtype):
            super().__init__(config, rng=rng, dtype=dtype)
            self.head = Linear(config.hidden_size, 1, Init(rng.spawn(1)[0], 0.1, dtype))

    write_checkpoint(tmp_path, random_float32(BertModel))
    first, again = (load(Spawns, tmp_path, rng=np.random.default_rng(1))[0].head.weight.value for _ in range(2))
    assert first.all()
    np.testing.assert_array_equal(first, again)


def test_it_may_start_anew_or_be_forbidden_to(tmp_path):
    write_checkpoint(tmp_path, random_float32(Score))
    model, (warning,) = load(Score, tmp_path, new_head=True)
    assert warning.endswith(", ".join(OWN_HEAD))
    assert model.temperature.value == 5
    write_checkpoint(tmp_path, random_float32(BertModel))
    lines = [f"missing: {name} {shape}" for name, (shape, _) in OWN_HEAD.items()]
    found = problems(Score, tmp_path, new_head=False)
    assert found[: len(lines)] == lines
    assert [line.partition(" (")[0] for line in found[len(lines) :]] == []


def test_heads_that_a_model_does_not_have_are_passed_over(tmp_path):
    source = random_float32(Score)
    write_checkpoint(tmp_path, source, {"cls.another.weight": np.zeros(3, np.float32)})
    bert, warned = load(BertModel, tmp_path, add_pooling_layer=False)
    assert not warned
    for one, another in zip(bert.parameters(), source.bert.parameters(), strict=True):
        np.testing.assert_array_equal(one.value, another.value)
    _, (warning,) = load(BertForSequenceClassification, tmp_path)
    assert warning.endswith("but new: pooler.dense.weight, pooler.dense.bias, classifier.weight, classifier.bias")


EXTRA = np.zeros((2, 3), np.float32)


@pytest.mark.parametrize(
    "name", ["bert.encoder.layer.1.gate", "embeddings.word_embedings.weight", "norm.scale", "noise.x"]
)
def test_what_is_unknown_in_a_part_that_the_model_has_is_a_mistake(name, tmp_path):
    write_checkpoint(tmp_path, random_float32(Score), {name: EXTRA})
    assert problems(Score, tmp_path) == [f"unknown: {name} (2, 3)"]


def test_where_something_is_missing_all_that_is_unknown_is_listed(tmp_path):
    write_checkpoint(
        tmp_path, random_float32(Score), {"norm.weight": None, "nrom.weight": EXTRA, "classifier.bias": EXTRA}
    )
    assert problems(Score, tmp_path) == ["missing: norm.weight (6,)", "unknown: nrom.weight (2, 3)"]


def test_a_head_of_another_shape(tmp_path):
    write_checkpoint(tmp_path, random_float32(Score), {"norm.bias": EXTRA})
    line = "of another shape: norm.bias (2, 3), wanted (6,) (new_head=True starts this head anew)"
    assert problems(Score, tmp_path) == [line]


def test_a_part_of_bert_is_never_new(tmp_path):
    write_checkpoint(tmp_path, random_float32(BertModel))
    missing = [line for line in problems(OwnParts, tmp_path) if line.startswith("missing")]
    assert [line.split()[1] for line in missing] == list(OWN_PARTS)[1:]


def test_two_parameters_of_one_name_are_refused_when_they_are_saved_and_when_they_are_loaded(tmp_path):
    class Twice(Score):
        def __init__(self, config, *, rng, dtype=np.float32):
            super().__init__(config, rng=rng, dtype=dtype)
            self.embeddings = BertModel(config, rng=rng, dtype=dtype).embeddings

    name = "embeddings.word_embeddings.weight"
    message = (
        f"^Twice: bert.{name} and {name} would both be called {name} in a file, so one of them needs another name$"
    )
    with pytest.raises(ValueError, match=message):
        Twice(small_config(), rng=None).save_pretrained(tmp_path)
    assert not list(tmp_path.iterdir())
    write_checkpoint(tmp_path, random_float32(Score))
    with pytest.raises(ValueError, match=message):
        Twice.from_pretrained(tmp_path)
