"""Which functions set the threads of BLAS: NumPy's own OpenBLAS, another by threadpoolctl, or none; and whether the
C library can be asked to keep memory."""

import sys

import numpy as np
import pytest

from npbert.compute import blas, keep_freed_memory, memory
from npbert.compute.blas import blas_threads


@pytest.fixture
def no_openblas(monkeypatch):
    """As in a NumPy with another BLAS."""
    monkeypatch.setattr(blas, "_openblas", lambda: None)
    blas_threads.cache_clear()
    yield
    blas_threads.cache_clear()


def test_of_two_blas_the_one_with_more_threads_counts_and_both_are_set(no_openblas, monkeypatch):
    class Library:
        def __init__(self, count):
            self.set_num_threads = lambda count: setattr(self, "count", count)
            self.get_num_threads = lambda: self.count
            self.count = count

    libraries = [Library(2), Library(5), Library(3)]
    found = type("", (), {"lib_controllers": libraries})
    controller = type("", (), {"select": lambda *_, **__: found})
    monkeypatch.setitem(sys.modules, "threadpoolctl", type("", (), {"ThreadpoolController": controller}))
    threads = blas_threads()
    assert threads.get() == 5
    threads.set(4)
    assert [library.count for library in libraries] == [4, 4, 4]


def test_without_it_nothing_is_set(no_openblas, monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
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


@pytest.mark.parametrize(
    ("platform", "refused", "kept"), [("linux", 0, True), ("linux", -4, False), ("darwin", 0, False)]
)
def test_memory_is_kept_if_both_settings_of_malloc_h_are_taken(platform, refused, kept, monkeypatch):
    library = type("", (), {"mallopt": lambda name, value: int(value == {-1: 2**30, -4: 0}[name] and name != refused)})
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda _: library)
    monkeypatch.setattr(memory.sys, "platform", platform)
    assert keep_freed_memory() is kept
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda _: object())
    assert not keep_freed_memory(), "musl has no such function"
