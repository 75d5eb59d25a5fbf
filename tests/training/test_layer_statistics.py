"""What is known of a step by layer: the gradient's norm, and how far the step moves the weights."""

from types import SimpleNamespace

import numpy as np
import pytest

from npbert import AdamW, Tape
from npbert.json_lines import LAYERS_FILE, read_json_lines
from npbert.models import parameters_by_layer
from npbert.training.layer_statistics import LayerStatistics, histograms
from npbert.training.settings import TrainerSettings
from tests.training.tiny import classifier, collate, examples, make_trainer

LAYERS = ["embeddings", "layer 1", "layer 2", "pooler", "classifier"]


def statistics_of(model, update):
    """The row that is written for a step that makes this update."""
    rows = []
    log = SimpleNamespace(layers=SimpleNamespace(write=lambda _, row: rows.append(row)))
    watcher, step = LayerStatistics(model, TrainerSettings(log_every=1), log), SimpleNamespace(number=1)
    watcher.before_update(step)
    update()
    watcher.after(step)
    return rows[0]


def backward(model):
    batch, tape = collate(examples(4)), Tape()
    model.zero_grad()
    model.loss(batch, tape)
    model.loss_backward(1.0, tape)


def norm(arrays):
    return np.sqrt(sum(float((array.astype(float) ** 2).sum()) for array in arrays))


def test_the_numbers_of_a_step():
    model = classifier(np.float64)
    backward(model)
    layers = parameters_by_layer(model)
    before = {name: [p.value.copy() for p in parameters] for name, parameters in layers.items()}
    numbers = statistics_of(model, AdamW(model.parameters(), lr=1e-2).step)
    for name, parameters in layers.items():
        moved = norm([p.value - old for p, old in zip(parameters, before[name], strict=True)])
        assert numbers["gradient_norms"][name] == pytest.approx(norm([p.grad for p in parameters]), rel=1e-3)
        assert numbers["update_ratios"][name] == pytest.approx(moved / norm(before[name]), rel=1e-3)
    assert [*numbers["gradient_norms"]] == [*numbers["update_ratios"]] == LAYERS
    samples = histograms(model)
    assert list(samples) == [f"{what}/{name}" for name in LAYERS for what in ("values", "gradients")]
    wanted = np.concatenate([parameter.grad.ravel() for parameter in layers["classifier"]])
    np.testing.assert_array_equal(samples["gradients/classifier"], wanted)
    for parameter in layers["classifier"]:
        parameter.value[:] = 0
    assert np.isnan(statistics_of(model, lambda: None)["update_ratios"]["classifier"]), "0 / 0"


def test_of_a_large_layer_a_sample_is_enough():
    """Of 30,000 rows one column moves, and beside them lies a small table of large values, all of which are seen."""
    model = classifier(np.float64, vocab_size=30_000)
    backward(model)
    embeddings = model.bert.embeddings
    table, small = embeddings.word_embeddings.weight.value, embeddings.position_embeddings.weight.value
    table[:], small[:] = np.random.default_rng(0).standard_normal(table.shape), 10

    def update():
        table[:, 0] += 0.1

    wanted = 0.1 * np.sqrt(len(table)) / norm([p.value for p in parameters_by_layer(model)["embeddings"]])
    assert statistics_of(model, update)["update_ratios"]["embeddings"] == pytest.approx(wanted, rel=0.1)


def test_a_run_writes_a_row_whenever_it_writes_its_numbers(tmp_path):
    make_trainer(tmp_path, steps=7, log_every=3).train()
    rows = read_json_lines(tmp_path / LAYERS_FILE)
    assert [row["step"] for row in rows] == [3, 6, 7]
    assert all([*row["gradient_norms"]] == LAYERS for row in rows)
    assert all(0 < ratio < 1 for row in rows[:-1] for ratio in row["update_ratios"].values())


def test_the_layer_that_a_parameter_belongs_to(monkeypatch):
    layers = {
        "bert.encoder.layers.11.attention.key.bias": "layer 12",
        "encoder.layers.0.output_norm.beta": "layer 1",
        "bert.embeddings.word_embeddings.weight": "embeddings",
        "seq_relationship.weight": "seq relationship",
        "blocks.3.linear.weight": "blocks.3",
        "body.layers.0.weight": "body.layers.0",
        "weight": "weight",
    }
    monkeypatch.setattr("npbert.models.parameters.named_parameters", lambda _: [(name, None) for name in layers])
    assert list(parameters_by_layer(None)) == list(layers.values())
