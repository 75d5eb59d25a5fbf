"""Threads: every item is done once, errors come out, and BLAS gets its own threads back."""

import contextlib
import sys
import threading
import time

import numpy as np
import pytest

from npbert.compute import blas, num_threads, run, set_num_threads, threads
from npbert.compute.blas import BlasThreads, blas_threads
from tests.computing import BLAS_THREADS, Meeting, on_threads, soon


@pytest.fixture(autouse=True)
def _two_threads():
    with on_threads(2):
        yield


@pytest.mark.parametrize("count", [1, 2, 4, 9])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 500])
def test_every_item_once(count, length):
    done = []

    def work(item):
        done.append(item)
        return -item

    with on_threads(count):
        assert soon(lambda: run(work, (i for i in range(length)))) == [-i for i in range(length)]
    assert sorted(done) == list(range(length))


@pytest.mark.parametrize("why", ["one thread", "a BLAS that cannot be held"])
def test_all_is_done_by_the_caller(why, monkeypatch):
    if why == "one thread":
        set_num_threads(1)
    else:
        monkeypatch.setattr(blas, "blas_threads", lambda: None)
    seen = []
    run(lambda item: seen.append(threading.current_thread()), range(50))
    assert seen == [threading.current_thread()] * 50


@pytest.mark.parametrize(("who_fails", "error"), [("caller", KeyboardInterrupt), ("helper", SystemExit)])
def test_an_error_comes_out_when_all_have_stopped_and_leaves_things_usable(who_fails, error, count_of_blas):
    """Of many items, only those that were begun are done, and none is at work when the error is raised."""
    meeting, ended, begun = Meeting(), [], []

    def work(item):
        begun.append(item)
        if len(begun) > 2:
            time.sleep(0.01)
            return
        meeting()
        if (threading.current_thread() is caller) == (who_fails == "caller"):
            raise error("no luck")
        time.sleep(0.05)
        ended.append(item)

    caller = threading.current_thread()
    with pytest.raises(error, match="no luck"):
        run(work, range(1000))
    number = len(begun)
    assert len(ended) == 1 and number < 1000
    time.sleep(0.05)
    assert len(begun) == number
    assert (num_threads(), count_of_blas()) == (2, BLAS_THREADS)
    test_every_item_once(2, 500)


@pytest.mark.parametrize(("count", "items", "each"), [(5, 2, 2), (6, 3, 2), (4, 3, 1), (4, 1, 4)])
def test_threads_that_have_no_item_work_within_those_of_others(count, items, each):
    """As many as are left for each, all at a time; and errors of work within work come out."""
    seen = []

    def work(i):
        seen.append(num_threads())
        run(Meeting(each) if each > 1 else seen.append, range(each) if each > 1 else ())

    with on_threads(count):
        soon(lambda: run(work, range(items)))
        with pytest.raises(ZeroDivisionError):
            soon(lambda: run(lambda i: run(lambda j: 1 // (i + j), range(2)), range(items)))
        assert num_threads() == count
    assert seen == [each] * items


def test_helpers_that_are_busy_are_not_waited_for_and_the_number_can_change_at_any_time():
    begin, end = threading.Barrier(3), threading.Event()

    def keep_busy(item):
        begin.wait(100)
        end.wait(100)

    other = threading.Thread(target=lambda: run(keep_busy, range(2)))
    other.start()
    begin.wait(100)
    test_every_item_once(2, 100)
    done = []
    soon(lambda: run(lambda item: set_num_threads(1 + item % 4) or done.append(item), range(100)))
    assert sorted(done) == list(range(100))
    end.set()
    other.join()


def test_errstate_holds_on_every_thread():
    seen, meeting = [], Meeting()
    with np.errstate(over="raise"):
        run(lambda item: (meeting(), seen.append(np.geterr()["over"])), range(2))
    assert seen == ["raise", "raise"]


@pytest.mark.parametrize(
    ("wrong", "message"), [(2.0, "'float' object cannot"), ("2", "'str' object"), (0, "count is 0, wanted at least 1")]
)
def test_a_number_of_threads_is_a_whole_number_of_at_least_1(wrong, message):
    with pytest.raises((TypeError, ValueError), match=message):
        set_num_threads(wrong)
    assert num_threads() == 2


@pytest.mark.parametrize("count", [1, 2])
def test_an_interrupt_anywhere_leaves_blas_its_threads(count, count_of_blas):
    """Python looks for an interrupt where a function begins and where one of C's has returned."""
    moment = 0

    def interrupt(frame, event, arg):
        nonlocal left
        if event in ("call", "c_return") and frame.f_code.co_filename in (threads.__file__, blas.__file__):
            left -= 1
            if left == -1:
                raise KeyboardInterrupt

    with on_threads(count):
        while True:
            left = moment
            with contextlib.suppress(KeyboardInterrupt):
                sys.setprofile(interrupt)
                run(np.arange(4.0).take, range(4))
            sys.setprofile(None)
            assert count_of_blas() == BLAS_THREADS, f"interrupted at moment {moment}"
            if left >= 0:
                break
            moment += 1
        test_every_item_once(count, 500)
    assert moment > 10


def test_the_default_is_never_the_one_thread_that_blas_is_held_to(count_of_blas, monkeypatch):
    """Also when another thread enters between the two questions that are asked."""
    get, set_ = blas_threads()
    is_there, may_leave = threading.Event(), threading.Event()
    other = threading.Thread(target=run, args=(lambda item: is_there.set() or may_leave.wait(100), [0]))

    def get_while_another_thread_enters():
        if other.ident is None:
            other.start()
            other.join(0.2)
        return get()

    monkeypatch.setattr(blas, "blas_threads", lambda: BlasThreads(get_while_another_thread_enters, set_))
    for _ in range(2):
        monkeypatch.setattr(threads._state, "count", None)
        assert num_threads() == BLAS_THREADS
        assert is_there.wait(100)
    may_leave.set()
    other.join()
