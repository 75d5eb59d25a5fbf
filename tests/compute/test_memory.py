"""keep_freed_memory: what the C library is asked, and what is said where it cannot be asked."""

import pytest

from npbert.compute import keep_freed_memory, memory

TRIM, MMAP = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h


@pytest.mark.parametrize("refused", [None, TRIM, MMAP])
def test_the_heap_keeps_a_gigabyte_and_gives_arrays_up_to_32_mebibytes(refused, monkeypatch):
    asked = {}
    library = type("", (), {"mallopt": lambda _, name, size: asked.update({name: size}) or name != refused})
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda _: library())
    monkeypatch.setattr(memory.sys, "platform", "linux")
    assert keep_freed_memory() is (refused is None)
    assert refused == TRIM or asked == {TRIM: 2**30, MMAP: 2**25}


@pytest.mark.parametrize(("platform", "library"), [("darwin", object()), ("linux", object())], ids=["other", "musl"])
def test_another_system_or_library_is_not_asked(platform, library, monkeypatch):
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda _: library)
    monkeypatch.setattr(memory.sys, "platform", platform)
    assert keep_freed_memory() is False
