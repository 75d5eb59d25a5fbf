"""BLAS has its own threads where npbert's have nothing to share, while they pay, and nobody else is disturbed."""

import contextlib
import threading

import numpy as np
import pytest

from npbert import Batch, BertConfig, BertModel
from npbert.compute import blas_lending, hold_blas, num_threads, run
from npbert.compute.blas_lending import PATIENCE, Lending, lend_to_blas
from tests.computing import BLAS_THREADS, Meeting, on_threads, soon


@pytest.fixture
def seen_in_lend(count_of_blas):
    def see():
        with lend_to_blas() as is_lent:
            return is_lent, count_of_blas(), num_threads()

    return see


def test_blas_gets_all_threads_and_gives_them_back(count_of_blas, seen_in_lend):
    with on_threads(3):
        assert seen_in_lend() == (True, 3, 1)
        with pytest.raises(KeyboardInterrupt), lend_to_blas():
            doers = set()
            run(lambda item: doers.add((threading.current_thread(), count_of_blas())), range(9))
            assert doers == {(threading.current_thread(), 3)}
            raise KeyboardInterrupt
        assert (num_threads(), count_of_blas()) == (3, BLAS_THREADS)
    with on_threads(1):
        assert seen_in_lend() == (False, 1, 1)


def test_in_a_piece_or_beside_others_nothing_is_lent_and_who_computes_holds_blas_to_one_thread(
    count_of_blas, seen_in_lend
):
    meeting, seen, counts = Meeting(), [], []
    with on_threads(2):
        run(lambda item: (meeting(), seen.append(seen_in_lend())), range(2))
        assert seen == [(False, 1, 1)] * 2
        with hold_blas():
            assert seen_in_lend() == (False, 1, 2)
        with lend_to_blas():
            soon(lambda: run(lambda item: counts.append(count_of_blas()), range(3)))
            assert (counts, count_of_blas()) == ([1, 1, 1], 1)
        assert count_of_blas() == BLAS_THREADS


def test_threads_are_lent_while_they_pay(monkeypatch):
    """After a look without them; a loss no greater than what they won is forgiven, and all else costs a fiftieth."""
    now, is_lent, lending, took = 0.0, False, Lending(), {False: 10.0, True: 6.0}

    @contextlib.contextmanager
    def lend():
        nonlocal is_lent
        is_lent = True
        yield True
        is_lent = False

    def work():
        nonlocal now
        now += took[is_lent]
        return "L" if is_lent else "."

    def log(count, size=16):
        return "".join(lending(work, Lending, size) for _ in range(count))

    monkeypatch.setattr(blas_lending, "perf_counter", lambda: now)
    monkeypatch.setattr(blas_lending, "lend_to_blas", lend)
    assert log(6) == "..LLLL"
    took[True] = 19.0
    assert log(1) == "L"
    took[True] = 6.0
    assert log(4) == "LLLL"
    took[True] = 200.0
    paused = log(50_000)
    assert paused.startswith("L...") and 1 / 60 < 190 * paused.count("L") / now <= 1 / PATIENCE
    assert log(1, size=17) == "."


def test_one_sequence_is_computed_on_blas_s_threads(count_of_blas, monkeypatch):
    config, seen = BertConfig(30, 48, 1, 2, 64, max_position_embeddings=16), []
    model = BertModel(config, rng=np.random.default_rng(0))
    encode = model.encoder.forward
    monkeypatch.setattr(model.encoder, "forward", lambda *args: seen.append(count_of_blas()) or encode(*args))
    with on_threads(2):
        one, _, other = (model(Batch([[*range(15)]])).last_hidden_state for _ in range(3))
    assert seen == [BLAS_THREADS, BLAS_THREADS, 2]
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
