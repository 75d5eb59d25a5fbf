"""Files that are written whole or not at all, and read with errors that name them."""

import json
import os
from pathlib import Path

import pytest

from npbert.files import FileError, atomic_write, decode, read_json_object, read_text, write_json


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.txt"


def test_the_new_file_takes_the_place_of_the_old_one_at_the_end(path):
    path.write_text("old")
    with atomic_write(path) as written:
        assert written.parent == path.parent
        written.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("old", ["old", None])
def test_an_error_leaves_the_old_file_and_nothing_else(path, error, old):
    if old:
        path.write_text(old)
    with pytest.raises(error), atomic_write(path) as written:
        written.write_text("half of it")
        raise error
    assert [file.read_text() for file in path.parent.iterdir()] == ([old] if old else [])


def test_a_file_that_cannot_take_its_place(path):
    path.mkdir()
    with pytest.raises(OSError, match=path.name), atomic_write(path) as written:
        written.write_text("new")
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_the_mode_is_that_of_any_new_file(path, mask, mode):
    before = os.umask(mask)
    try:
        with atomic_write(path) as written:
            written.write_text("new")
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == mode


def test_all_of_it_is_on_the_disk_before_it_is_renamed(path, monkeypatch):
    events = []
    fsync, replace = os.fsync, Path.replace

    def synced(handle):
        events.append(("synced", os.fstat(handle).st_size))
        fsync(handle)

    def replaced(self, target):
        events.append(("replaced", target.read_text()))
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    path.write_text("old")
    with atomic_write(path) as written:
        written.write_text("four")
    assert events == [("synced", 4), ("replaced", "old")]
    assert path.read_text() == "four"


def test_json(path):
    value = {"ä": [1, 2.5, None], "b": {"c": True}}
    write_json(path, value)
    text = path.read_text(encoding="utf-8")
    assert "ä" in text
    assert text.endswith("}\n")
    assert text.startswith('{\n  "ä"')
    assert read_json_object(path) == json.loads(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ", line 1: no valid JSON: Expecting value"),
        ('{"a": 1,\n"b"}', ", line 2: no valid JSON: Expecting ':' delimiter"),
        ("[]", " holds a JSON list, wanted an object"),
        ("3", " holds a JSON int, wanted an object"),
        ('"text"', " holds a JSON str, wanted an object"),
    ],
)
def test_no_json_object(path, text, message):
    path.write_text(text)
    with pytest.raises(FileError, match=f"^{path}{message}"):
        read_json_object(path)


def test_text(path):
    path.write_bytes("\ufeffGröße\n".encode())
    assert read_text(path) == "Größe\n"
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_text(path.parent / "nowhere")


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (b"\xe4", r"line 1: byte 0 \(0xe4\)"),
        (b"ab\ncd\xff\n\xfe", r"line 2: byte 5 \(0xff\)"),
        (b"\n\nab\xc3", r"line 3: byte 4 \(0xc3\)"),
    ],
)
def test_no_text(path, data, where):
    with pytest.raises(FileError, match=f"^some name, {where} is not UTF-8"):
        decode(data, "some name")
    path.write_bytes(data)
    with pytest.raises(FileError, match=f"^{path}, {where} is not UTF-8"):
        read_text(path)


def test_a_file_error_is_a_value_error():
    assert issubclass(FileError, ValueError)
