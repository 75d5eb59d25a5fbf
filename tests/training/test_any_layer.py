"""Whatever its layers do, a batch in parts, on any threads and by any processes, has the gradient of its sequences one
by one; and a step of training makes the same of it."""

from types import SimpleNamespace

import numpy as np
import pytest

from npbert import AdamW, Batch, Tape, global_norm
from npbert.data.task_data import START
from npbert.optim import clip_factor
from npbert.training.parallel import ALONE
from tests.computing import on_threads
from tests.training.own_layers import ENCODERS
from tests.training.parallel.together import together
from tests.training.tiny import classifier, make_trainer

LENGTHS = [3, 9, 4, 1, 12, 6, 5, 2]
STEPS = 2


def make(name, dtype=np.float64, dropout=0.0):
    model = classifier(dtype, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    model.bert.encoder.layers[:] = ENCODERS[name](model.bert.encoder.layers)
    for parameter in model.parameters():
        parameter.value = parameter.value.astype(dtype)
    return model


def batch_of(rows=slice(None)):
    rng, lengths = np.random.default_rng(2), np.array(LENGTHS)
    ids, labels = rng.integers(5, 30, (len(lengths), 12)), rng.integers(0, 2, len(lengths))
    mask = (np.arange(12) < lengths[:, None]).astype(int)
    return Batch(ids[rows], attention_mask=mask[rows], labels=labels[rows])


def trained(model, folder, parts, threads, communicator):
    """The model after two steps, as bits; and as it is."""
    data = SimpleNamespace(batches=lambda seed, place=START: [(START, batch_of())] if place == START else [])
    options = {"steps": STEPS, "warmup": 0.0, "learning_rate": 0.01, "parts": parts, "communicator": communicator}
    with on_threads(threads):
        make_trainer(folder, data=data, model=model, **options).train()
    return b"".join(parameter.value.tobytes() for parameter in model.parameters())


@pytest.mark.parametrize("name", ENCODERS)
def test_steps_of_training_in_any_parts_are_those_of_the_sequences_one_by_one(name, tmp_path):
    wanted = make(name)
    optimizer = AdamW(wanted.parameters())
    for step in range(STEPS):
        wanted.zero_grad()
        for number in range(len(LENGTHS)):
            tape = Tape()
            wanted.loss(batch_of([number]), tape)
            wanted.loss_backward(1 / len(LENGTHS), tape)
        optimizer.lr = 0.01 * (1 - step / STEPS)
        optimizer.step(clip_factor(global_norm(wanted.parameters()), 1.0))
    for parts in (1, 2, 3, 8):
        model = make(name)
        trained(model, tmp_path / str(parts), parts, threads=2, communicator=ALONE)
        for (of, one), other in zip(model.named_parameters(), wanted.parameters(), strict=True):
            np.testing.assert_allclose(one.grad, other.grad, rtol=1e-9, atol=1e-12, err_msg=of)
            np.testing.assert_allclose(one.value, other.value, rtol=1e-9, atol=1e-9, err_msg=of)


@pytest.mark.parametrize("name", ENCODERS)
def test_threads_and_processes_change_no_bit_of_them(name, tmp_path):
    """In float32, with dropout."""
    found = set()
    for size, threads in [(0, 1), (0, 2), (0, 3), (2, 1), (3, 1), (4, 1)]:

        def train(communicator, size=size, threads=threads):
            folder = tmp_path / f"{size}-{threads}"
            return trained(make(name, np.float32, 0.2), folder, 4, threads, communicator)

        found |= set(together(size, train))
    assert len(found) == 1
