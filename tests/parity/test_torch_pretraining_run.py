"""Hundreds of steps of pre-training on real books beside torch: the same loss curve.

npbert trains with its own Trainer and its own data pipeline. Each batch goes to torch, too, which starts from the same
weights, and clips, steps and schedules by its own means.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from npbert import Batch, BertConfig, BertForPreTraining, Tokenizer
from npbert.data.corpus import Corpus
from npbert.data.place import START, Place
from npbert.data.pretraining_data import PretrainingData
from npbert.rows import METRICS_FILE, read_rows
from npbert.training.settings import TrainerSettings
from npbert.training.trainer import Trainer
from tests import torch_reference as reference
from tests.shared_data import shared_data
from tests.torch_comparison import as_torch, copy_parameters

pytestmark = pytest.mark.torch

LEARNING_RATE, WEIGHT_DECAY, WARMUP, MAX_NORM = 2e-3, 0.05, 0.1, 1.0
NUMBERS = "loss", "mlm_loss", "nsp_loss", "gradient_norm"


@pytest.fixture(scope="module")
def data():
    books = [shared_data() / "gutenberg" / f"{name}.txt" for name in ("carroll-alice", "chesterton-brown")]
    tokenizer = Tokenizer.train(books, vocab_size=2000)
    return PretrainingData(Corpus(books), tokenizer, batch_size=6, max_length=40)


class Shown:
    """Data of which every batch is shown to torch before it goes to npbert."""

    def __init__(self, data: PretrainingData, training: reference.Training) -> None:
        self.data, self.training, self.curve = data, training, []

    def batches(self, epoch_seed: int, place: Place = START) -> Iterator[tuple[Place, Batch]]:
        for where, batch in self.data.batches(epoch_seed, place):
            self.curve.append([float(number) for number in self.training.step(as_torch(batch))])
            yield where, batch


def curves(data: PretrainingData, folder: Any, dtype: Any, steps: int, parts: int) -> tuple[Any, Any]:
    """npbert's and torch's NUMBERS, (steps, 4)."""
    rates = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "initializer_range": 0.05}
    config = BertConfig(len(data.tokenizer), 32, 2, 4, 64, max_position_embeddings=40, **rates)
    rng = np.random.default_rng(0)
    model = BertForPreTraining(config, rng=rng, dtype=dtype)
    module = reference.BertForPreTraining(config).to(getattr(torch, np.dtype(dtype).name))
    copy_parameters(model, module)
    training = reference.Training(module, LEARNING_RATE, WEIGHT_DECAY, int(WARMUP * steps), steps, MAX_NORM)
    shown = Shown(data, training)
    settings = TrainerSettings(
        steps=steps,
        learning_rate=LEARNING_RATE,
        weight_decay=WEIGHT_DECAY,
        warmup=WARMUP,
        max_grad_norm=MAX_NORM,
        parts=parts,
        save_every=steps,
        log_every=1,
    )
    Trainer(model, shown, folder, settings, rng=rng, kinds=("mlm", "nsp"), save_model=lambda _: None).train()
    ours = [[row[name] for name in NUMBERS] for row in read_rows(folder / METRICS_FILE)]
    return np.array(ours), np.array(shown.curve)


@pytest.mark.parametrize(
    ("dtype", "steps", "parts", "same"),
    [(np.float64, 80, 3, 1e-6), (np.float32, 200, 1, 1e-3)],
    ids=["80 steps in float64", "200 steps in float32"],
)
def test_the_same_loss_curve(data, tmp_path, record_property, monkeypatch, dtype, steps, parts, same):
    monkeypatch.setattr("npbert.training.trainer.draw_curves", lambda *_: None)
    ours, theirs = curves(data, tmp_path, dtype, steps, parts)
    assert ours.shape == theirs.shape == (steps, 4)
    worst = np.abs(ours / theirs - 1).max(axis=0)
    record_property("worst", worst.tolist())
    print(f"worst relative differences of {', '.join(NUMBERS)}: {worst}")
    for name, error in zip(NUMBERS, worst / [1, 1, 1, 10], strict=True):
        assert error <= same, f"{name} differs from torch's by {error:.1e}, more than {same:.0e}"
    assert (ours[:, 3] > MAX_NORM).mean() > 0.2, "clipping should matter"
    assert ours[-20:, 1].mean() < ours[:20, 1].mean() - 0.5, "it should learn: else there is little to compare"
