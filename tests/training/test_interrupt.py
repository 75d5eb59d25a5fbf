"""Ctrl-C: the first asks, the second acts, and afterwards everything is as it was."""

from __future__ import annotations

import signal
import sys
import threading

import pytest

from npbert.training.interrupt import stop_when_asked
from tests.training.tiny import make_trainer

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture(autouse=True)
def terminated():
    """A SIGTERM that nobody holds back fails the test, and does not end all tests."""

    def came_through(*_: object) -> None:
        raise AssertionError("SIGTERM came through")

    old = signal.signal(signal.SIGTERM, came_through)
    yield
    signal.signal(signal.SIGTERM, old)


def handlers():
    return [signal.getsignal(number) for number in SIGNALS]


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_only_asks(number):
    before = handlers()
    with stop_when_asked() as interrupt:
        assert not interrupt.asked
        try:
            signal.raise_signal(number)
        except KeyboardInterrupt:
            pytest.fail("it acts")
        assert interrupt.asked
    assert handlers() == before


def test_the_second_acts_as_ever():
    before = handlers()
    with stop_when_asked() as interrupt:
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert interrupt.asked
    assert handlers() == before


def test_the_other_signal_still_only_asks():
    with stop_when_asked() as interrupt:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        assert interrupt.asked


def test_nobody_asked_the_next_one():
    with stop_when_asked():
        signal.raise_signal(signal.SIGINT)
    with stop_when_asked() as interrupt:
        assert not interrupt.asked


def test_handlers_of_ones_own_come_back_after_an_error():
    seen = []
    old = signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    try:
        before = handlers()
        with pytest.raises(RuntimeError), stop_when_asked():
            assert handlers() != before
            raise RuntimeError
        assert handlers() == before
        with stop_when_asked():
            signal.raise_signal(signal.SIGTERM)
            assert seen == []
            signal.raise_signal(signal.SIGTERM)
        assert seen == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, old)


def test_in_another_thread_nothing_is_set():
    before, seen = handlers(), []

    def work() -> None:
        with stop_when_asked() as interrupt:
            seen.append((handlers(), interrupt.asked))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [(before, False)]


def test_training_leaves_the_handlers_as_they_were(tmp_path, monkeypatch):
    monkeypatch.setattr("npbert.training.trainer.plot_curves", lambda *_: None)
    before = handlers()
    make_trainer(tmp_path, steps=2).train()
    assert handlers() == before


def test_asked_in_the_last_step_it_is_simply_finished(tmp_path, monkeypatch):
    monkeypatch.setattr("npbert.training.trainer.plot_curves", lambda *_: None)

    def evaluate() -> dict[str, float]:
        signal.raise_signal(signal.SIGTERM)
        return {"score": 1.0}

    try:
        assert make_trainer(tmp_path, steps=2, evaluate=evaluate).train() == {"score": 1.0}
    except KeyboardInterrupt:
        pytest.fail("there is nothing left to go on with")


def test_without_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(ImportError, match=r"tqdm, which is not installed: .* pip install '.\[train\]'"):
        make_trainer(tmp_path).train()
