"""Inference with some of the sequences on each thread: as on one."""

from __future__ import annotations

import numpy as np
import pytest
from npbert.threads import run

from npbert import Encoder, EncoderLayer, num_threads
from npbert.layers import encoder as module
from tests.computing import assert_same_but_for_rounding, on_threads

D, T = 8, 6


@pytest.fixture(autouse=True)
def _however_small(monkeypatch):
    monkeypatch.setattr(module, "SHARE", 1)


@pytest.fixture
def encoder():
    rng = np.random.default_rng(0)
    return Encoder(EncoderLayer(D, 2, 12, rng=rng, initializer_range=0.5) for _ in range(2))


def inputs(batch_size, padded):
    rng = np.random.default_rng(batch_size)
    x = rng.standard_normal((batch_size, T, D)).astype(np.float32)
    lengths = rng.integers(1, T + 1, (batch_size, 1))
    return x, (np.arange(T) < lengths).astype(int) if padded else None


READ = {
    "all": lambda count: None,
    "some, in no order": lambda count: np.random.default_rng(1).permutation(count)[: count // 2 + 1],
    "twice": lambda count: np.array([count - 1, 0, count - 1, 0, 1]),
    "one": lambda count: np.array([count - 2]),
    "none": lambda count: np.array([], int),
}


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("batch_size", [1, 2, 3, 7])
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("read", READ.values(), ids=READ)
def test_as_forward(encoder, threads, batch_size, padded, read):
    x, mask = inputs(batch_size, padded)
    chosen = read(batch_size * T)
    wanted, _ = encoder.forward(x, mask, None, chosen)
    with on_threads(threads):
        y = encoder(x, mask, None, chosen)
    assert y.shape == wanted.shape
    if wanted.size:
        assert_same_but_for_rounding(y, wanted)


@pytest.mark.parametrize(
    ("share", "threads", "pieces"), [(1, 2, 2), (1, 4, 3), (3 * T * D // 2, 4, 2), (3 * T * D, 4, 0), (1, 1, 0)]
)
def test_as_many_pieces_as_are_worth_it(encoder, monkeypatch, share, threads, pieces):
    """Of three sequences; none where one thread does it all."""
    x, _ = inputs(3, padded=False)
    seen = []
    monkeypatch.setattr(module, "SHARE", share)
    monkeypatch.setattr(module, "run", lambda work, items: seen.extend(items) or run(work, items))
    with on_threads(threads):
        encoder(x)
    assert len(seen) == pieces


@pytest.mark.parametrize(
    ("mask", "read", "message"),
    [
        (None, np.array([0, 4 * T]), rf"read\[1\] is {4 * T}, but the number of positions is {4 * T}"),
        (None, np.array([-1]), r"read\[0\] is -1"),
        (np.ones((4, T + 1), int), None, r"attention_mask has shape \(4, 7\), wanted \(4, 6\)"),
        (np.full((4, T), 2), None, "attention_mask holds 2"),
    ],
)
def test_errors_are_of_the_whole_batch(encoder, mask, read, message):
    x, _ = inputs(4, padded=False)
    with on_threads(2), pytest.raises((IndexError, ValueError), match=message):
        encoder(x, mask, None, read)


def test_a_piece_has_one_thread():
    seen, inner = [], []

    def work(item):
        seen.append(num_threads())
        run(inner.append, [item, item])

    with on_threads(2):
        run(work, range(20))
        assert num_threads() == 2
    assert seen == [1] * 20
    assert sorted(inner) == sorted([*range(20), *range(20)])


def test_a_piece_that_fails_gives_the_threads_back():
    def fail(_):
        raise RuntimeError

    with on_threads(2):
        with pytest.raises(RuntimeError):
            run(fail, range(4))
        assert num_threads() == 2
