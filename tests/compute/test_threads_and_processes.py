"""Threads in a process of their own: what the environment says, a fork, an interrupt, the end of the main one."""

import multiprocessing
import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

from npbert import GELU, Init, Linear, Tape
from npbert.compute import run
from tests.computing import BLAS_THREADS, Meeting, on_threads, soon

PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def python(code, **environment):
    """What it prints and complains of, in an environment that says nothing else about threads."""
    clean = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name} | environment
    result = subprocess.run([sys.executable, "-c", code], env=clean, capture_output=True, text=True, timeout=300)
    return result.stdout, result.stderr


def in_child(function):
    """What function() returns in a fork of this process; an error if it fails or takes a minute."""
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    child = fork.Process(target=lambda: there.send(function()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python's own, of forking beside other threads
        child.start()
    there.close()
    try:
        assert here.poll(60), "the child does not end"
        return here.recv()
    finally:
        child.kill()
        child.join()


def computed():
    """Numbers from large arrays, which several threads make."""
    rng, tape = np.random.default_rng(0), Tape()
    linear, gelu = Linear(400, 700, Init(rng)), GELU()
    y = gelu.forward(linear.forward(rng.standard_normal((500, 400), np.float32), tape), tape)
    return float(np.abs(linear.backward(gelu.backward(y, tape), tape)).sum()), float(linear.weight.grad.sum())


def test_the_environment_says_how_many_or_else_what_blas_has_and_importing_starts_no_thread():
    ask = "import threading, npbert; print(npbert.num_threads(), threading.active_count())"
    assert python(ask) == (f"{PROCESSORS} 1\n", "")
    assert python(ask, NPBERT_NUM_THREADS=" 5 ", OPENBLAS_NUM_THREADS="2") == ("5 1\n", "")
    printed, complained = python(ask, NPBERT_NUM_THREADS="2.5", OMP_NUM_THREADS="1")
    assert printed == "1 1\n"
    assert "UserWarning: NPBERT_NUM_THREADS is '2.5', wanted a whole number of at least 1" in complained


def test_work_goes_on_when_the_main_thread_has_ended():
    code = """if True:
        import threading
        from npbert.compute import run, set_num_threads
        def work():
            threading.main_thread().join()
            done = []
            run(done.append, range(5))
            print(sorted(done))
        set_num_threads(2)
        run(str, range(5))
        threading.Thread(target=work).start()
    """
    assert python(code) == ("[0, 1, 2, 3, 4]\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_computes_on_threads_of_its_own_also_while_another_thread_computes(count_of_blas):
    """The child has neither that thread nor what it held: a lock, helpers, BLAS on one thread."""
    is_there, may_leave = threading.Event(), threading.Event()

    def stay(item):
        is_there.set()
        assert may_leave.wait(100)

    def child():
        meeting, counts = Meeting(3), [count_of_blas()]
        run(meeting, range(3))
        run(lambda item: counts.append(count_of_blas()), [0])
        return list(meeting.seen.values()), [*counts, count_of_blas()], computed()

    with on_threads(3):
        wanted = child()
        assert wanted[:2] == ([1, 1, 1], [BLAS_THREADS, 1, BLAS_THREADS])
        other = threading.Thread(target=lambda: run(stay, range(2)))
        other.start()
        assert is_there.wait(100)
        try:
            assert soon(lambda: in_child(child)) == wanted
        finally:
            may_leave.set()
            other.join()
        assert child() == wanted
