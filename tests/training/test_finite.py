"""When a number is no longer finite, the error says at which step and where, and nothing of that step is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npbert import Batch, Layer
from npbert.training.finite import NotFiniteError, first_not_finite
from npbert.training.log import METRICS_FILE, read_metrics
from npbert.training.run_folder import LOCK_FILE
from npbert.training.settings import SETTINGS_FILE
from tests.training.tiny import classifier, collate, examples, make_trainer, results, task_data

BATCH = collate(examples(4))
ONLY_THE_SUM = "all values and gradients are finite, but their sum is not"
pytestmark = pytest.mark.filterwarnings("error")


def parameter(model: Any, name: str) -> Any:
    return dict(model.named_parameters())[name]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_first_parameter(bad):
    model = classifier()
    for name in ("bert.encoder.layers.1.feed_forward.output.bias", "bert.encoder.layers.0.attention.key.weight"):
        parameter(model, name).value.flat[-1] = bad
        assert first_not_finite(model, BATCH, None) == f"the parameter {name} is not finite"


def test_the_first_gradient():
    model = classifier()
    parameter(model, "classifier.bias").grad[0] = np.inf
    parameter(model, "bert.pooler.dense.bias").grad[3] = np.nan
    said = first_not_finite(model, BATCH, None)
    assert said == "all values are finite, but the gradient of bert.pooler.dense.bias is not"


LAYER = "bert.encoder.layers"
OVERFLOWS = {  # parameters that grow, and the first layer whose output a float32 cannot hold; parts come before a whole
    "itself": ([f"{LAYER}.1.attention.value.weight"], 1e40, f"{LAYER}.1.attention.value"),
    "the next": (["bert.embeddings.layer_norm.gamma"], 1e38, f"{LAYER}.0.attention.query"),
    "a product of two": (
        [f"{LAYER}.0.attention.query.weight", f"{LAYER}.0.attention.key.weight"],
        1e25,
        f"{LAYER}.0.attention.dot_product",
    ),
    "after the encoder": ([f"{LAYER}.1.output_norm.gamma"], 1e38, "bert.pooler.dense"),
    "the head": (["classifier.weight"], 1e40, "classifier"),
}


@pytest.mark.parametrize("checkpointing", [False, True])
@pytest.mark.parametrize(("names", "factor", "layer"), OVERFLOWS.values(), ids=OVERFLOWS)
def test_the_first_layer(names, factor, layer, checkpointing):
    model = classifier(initializer_range=10.0)
    model.bert.encoder.gradient_checkpointing = checkpointing
    before = {name: parameter(model, name).value.copy() for name in names}
    for name, value in before.items():
        parameter(model, name).value[...] = np.clip(value.astype(np.float64) * factor, -3e38, 3e38)
    assert first_not_finite(model, BATCH, None) == f"the first values that are not finite come out of {layer}"
    for name, value in before.items():
        parameter(model, name).value[...] = value
    assert first_not_finite(model, BATCH, None) == ONLY_THE_SUM, "what was found once is not found again"


@pytest.mark.parametrize("outputs", [(1.0, np.inf), (np.nan, 1.0), (None, np.nan), (None, 1.0)])
def test_any_of_two_outputs(outputs):
    class Two(Layer):
        def forward(self) -> Any:
            return outputs

        def loss(self, *_: Any) -> Any:
            return self.forward()

    said = ONLY_THE_SUM if outputs == (None, 1.0) else "the first values that are not finite come out of model"
    assert first_not_finite(Two(), BATCH, None) == said


def test_an_error_while_watching_leaves_the_layers_as_they_were():
    model = classifier()
    layers = (model, model.bert.encoder, model.bert.encoder.layers[1].attention.query)
    before = [dict(vars(layer)) for layer in layers]
    with pytest.raises(IndexError, match="input_ids"):
        first_not_finite(model, Batch(np.array([[99]]), labels=np.array([0])), None)
    assert [dict(vars(layer)) for layer in layers] == before


class Breaks:
    """The data of a model that breaks at a step, by a parameter, a layer or a gradient."""

    def __init__(self, model: Any, step: int, how: str) -> None:
        self.data, self.model, self.left, self.how = task_data(), model, step, how

    def batches(self, *args: Any) -> Any:
        for place, batch in self.data.batches(*args):
            self.left -= 1
            if self.left == 0:
                getattr(self, self.how)()
            yield place, batch

    def parameter(self) -> None:
        parameter(self.model, "bert.pooler.dense.bias").value[0] = np.nan

    def layer(self) -> None:
        parameter(self.model, "classifier.weight").value[...] = 3e38
        parameter(self.model, "bert.pooler.dense.bias").value[...] = 20.0

    def gradient(self) -> None:
        backward = self.model.classifier.backward
        self.model.classifier.backward = lambda dy, tape: backward(dy, tape) * np.float32(np.nan)


SENTENCES = {
    "parameter": "the parameter bert.pooler.dense.bias is not finite",
    "layer": "the first values that are not finite come out of classifier",
    "gradient": "all values are finite, but the gradient of bert.embeddings.word_embeddings.weight is not",
}


@pytest.mark.parametrize(("how", "sentence"), SENTENCES.items(), ids=SENTENCES)
def test_training_stops_before_the_step_and_goes_on_from_the_state_before(tmp_path, how, sentence):
    model = classifier()
    trainer = make_trainer(tmp_path, model=model, data=Breaks(model, 8, how), save_every=3)
    with pytest.raises(NotFiniteError, match=r"^step 8: the loss is .* and the norm of the gradient ") as error:
        trainer.train()
    assert f"; {sentence}. A smaller learning rate may help." in str(error.value)
    assert trainer.step == 7
    assert [row["step"] for row in read_metrics(tmp_path / METRICS_FILE)] == [1, 2, 3, 4, 5, 6, 7]
    make_trainer(tmp_path, save_every=3).train()
    make_trainer(tmp_path / "whole", save_every=3).train()
    assert results(tmp_path) == results(tmp_path / "whole")


def test_the_same_dropout_is_looked_at(tmp_path):
    """What breaks with one draw of dropout need not break with another."""
    seen = []
    model = classifier()
    loss = model.loss

    def watched(batch: Batch, tape: Any) -> Any:
        seen.append(tape.rng.bit_generator.state["state"])
        return loss(batch, tape)

    model.loss = watched
    with pytest.raises(NotFiniteError):
        make_trainer(tmp_path, model=model, data=Breaks(model, 3, "gradient")).train()
    assert len(seen) == 4
    assert seen[3] == seen[2] != seen[1], "the fourth is to find the layer"


@pytest.mark.parametrize("steps", [1, 4])
def test_a_step_too_far(tmp_path, steps):
    """The step itself makes a parameter infinite: no state and no model of it is kept, not even at the last step."""
    trainer = make_trainer(tmp_path, steps=steps, learning_rate=1e39, save_every=1)
    message = r"^step 1: the parameter bert\.\S+ is not finite after it. A smaller learning rate may help.$"
    with pytest.raises(NotFiniteError, match=message):
        trainer.train()
    assert {file.name for file in tmp_path.iterdir() if file.is_file()} == {METRICS_FILE, SETTINGS_FILE, LOCK_FILE}
    assert not (tmp_path / "model").exists()
