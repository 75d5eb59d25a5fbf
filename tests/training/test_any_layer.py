"""Whatever its layers do, a batch in parts, on any threads and by any processes, has the gradient of its sequences one
by one; and a step of training makes the same of it."""

from types import SimpleNamespace

import numpy as np

from npbert import NO_TAPE, AdamW, Batch, Checkpointed, Init, Layer, Linear, Parameter, Tape, global_norm
from npbert.data.task_data import START
from npbert.optim import clip_factor
from npbert.training.parallel import ALONE
from tests.computing import on_threads
from tests.training.parallel.together import together
from tests.training.tiny import TINY, classifier, make_trainer

LENGTHS = [3, 9, 4, 1, 12, 6, 5, 2]
STEPS = 2


class Odd(Layer):
    """An encoder layer, and all that users' layers may do to parameters, without a look at how a batch is cut.

    h = y W + bias of long sequences + table[length] + direct   z = h A + b, twice for long sequences   y + s γ z
    """

    def __init__(self, inner, init):
        d = TINY.hidden_size
        self.inner, self.linear = inner, Linear(d, d, init)
        self.weight = inner.attention.query.weight  # of the layer inside
        self.bias = init.normal(d)  # has no gradient where there is no long sequence
        self.table, self.unused, self.direct = init.normal(16, d), init.normal(3, d), init.normal(d)
        self.scale = Parameter(np.asarray(0.3, init.dtype))  # without an axis
        gamma = inner.output_norm.gamma  # which only functions hold
        self.gamma, self.add = (lambda: gamma.value), (lambda grad: gamma.add_grad(grad))

    def forward(self, x, z, sequences=None, tape=NO_TAPE):
        y = self.inner(x, z, sequences, tape)
        lengths = np.repeat(sequences.lengths, sequences.query_lengths)
        is_long = lengths > 5
        h = y @ self.weight.value + is_long[:, None].astype(y.dtype) * self.bias.value
        h += self.table.value[lengths] + self.direct.value
        z = self.linear(h, tape)
        if is_long.any():
            z[is_long] += self.linear(h[is_long], tape)
        tape.keep(self, y=y, lengths=lengths, z=z)
        return y + self.scale.value * self.gamma() * z

    def backward(self, dy, tape):
        y, lengths, z = tape.take(self)
        is_long, gamma = lengths > 5, self.gamma()
        self.scale.add_grad((dy * gamma * z).sum())
        self.add((dy * self.scale.value * z).sum(axis=0))
        dz = dy * self.scale.value * gamma
        again = self.linear.backward(dz[is_long], tape) if is_long.any() else 0
        dh = self.linear.backward(dz, tape)
        dh[is_long] += again
        if is_long.any():
            self.bias.add_grad(dh[is_long].sum(axis=0))
        self.table.add_grad(dh, rows=lengths)
        self.direct.grad[...] += dh.sum(axis=0)  # as old code does
        self.weight.add_grad((dh.T @ y).T)  # not contiguous
        return self.inner.backward(dy + dh @ self.weight.value.T, tape)


def make(dtype=np.float64, dropout=0.0):
    """An odd layer that is computed again, and one layer twice."""
    model = classifier(dtype, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    first, second = model.bert.encoder.layers
    odd = Odd(second, Init(np.random.default_rng(3), 0.5, dtype))
    model.bert.encoder.layers[:] = [Checkpointed(odd), first, first]
    return model


def batch_of(rows=slice(None)):
    rng, lengths = np.random.default_rng(2), np.array(LENGTHS)
    ids, labels = rng.integers(5, 30, (len(lengths), 12)), rng.integers(0, 2, len(lengths))
    mask = (np.arange(12) < lengths[:, None]).astype(int)
    return Batch(ids[rows], attention_mask=mask[rows], labels=labels[rows])


def trained(model, folder, parts, threads, communicator):
    """The model after two steps, as bits."""
    data = SimpleNamespace(batches=lambda seed, place=START: [(START, batch_of())] if place == START else [])
    options = {"steps": STEPS, "warmup": 0.0, "learning_rate": 0.01, "parts": parts, "communicator": communicator}
    with on_threads(threads):
        make_trainer(folder, data=data, model=model, **options).train()
    return b"".join(parameter.value.tobytes() for parameter in model.parameters())


def test_steps_of_training_in_any_parts_are_those_of_the_sequences_one_by_one(tmp_path):
    wanted = make()
    optimizer = AdamW(wanted.parameters())
    for step in range(STEPS):
        wanted.zero_grad()
        for number in range(len(LENGTHS)):
            tape = Tape()
            wanted.loss(batch_of([number]), tape)
            wanted.loss_backward(1 / len(LENGTHS), tape)
        optimizer.lr = 0.01 * (1 - step / STEPS)
        optimizer.step(clip_factor(global_norm(wanted.parameters()), 1.0))
    for parts in (1, 3, 8):
        model = make()
        trained(model, tmp_path / str(parts), parts, threads=2, communicator=ALONE)
        for (of, one), other in zip(model.named_parameters(), wanted.parameters(), strict=True):
            np.testing.assert_allclose(one.grad, other.grad, rtol=1e-9, atol=1e-12, err_msg=of)
            np.testing.assert_allclose(one.value, other.value, rtol=1e-9, atol=1e-9, err_msg=of)


def test_threads_and_processes_change_no_bit_of_them(tmp_path):
    """In float32, with dropout."""
    found = set()
    for size, threads in [(0, 1), (0, 3), (2, 1), (3, 1)]:

        def train(communicator, size=size, threads=threads):
            return trained(make(np.float32, 0.2), tmp_path / f"{size}-{threads}", 4, threads, communicator)

        found |= set(together(size, train))
    assert len(found) == 1
