"""When a number is no longer finite, the error says at which step and where, and nothing of that step is kept."""

import numpy as np
import pytest

from npbert import Batch, Layer
from npbert.json_lines import METRICS_FILE, read_json_lines
from npbert.training.finite import NotFiniteError, first_not_finite
from npbert.training.settings import SETTINGS_FILE
from npbert.training.state import LOCK_FILE
from tests.training.tiny import classifier, collate, examples, make_trainer, results, task_data

BATCH = collate(examples(4))
ONLY_THE_SUM = "all values and gradients are finite, but their sum is not"
pytestmark = pytest.mark.filterwarnings("error")


def first(model, batch=BATCH):
    return first_not_finite(model, [(batch, None)], model.named_parameters())[1]


def parameter(model, name):
    return dict(model.named_parameters())[name]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_first_parameter_or_else_the_first_gradient(bad):
    model = classifier()
    names = ("classifier.bias", "bert.pooler.dense.weight", "bert.encoder.layers.0.attention.key.bias")
    for name in names:
        parameter(model, name).grad.flat[-1] = bad
        assert first(model) == f"all values are finite, but the gradient of {name} is not"
    for name in names:
        parameter(model, name).value.flat[-1] = bad
        assert first(model) == f"the parameter {name} is not finite"


FIRST, SECOND = "bert.encoder.layers.0.attention", "bert.encoder.layers.1"
OVERFLOWS = {  # parameters that grow, and the first layer whose output a float32 cannot hold; parts come before a whole
    "itself": ([f"{SECOND}.attention.value.weight"], 1e40, f"{SECOND}.attention.value"),
    "the next": (["bert.embeddings.layer_norm.gamma"], 1e38, f"{FIRST}.query"),
    "a product of two": ([f"{FIRST}.query.weight", f"{FIRST}.key.weight"], 1e25, f"{FIRST}.dot_product"),
    "after the encoder": ([f"{SECOND}.output_norm.gamma"], 1e38, "bert.pooler.dense"),
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
    assert first(model) == f"the first values that are not finite come out of {layer}"
    for name, value in before.items():
        parameter(model, name).value[...] = value
    assert first(model) == ONLY_THE_SUM, "what was found once is not found again"


def test_layers_of_ones_own_that_are_in_a_dict_or_give_something_else_than_an_array():
    class Gives(Layer):
        def __init__(self, what):
            self.what = what

        def forward(self):
            return self.what

    class Whole(Layer):
        def __init__(self, what):
            self.words, self.steps = Gives({"what": "no number"}), {"last": [Gives(what)]}

        def loss(self, *_):
            self.words.forward()
            self.steps["last"][0].forward()

    for what in ((1.0, np.inf), (np.nan, 1.0), (None, np.nan), np.array([np.inf])):
        assert first(Whole(what)) == "the first values that are not finite come out of steps.last.0"
    assert first(Whole((None, 1.0))) == ONLY_THE_SUM


def test_an_error_while_watching_leaves_the_layers_as_they_were():
    model = classifier()
    before = [dict(vars(layer)) for layer in (model, model.bert.encoder.layers[1].attention.query)]
    with pytest.raises(IndexError, match="input_ids"):
        first(model, Batch(np.array([[99]]), labels=np.array([0])))
    assert [dict(vars(layer)) for layer in (model, model.bert.encoder.layers[1].attention.query)] == before


def spoil(model, how):
    if how == "gradient":
        backward = model.classifier.backward
        model.classifier.backward = lambda dy, tape: backward(dy, tape) * np.float32(np.nan)
    else:
        parameter(model, "bert.pooler.dense.bias").value[...] = np.nan if how == "parameter" else 20.0
        parameter(model, "classifier.weight").value[...] = 3e38


SENTENCES = {
    "parameter": "the parameter bert.pooler.dense.bias is not finite",
    "layer": "the first values that are not finite come out of classifier",
    "gradient": "all values are finite, but the gradient of bert.embeddings.word_embeddings.weight is not",
}


@pytest.mark.parametrize(("how", "sentence"), SENTENCES.items(), ids=SENTENCES)
def test_training_stops_before_the_step_and_goes_on_from_the_state_before(tmp_path, how, sentence):
    def watched(batch, tape):
        draws.append(tape.rng.bit_generator.state["state"])
        return loss(batch, tape)

    model, draws = classifier(), []
    model.loss, loss = watched, model.loss
    trainer = make_trainer(tmp_path, model=model, data=task_data(5, lambda: spoil(model, how)), steps=8, save_every=3)
    with pytest.raises(NotFiniteError, match=r"^step 5: the loss is .* and the norm of the gradient ") as error:
        trainer.train()
    assert f"; {sentence}. A smaller learning rate may help." in str(error.value)
    assert trainer.step == 4
    assert [row["step"] for row in read_json_lines(tmp_path / METRICS_FILE)] == [1, 2, 3, 4]
    assert how == "parameter" or draws[5:] == draws[4:5] != draws[3:4], "the layer is looked for with the same dropout"

    make_trainer(tmp_path, steps=8, save_every=3).train()
    make_trainer(tmp_path / "whole", steps=8, save_every=3).train()
    assert results(tmp_path) == results(tmp_path / "whole")


@pytest.mark.parametrize("steps", [1, 4])
def test_a_step_too_far(tmp_path, steps):
    """The step itself makes a parameter infinite: no state and no model of it is kept, not even at the last step."""
    trainer = make_trainer(tmp_path, steps=steps, learning_rate=1e39, save_every=1)
    message = r"^step 1: the parameter bert\.\S+ is not finite after it. A smaller learning rate may help.$"
    with pytest.raises(NotFiniteError, match=message):
        trainer.train()
    assert {file.name for file in tmp_path.iterdir() if file.is_file()} == {SETTINGS_FILE, LOCK_FILE}
    assert not (tmp_path / "model").exists()
