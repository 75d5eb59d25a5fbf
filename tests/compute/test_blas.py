"""Which functions set the threads of BLAS: NumPy's own OpenBLAS, another BLAS by threadpoolctl, or none."""

import sys

import numpy as np
import pytest

from npbert.compute import blas, num_threads, run, threads
from npbert.compute.blas import blas_threads
from tests.computing import BLAS_THREADS, Meeting, on_threads


@pytest.fixture
def no_openblas(monkeypatch):
    """As in a NumPy with another BLAS."""
    monkeypatch.setattr(blas, "_openblas", lambda: None)
    blas_threads.cache_clear()
    yield
    blas_threads.cache_clear()


@pytest.fixture
def by_threadpoolctl(count_of_blas, no_openblas):
    """How many threads NumPy's BLAS has, asked of it itself, while npbert asks threadpoolctl."""
    pytest.importorskip("threadpoolctl", reason="threadpoolctl is not installed: pip install -e '.[threads]'")
    return count_of_blas


def test_another_blas_is_found_by_threadpoolctl(by_threadpoolctl):
    found = blas_threads()
    assert found.get() == by_threadpoolctl() == BLAS_THREADS
    found.set(2)
    assert found.get() == by_threadpoolctl() == 2


def test_another_blas_is_held_to_one_thread_while_npbert_computes_on_several(by_threadpoolctl, monkeypatch):
    monkeypatch.setattr(threads._state, "count", None)
    assert num_threads() == BLAS_THREADS
    meeting, within = Meeting(2), []

    def work(item):
        meeting()
        within.append(by_threadpoolctl())

    with on_threads(2):
        run(work, range(2))
    assert (list(meeting.seen.values()), within, by_threadpoolctl()) == ([1, 1], [1, 1], BLAS_THREADS)


@pytest.mark.parametrize("what_is_missing", ["threadpoolctl", "a BLAS that it knows"])
def test_without_it_nothing_is_set(no_openblas, what_is_missing, monkeypatch):
    if what_is_missing == "threadpoolctl":
        monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    else:
        threadpoolctl = pytest.importorskip("threadpoolctl", reason="pip install -e '.[threads]'")
        monkeypatch.setattr(
            threadpoolctl.ThreadpoolController, "select", lambda *_, **__: type("", (), {"lib_controllers": []})
        )
    assert blas_threads() is None


def test_openblas_beside_numpy_is_found_where_a_name_is_looked_up_in_one_library_alone(tmp_path, monkeypatch):
    """So it is on Windows: the library of NumPy's core has no such name, a library in numpy.libs has it."""
    core = tmp_path / "numpy" / "_core" / "_multiarray_umath.pyd"
    beside = tmp_path / "numpy.libs" / "libscipy_openblas64_-abc.dll"
    beside.parent.mkdir()
    beside.touch()

    class Library:
        def __init__(self, path):
            if path == str(beside):
                self.scipy_openblas_get_num_threads64_ = lambda: 5
                self.scipy_openblas_set_num_threads64_ = np.negative

    monkeypatch.setattr(blas.ctypes, "CDLL", Library)
    monkeypatch.setattr(blas.importlib, "import_module", lambda _: type("", (), {"__file__": str(core)}))
    found = blas._openblas()
    assert (found.get(), found.set) == (5, np.negative)
