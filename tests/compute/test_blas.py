"""Which functions set the threads of BLAS: NumPy's own OpenBLAS, another by threadpoolctl, or none; and whether the
C library can be asked to keep memory."""

import platform
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from npbert.compute import blas, keep_freed_memory
from npbert.compute.blas import blas_threads


@pytest.fixture
def no_openblas(monkeypatch):
    """As in a NumPy with another BLAS."""
    monkeypatch.setattr(blas, "_openblas", lambda: None)
    blas_threads.cache_clear()
    yield
    blas_threads.cache_clear()


def test_another_blas_is_set_by_threadpoolctl_and_without_it_nothing_is(no_openblas, monkeypatch):
    library = SimpleNamespace(count=2, get_num_threads=lambda: library.count)
    library.set_num_threads = lambda count: setattr(library, "count", count)
    controller = SimpleNamespace(select=lambda user_api: SimpleNamespace(lib_controllers=[library]))
    fake = SimpleNamespace(ThreadpoolController=lambda: controller)
    monkeypatch.setitem(sys.modules, "threadpoolctl", fake)
    threads = blas_threads()
    threads.set(4)
    assert (threads.get(), library.count) == (4, 4)
    blas_threads.cache_clear()
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


def test_freed_memory_is_kept_where_there_is_glibc():
    assert keep_freed_memory() == (platform.libc_ver()[0] == "glibc")
