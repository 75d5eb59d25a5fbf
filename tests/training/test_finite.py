"""When a number is no longer finite, the error says at which step and where, and nothing of that step is kept."""

import numpy as np
import pytest

from npbert.io.lines import METRICS_FILE, read_json_lines
from npbert.training import MODEL_FOLDER, STATE_FILE
from npbert.training.state import NotFiniteError
from npbert.training.trainer import layers_not_finite
from tests.training.tiny import classifier, collate, examples, make_trainer, results, task_data

BATCH = collate(examples(4))
pytestmark = pytest.mark.filterwarnings("error")


def first(model):
    with np.errstate(all="ignore"):
        return layers_not_finite(model, [BATCH], None)[:1]


def parameter(model, name):
    return dict(model.named_parameters())[name]


FIRST = "bert.encoder.layers.0.attention"
OVERFLOWS = {  # parameters that grow, and the first layer whose output a float32 cannot hold; parts come before a whole
    "the next": (["bert.embeddings.layer_norm.gamma"], 1e38, f"{FIRST}.query"),
    "a product of two": ([f"{FIRST}.query.weight", f"{FIRST}.key.weight"], 1e25, f"{FIRST}.dot_product"),
}


@pytest.mark.parametrize(("names", "factor", "layer"), OVERFLOWS.values(), ids=OVERFLOWS)
def test_the_first_layer(names, factor, layer):
    model = classifier(initializer_range=10.0)
    model.bert.encoder.gradient_checkpointing = True
    before = {name: parameter(model, name).value.copy() for name in names}
    for name, value in before.items():
        parameter(model, name).value[...] = np.clip(value.astype(np.float64) * factor, -3e38, 3e38)
    assert first(model) == [layer]
    for name, value in before.items():
        parameter(model, name).value[...] = value
    assert first(model) == []


def spoil(model, how):
    if how == "gradient":
        backward = model.classifier.backward
        model.classifier.backward = lambda dy, tape: backward(dy, tape) * np.float32(np.nan)
    else:
        parameter(model, "bert.pooler.dense.bias").value[...] = np.nan if how == "parameter" else 20.0
        parameter(model, "classifier.weight").value[...] = 3e38


LOSS = "^step 5: the loss is .* and the norm of the gradient .*; "
SENTENCES = {
    "parameter": r"^the parameter bert\.pooler\.dense\.bias is not finite after step 4; ",
    "layer": f"{LOSS}the first values that are not finite come from classifier; ",
    "gradient": rf"{LOSS}all values are finite, but the gradient of bert\.pooler\.dense\.bias is not; ",
}


@pytest.mark.parametrize(("how", "sentence"), SENTENCES.items())
def test_training_stops_before_the_step_and_goes_on_from_the_state_before(tmp_path, how, sentence):
    def watched(batch, tape):
        draws.append(tape.rng.bit_generator.state["state"])
        return loss(batch, tape)

    model, draws = classifier(), []
    model.loss, loss = watched, model.loss
    trainer = make_trainer(tmp_path, model=model, data=task_data(5, lambda: spoil(model, how)), steps=8, save_every=3)
    with pytest.raises(NotFiniteError, match=f"{sentence}try a smaller learning rate$"):
        trainer.train()
    assert trainer.step == 4
    *rows, last = read_json_lines(tmp_path / METRICS_FILE)
    assert [row["step"] for row in rows] == [1, 2, 3, 4]
    assert last["step"] == 5 and None in (last["loss"], last["gradient_norm"]), "where it came is in the curves"
    assert how == "parameter" or draws[5:] == draws[4:5] != draws[3:4], "the layer is looked for with the same dropout"

    make_trainer(tmp_path, steps=8, save_every=3).train()
    make_trainer(tmp_path / "whole", steps=8, save_every=3).train()
    assert results(tmp_path) == results(tmp_path / "whole")


def test_a_step_too_far(tmp_path):
    """The step itself makes a parameter infinite: no state and no model of it is kept, not even at the last step."""
    trainer = make_trainer(tmp_path, steps=1, learning_rate=1e39)
    message = r"^the parameter bert\.\S+ is not finite after step 1; try a smaller learning rate$"
    with pytest.raises(NotFiniteError, match=message):
        trainer.train()
    assert not (tmp_path / STATE_FILE).exists() and not (tmp_path / MODEL_FOLDER).exists()
