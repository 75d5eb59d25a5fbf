"""Scores of steps of pre-training on real books beside torch: the same loss curve.

npbert trains with its own Trainer and its own data pipeline. Each batch goes to transformers' model, too, which starts
from the same weights, and which torch's own means train: its AdamW, its clipping, its schedule.
"""

import numpy as np
import pytest

from npbert import BertConfig, BertForPreTraining, Tokenizer
from npbert.data.corpus import Corpus
from npbert.data.pretraining_data import PretrainingData
from npbert.data.task_data import START
from npbert.io.json_lines import METRICS_FILE, read_json_lines
from npbert.training.evaluation import Evaluation
from npbert.training.settings import TrainerSettings
from npbert.training.trainer import Trainer
from tests.later import later
from tests.parity import torch
from tests.parity.torch_comparison import as_torch
from tests.shared_data import shared_file

transformers = later("transformers", "transformers")

pytestmark = pytest.mark.torch

LEARNING_RATE, WEIGHT_DECAY, WARMUP, MAX_NORM = 2e-3, 0.05, 0.1, 1.0
NUMBERS = "loss", "mlm_loss", "nsp_loss", "gradient_norm"


class BesideTorch:
    """Data of which torch learns from every batch before it goes to npbert; `curve` has its NUMBERS.

    What decays is chosen by name, as in BERT's code: no bias, and nothing of a LayerNorm.
    """

    def __init__(self, data, module, steps):
        self.data, self.module, self.curve = data, module, []
        named = list(module.named_parameters())
        decayed = [parameter for name, parameter in named if not name.endswith("bias") and "LayerNorm" not in name]
        spared = [parameter for name, parameter in named if name.endswith("bias") or "LayerNorm" in name]
        groups = [{"params": decayed}, {"params": spared, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
        warmup = int(WARMUP * steps)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda step: min(step / warmup, (steps - step) / (steps - warmup))
        )

    def batches(self, epoch_seed, place=START):
        for where, batch in self.data.batches(epoch_seed, place):
            self.step(as_torch(vars(batch)))
            yield where, batch

    def step(self, batch):
        output = self.module(**batch)
        words = torch.nn.functional.cross_entropy(output.prediction_logits.flatten(0, 1), batch["labels"].flatten())
        pairs = torch.nn.functional.cross_entropy(output.seq_relationship_logits, batch["next_sentence_label"])
        self.module.zero_grad()
        output.loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.module.parameters(), MAX_NORM)
        self.optimizer.step()
        self.schedule.step()
        self.curve.append([number.item() for number in (output.loss, words, pairs, norm)])


@pytest.mark.thorough
def test_the_same_loss_curve(tmp_path):
    steps, same = 50, 1e-6
    books = [shared_file(f"gutenberg/{name}.txt") for name in ("carroll-alice", "chesterton-brown")]
    data = PretrainingData(Corpus(books), Tokenizer.train(books, vocab_size=2000), batch_size=6, max_length=40)
    rates = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "initializer_range": 0.05}
    config = BertConfig(len(data.tokenizer), 32, 2, 4, 64, max_position_embeddings=40, **rates)
    rng = np.random.default_rng(0)
    model = BertForPreTraining(config, rng=rng, dtype="float64")
    model.save_pretrained(tmp_path)
    beside = BesideTorch(data, transformers.BertForPreTraining.from_pretrained(tmp_path, dtype="float64"), steps)
    options = {"learning_rate": LEARNING_RATE, "weight_decay": WEIGHT_DECAY, "warmup": WARMUP}
    settings = TrainerSettings(steps=steps, **options, max_grad_norm=MAX_NORM, parts=3, save_every=steps, log_every=1)
    run = tmp_path / "run"
    judged = Evaluation(kinds=("mlm", "nsp"))
    Trainer(model, beside, run, settings, rng=rng, evaluation=judged, save_model=lambda _: None).train()
    ours = np.array([[row[name] for name in NUMBERS] for row in read_json_lines(run / METRICS_FILE)])
    theirs = np.array(beside.curve)

    assert ours.shape == theirs.shape == (steps, 4)
    worst = np.abs(ours / theirs - 1).max(axis=0)
    for name, error in zip(NUMBERS, worst / [1, 1, 1, 10], strict=True):
        assert error <= same, f"{name} differs from torch's by {error:.1e}, more than {same:.0e}"
    assert (ours[:, 3] > MAX_NORM).mean() > 0.2, "clipping should matter"
    assert ours[-10:, 1].mean() < ours[:10, 1].mean() - 0.5, "it should learn: else there is little to compare"
