"""Heads and parts of one's own: out to a file and back, and what becomes of those that the file lacks."""

import numpy as np
import pytest

from npbert import BertForSequenceClassification, BertModel, Init, Linear, check_directions
from npbert.gradcheck import LossOf
from npbert.models.hugging_face.checkpoint import WEIGHTS_FILE
from tests.models.hugging_face.checkpoints import load, random_float32, write_checkpoint
from tests.models.own import OwnParts, Score, TwoTower
from tests.models.small import fixed_batch, random_model, small_config

OWN_HEAD = "norm.weight, norm.bias, steps.scale.gamma, steps.out.0.weight, steps.out.0.bias"
OWN_HEAD += ", temperature, offsets.weight, noise"


def test_the_models_are_right():
    batch = fixed_batch(labels=[2.0, 3.0])
    check_directions(LossOf(random_model(Score)), batch).raise_if_wrong()
    check_directions(random_model(OwnParts), batch).raise_if_wrong()
    pairs = fixed_batch().grouped(2)
    pairs.labels = np.array([2.0])
    check_directions(LossOf(random_model(TwoTower)), pairs).raise_if_wrong()


@pytest.mark.parametrize("options", [{}, {"start": 7.0}])
def test_a_head_that_the_file_lacks_is_as_its_constructor_makes_it_and_nothing_else_is_drawn(options, tmp_path):
    source = random_float32(BertModel)
    write_checkpoint(tmp_path, source)
    rng, again = np.random.default_rng(3), np.random.default_rng(3)
    model, warned = load(Score, tmp_path, rng=rng, **options)
    names = OWN_HEAD
    assert warned == [f"the head is new, and has to be trained: {names} (not from {tmp_path / WEIGHTS_FILE})"]

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

    write_checkpoint(tmp_path, model)
    load(Score, tmp_path, rng=rng)
    assert rng.bit_generator.state == again.bit_generator.state, "where nothing is new, nothing is drawn"
    model, (warning,) = load(Score, tmp_path, new_head=True)
    assert f": {names} (not from" in warning
    assert model.temperature.value == 5


def test_a_constructor_may_spawn_generators(tmp_path):
    class Spawns(BertModel):
        def __init__(self, config, *, rng, dtype):
            super().__init__(config, rng=rng, dtype=dtype)
            self.head = Linear(config.hidden_size, 1, Init(rng.spawn(1)[0], 0.1, dtype))

    write_checkpoint(tmp_path, random_float32(BertModel))
    first, again = (load(Spawns, tmp_path, rng=np.random.default_rng(1))[0].head.weight.value for _ in range(2))
    assert first.all()
    np.testing.assert_array_equal(first, again)


def test_heads_that_a_model_does_not_have_are_passed_over(tmp_path):
    source = random_float32(Score)
    write_checkpoint(tmp_path, source, {"cls.another.weight": np.zeros(3, np.float32)})
    bert, warned = load(BertModel, tmp_path, add_pooling_layer=False)
    assert not warned
    for one, another in zip(bert.parameters(), source.bert.parameters(), strict=True):
        np.testing.assert_array_equal(one.value, another.value)
    _, (warning,) = load(BertForSequenceClassification, tmp_path)
    assert (
        "new, and has to be trained: pooler.dense.weight, pooler.dense.bias, classifier.weight, classifier.bias ("
        in warning
    )


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
