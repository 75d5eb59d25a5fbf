"""BLAS has its own threads where npbert's have nothing to share, while they pay, and nobody else is disturbed."""

import contextlib
import itertools
import threading

import numpy as np
import pytest

from npbert import Batch, BertConfig, BertModel
from npbert.compute import blas_threads, num_threads, run, threads
from npbert.compute.blas_threads import PATIENCE, Lending
from tests.computing import BLAS_THREADS, Meeting, on_threads, soon


def seen_in_lend(count_of_blas):
    with threads.lend_to_blas() as is_lent:
        return is_lent, count_of_blas(), num_threads()


def test_blas_gets_all_threads_and_gives_them_back(count_of_blas):
    with on_threads(3):
        assert seen_in_lend(count_of_blas) == (True, 3, 1)
        with pytest.raises(KeyboardInterrupt), threads.lend_to_blas():
            doers = set()
            run(lambda item: doers.add((threading.current_thread(), count_of_blas())), range(9))
            assert doers == {(threading.current_thread(), 3)}
            raise KeyboardInterrupt
        assert (num_threads(), count_of_blas()) == (3, BLAS_THREADS)
    with on_threads(1):
        assert seen_in_lend(count_of_blas) == (False, 1, 1)


def test_in_a_piece_or_beside_others_nothing_is_lent_and_who_computes_holds_blas_to_one_thread(count_of_blas):
    meeting, seen, counts = Meeting(), [], []
    with on_threads(2):
        run(lambda item: (meeting(), seen.append(seen_in_lend(count_of_blas))), range(2))
        assert seen == [(False, 1, 1)] * 2
        with threads.hold_blas():
            assert seen_in_lend(count_of_blas) == (False, 1, 2)
        with threads.lend_to_blas():
            soon(lambda: run(lambda item: counts.append(count_of_blas()), range(3)))
            assert (counts, count_of_blas()) == ([1, 1, 1], 1)
        assert count_of_blas() == BLAS_THREADS


class Machine:
    """A clock, and how long work takes on it, with BLAS's threads and without."""

    def __init__(self, monkeypatch):
        self.now, self.without, self.with_threads, self.is_lent, self.log = 0.0, 10.0, 6.0, False, ""
        monkeypatch.setattr(blas_threads, "perf_counter", lambda: self.now)
        monkeypatch.setattr(blas_threads, "lend_to_blas", self.lend)

    @contextlib.contextmanager
    def lend(self):
        self.is_lent = True
        yield True
        self.is_lent = False

    def work(self):
        self.now += self.with_threads if self.is_lent else self.without
        self.log += "L" if self.is_lent else "."
        return "done"


def test_threads_are_lent_while_they_pay(monkeypatch):
    """After a look without them; a loss no greater than what they won is forgiven, and all else costs a fiftieth."""
    machine, lending, model = Machine(monkeypatch), Lending(), Machine
    calls = [lending(machine.work, model, 16) for _ in range(6)]
    assert (set(calls), machine.log) == ({"done"}, "..LLLL")
    machine.log = ""
    for machine.with_threads in (19.0, 6.0, 6.0, 6.0, 6.0, 21.0, 6.0):
        lending(machine.work, model, 16)
    assert machine.log == "LLLLLL."
    machine.now += PATIENCE * 10
    machine.with_threads = 200.0
    start, machine.log = machine.now, ""
    while machine.now < start + 10**6:
        lending(machine.work, model, 16)
    assert machine.log.startswith("L...")
    assert 1 / 60 < 190 * machine.log.count("L") / 10**6 <= 1 / PATIENCE
    machine.log = ""
    lending(machine.work, model, 17)
    lending(machine.work, Lending, 16)
    assert machine.log == ".."


def test_one_sequence_is_computed_on_blas_s_threads(count_of_blas, monkeypatch):
    """And with a result that is that of npbert's own threads."""
    config, seen = BertConfig(30, 48, 1, 2, 64, max_position_embeddings=16), []
    model = BertModel(config, rng=np.random.default_rng(0))
    encode = model.encoder.forward
    monkeypatch.setattr(model.encoder, "forward", lambda *args: seen.append(count_of_blas()) or encode(*args))
    with on_threads(2):
        results = [model(Batch([[*range(15)]])).last_hidden_state for _ in range(3)]
    assert seen == [BLAS_THREADS, BLAS_THREADS, 2]
    for one, other in itertools.pairwise(results):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
