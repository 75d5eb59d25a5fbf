"""Ctrl-C: the first asks, the second acts, and afterwards everything is as it was."""

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from npbert.training.session import stop_when_asked
from tests.training.tiny import make_trainer

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def came_through(*_):
    raise InterruptedError


@pytest.fixture(autouse=True)
def before():
    """A signal that nobody holds back raises, also where the tests as a whole ignore it or would end by it."""
    old = [signal.signal(number, came_through) for number in SIGNALS]
    yield handlers()
    for number, handler in zip(SIGNALS, old, strict=True):
        signal.signal(number, handler)


def handlers():
    return [signal.getsignal(number) for number in SIGNALS]


@pytest.mark.parametrize(("number", "other"), [SIGNALS, SIGNALS[::-1]])
def test_the_first_only_asks_and_the_second_acts_as_ever(before, number, other):
    with stop_when_asked() as is_asked:
        assert not is_asked()
        signal.raise_signal(number)
        assert is_asked()
        with pytest.raises(InterruptedError):
            signal.raise_signal(number)
        signal.raise_signal(other)  # which only asks, again
    assert handlers() == before
    with stop_when_asked() as is_asked:
        assert not is_asked(), "nobody asked this one"


@pytest.mark.parametrize("number", SIGNALS)
def test_any_handler_comes_back_after_an_error(number):
    for handler in (signal.SIG_IGN, signal.SIG_DFL, lambda *_: None):
        signal.signal(number, handler)
        with pytest.raises(RuntimeError), stop_when_asked():
            assert signal.getsignal(number) != handler
            raise RuntimeError
        assert signal.getsignal(number) == handler


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has no such signals")
@pytest.mark.parametrize("name", ["SIGHUP", "SIGXCPU"])
def test_what_the_system_sends_only_asks_each_time_unless_it_is_ignored(name):
    number = getattr(signal, name)
    old = signal.signal(number, came_through)
    try:
        with stop_when_asked() as is_asked:
            signal.raise_signal(number)
            assert is_asked()
            signal.raise_signal(number)  # a shell and the system each send one when a terminal is closed
        assert signal.getsignal(number) is came_through
        signal.signal(number, signal.SIG_IGN)  # as nohup does
        with stop_when_asked() as is_asked:
            signal.raise_signal(number)
            assert not is_asked()
    finally:
        signal.signal(number, old)


def test_in_another_thread_nothing_is_set(before):
    def work():
        with stop_when_asked() as is_asked:
            return handlers(), is_asked()

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(work).result() == (before, False)


def test_a_run_that_is_asked_in_its_last_step_is_simply_finished(before, tmp_path):
    def evaluate():
        signal.raise_signal(signal.SIGTERM)
        return {"score": 1.0}

    trainer = make_trainer(tmp_path, steps=2, evaluate_every=0, evaluate=evaluate)
    assert trainer.train() == {"score": 1.0}, "there is nothing left to go on with"
    assert handlers() == before
