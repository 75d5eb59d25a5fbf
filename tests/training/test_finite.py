"""When a number is no longer finite, the error says at which step and where, and nothing of that step is kept."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from npbert import Batch, Layer
from npbert.training.finite import NotFiniteError, first_not_finite
from npbert.training.log import METRICS_FILE, read_metrics
from npbert.training.run_folder import LOCK_FILE
from npbert.training.settings import SETTINGS_FILE
from npbert.training.state import STATE_FILE, load_state
from tests.training.tiny import classifier, collate, examples, make_trainer, results, task_data

BATCH = collate(examples(4))


@pytest.fixture(autouse=True)
def no_picture(monkeypatch):
    monkeypatch.setattr("npbert.training.trainer.plot_curves", lambda *_: None)


def parameter(model: Any, name: str) -> Any:
    return dict(model.named_parameters())[name]


def layers(item: Any) -> list[Any]:
    """Everything with a forward that `item` holds, itself included."""
    if isinstance(item, list):
        return [layer for part in item for layer in layers(part)]
    if not hasattr(item, "forward"):
        return []
    return [item, *(layer for part in vars(item).values() for layer in layers(part))]


def assert_untouched(model: Any) -> None:
    assert all("forward" not in vars(layer) for layer in layers(model))
    assert len(layers(model)) > 20


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_parameter(bad):
    model = classifier()
    for name in ("bert.encoder.layers.1.feed_forward.output.bias", "bert.encoder.layers.0.attention.key.weight"):
        parameter(model, name).value.flat[-1] = bad
        assert first_not_finite(model, BATCH, None) == f"the parameter {name} is not finite"
    assert_untouched(model)


# parameters that grow by 1e38 or 1e25, and the first layer whose output is more than a float32 can hold; an inner layer
# is done before the one around it
OVERFLOWS = {
    "itself": (["bert.encoder.layers.1.attention.value.weight"], 1e40, "bert.encoder.layers.1.attention.value"),
    "the next": (["bert.embeddings.layer_norm.gamma"], 1e38, "bert.encoder.layers.0.attention.query"),
    "a product of two": (
        ["bert.encoder.layers.0.attention.query.weight", "bert.encoder.layers.0.attention.key.weight"],
        1e25,
        "bert.encoder.layers.0.attention.dot_product.softmax",
    ),
    "after the encoder": (["bert.encoder.layers.1.output_norm.gamma"], 1e38, "bert.pooler.dense"),
    "the head": (["classifier.weight"], 1e40, "classifier"),
}


@pytest.mark.parametrize(("names", "factor", "layer"), OVERFLOWS.values(), ids=OVERFLOWS)
def test_a_layer(names, factor, layer):
    model = classifier(initializer_range=10.0)
    for name in names:
        value = parameter(model, name).value
        value[...] = np.clip(value.astype(np.float64) * factor, -3e38, 3e38)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = first_not_finite(model, BATCH, None)
    assert said == f"the first values that are not finite come out of {layer}"
    assert_untouched(model)


class Two(Layer):
    """A layer with two outputs, and perhaps none for the first."""

    def forward(self, *outputs: Any) -> tuple[Any, Any]:
        return outputs, None


class OfTwo(Layer):
    def __init__(self, *outputs: Any) -> None:
        self.parts, self.outputs = [Two(), Two()], outputs

    def forward(self, *_: Any) -> tuple[float, Any]:
        return 1.0, self.parts[1].forward(*self.outputs)

    def loss(self, *inputs: Any) -> Any:
        return self.forward(*inputs)


@pytest.mark.parametrize("outputs", [(1.0, np.inf), (np.nan, 1.0), (None, np.nan)])
def test_any_of_two_outputs(outputs):
    said = first_not_finite(OfTwo(*outputs), BATCH, None)
    assert said == "the first values that are not finite come out of parts.1"
    assert "but their sum is not" in first_not_finite(OfTwo(None, 1.0), BATCH, None)


def test_a_gradient():
    model = classifier()
    name = "bert.encoder.layers.0.attention.value.bias"
    parameter(model, name).grad[3] = np.nan
    parameter(model, "classifier.bias").grad[0] = np.inf
    assert first_not_finite(model, BATCH, None) == f"all values are finite, but the gradient of {name} is not"


def test_only_a_sum():
    model = classifier()
    said = first_not_finite(model, BATCH, None)
    assert said == "all values and gradients are finite, but their sum is not"


def test_an_error_while_watching_leaves_the_layers_as_they_were():
    model = classifier()
    with pytest.raises(IndexError, match="input_ids"):
        first_not_finite(model, Batch(np.array([[99]]), labels=np.array([0])), None)
    assert_untouched(model)


class Breaks:
    """A model that breaks at a step, by a parameter, a layer or a gradient."""

    def __init__(self, model: Any, step: int, how: str) -> None:
        self.data, self.model, self.left, self.how = task_data(), model, step, how

    def batches(self, *args: Any) -> Any:
        for place, batch in self.data.batches(*args):
            self.left -= 1
            if self.left == 0 and self.how == "parameter":
                parameter(self.model, "bert.pooler.dense.bias").value[0] = np.nan
            if self.left == 0 and self.how == "layer":
                parameter(self.model, "classifier.weight").value[...] = 3e38
                parameter(self.model, "bert.pooler.dense.bias").value[...] = 20.0
            if self.left == 0 and self.how == "gradient":
                self.model.classifier.backward = lambda dy, cache: np.full((len(dy), 8), np.nan, np.float32)
            yield place, batch


SENTENCES = {
    "parameter": "the parameter bert.pooler.dense.bias is not finite",
    "layer": "the first values that are not finite come out of classifier",
    "gradient": "all values are finite, but the gradient of bert.embeddings.word_embeddings.weight is not",
}


@pytest.mark.parametrize(("how", "sentence"), SENTENCES.items(), ids=SENTENCES)
def test_training_stops(tmp_path, how, sentence):
    model = classifier()
    trainer = make_trainer(tmp_path, model=model, data=Breaks(model, 8, how), save_every=3)
    steps = []
    step = trainer.optimizer.step
    trainer.optimizer.step = lambda scale: (steps.append(trainer.step + 1), step(scale))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(NotFiniteError, match=r"^step 8: the loss is .* and the norm of the gradient ") as error:
            trainer.train()
    assert f"; {sentence}. A smaller learning rate may help." in str(error.value)
    assert (steps, trainer.step) == ([1, 2, 3, 4, 5, 6, 7], 7)
    assert [row["step"] for row in read_metrics(tmp_path / METRICS_FILE)] == [1, 2, 3, 4, 5, 6, 7]
    assert trainer.progress.averages.counts == {}
    assert_untouched(model)

    again = classifier()
    load_state(tmp_path / STATE_FILE, again, make_trainer(tmp_path / "x", model=again).optimizer)
    assert all(np.isfinite(item.value).all() for item in again.parameters())


def test_it_goes_on_from_the_state_before(tmp_path):
    make_trainer(tmp_path / "whole").train()
    model = classifier()
    broken = make_trainer(tmp_path / "broken", model=model, data=Breaks(model, 8, "parameter"), save_every=3)
    with pytest.raises(NotFiniteError):
        broken.train()
    make_trainer(tmp_path / "broken", save_every=3).train()
    assert results(tmp_path / "broken") == results(tmp_path / "whole")


def test_the_same_dropout_is_looked_at(tmp_path, monkeypatch):
    """What breaks with one draw of dropout need not break with another."""
    seen = []
    monkeypatch.setattr(
        "npbert.training.trainer.first_not_finite",
        lambda model, batch, rng: (seen.append(rng.bit_generator.state["state"]), "x")[1],
    )
    model = classifier()
    trainer = make_trainer(tmp_path, model=model, data=Breaks(model, 3, "parameter"))
    states = []
    loss = model.loss

    def watched(batch: Batch, rng: Any) -> Any:
        states.append(rng.bit_generator.state["state"])
        return loss(batch, rng)

    model.loss = watched
    with pytest.raises(NotFiniteError):
        trainer.train()
    assert seen == [states[2]]


@pytest.mark.parametrize("steps", [1, 4])
def test_a_step_too_far(tmp_path, steps):
    """The step itself makes a parameter infinite: no state and no model of it is kept, not even at the last step."""
    trainer = make_trainer(tmp_path, steps=steps, learning_rate=1e39, save_every=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        message = r"^step 1: the parameter bert\.\S+ is not finite after it. A smaller learning rate may help.$"
        with pytest.raises(NotFiniteError, match=message):
            trainer.train()
    assert {file.name for file in tmp_path.iterdir() if file.is_file()} == {METRICS_FILE, SETTINGS_FILE, LOCK_FILE}
    assert not (tmp_path / "model").exists()
