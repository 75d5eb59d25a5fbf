"""Files that are written whole or not at all, and read with errors that name them."""

import io
import os
import stat
from pathlib import Path

import pytest

from npbert.data.corpus import Corpus
from npbert.io import Place, files
from npbert.io.files import FileError, atomic_write, read_json, read_text, write_where_asked


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.txt"


def test_the_new_file_takes_the_place_of_the_old_one_when_all_of_it_is_on_the_disk(path, monkeypatch):
    """Then its name reaches the disk, too."""
    synced, fsync = [], os.fsync

    def watch(handle):
        fsync(handle)
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        synced.append(("folder" if is_folder else os.fstat(handle).st_size, path.read_text()))

    monkeypatch.setattr(os, "fsync", watch)
    path.write_text("old")
    with atomic_write(path) as written:
        assert written.stat().st_dev == path.parent.stat().st_dev
        written.write_text("newer")
        assert path.read_text() == "old"
    assert synced == [(5, "old"), ("folder", "newer")]
    assert [file.read_text() for file in path.parent.iterdir()] == ["newer"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("old", [["old"], []])
def test_an_error_leaves_the_old_file_and_nothing_else(path, error, old):
    for text in old:
        path.write_text(text)
    with pytest.raises(error), atomic_write(path) as written:
        written.write_text("half of it")
        raise error
    assert [file.read_text() for file in path.parent.iterdir()] == old


@pytest.mark.parametrize("error", [OSError(28, "full"), "unfinished"])
def test_an_error_of_the_system_names_the_file_that_the_user_knows(path, error):
    with pytest.raises(OSError, match="full") as caught, atomic_write(path) as written:
        raise OSError(28, "full", str(written)) if error == "unfinished" else error
    assert caught.value.filename == str(path)
    assert list(path.parent.iterdir()) == []


def test_what_killed_processes_left_is_removed_and_nothing_else(path):
    """Also what a library writes beside the file that it is to write."""
    writing = atomic_write(path)
    written = writing.__enter__()
    written.with_name(".tmpQAgvW7").write_text("half")
    mine = {".file.txt.part", "file.part", ".hidden"}
    for name in mine:
        (path.parent / name).touch()
    assert len(list(path.parent.iterdir())) == 4
    files.remove_leftovers(path.parent)
    assert {file.name for file in path.parent.iterdir()} == mine


def test_the_mode_is_that_of_any_new_file_or_of_the_old_one(path):
    before = os.umask(0o027)
    try:
        with atomic_write(path) as written:
            written.unlink()
            written.touch(0o600)  # as the library of safetensors does
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    with atomic_write(path) as written:
        written.write_text("new")
    assert (stat.S_IMODE(path.stat().st_mode), path.read_text()) == (0o604, "new")


@pytest.mark.parametrize("is_followed", [False, True])
def test_only_where_a_person_asks_for_it_is_a_link_followed(path, tmp_path, is_followed):
    target = tmp_path / "target.txt"
    target.write_text("old")
    path.symlink_to(target)
    if is_followed:
        write_where_asked(path, [b"n", b"ew"])
    else:
        with atomic_write(path) as written:
            written.write_text("new")
    assert path.read_text() == "new" and path.is_symlink() == is_followed
    assert target.read_text() == ("new" if is_followed else "old")
    assert len(list(tmp_path.iterdir())) == 2
    if hasattr(os, "mkfifo"):  # not /dev/null, which wrong code would replace for the whole machine
        os.mkfifo(tmp_path / "pipe")
        reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        write_where_asked(tmp_path / "pipe", [b"new"])
        assert os.read(reader, 9) == b"new" and (tmp_path / "pipe").is_fifo()
        os.close(reader)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", ", line 1: not valid JSON: Expecting value"),
        (b'{"a": 1,\n"b"}', ", line 2: not valid JSON: Expecting ':' delimiter"),
        (b"[]", ": it is a JSON list, wanted an object"),
        (b"3", ": it is a JSON int, wanted an object"),
        (
            b"\xe4",
            r", line 1: byte 1 of the line \(0xe4\) is not UTF-8; save it as UTF-8 \(> in Windows PowerShell 5 writes"
            r" UTF-16\)",
        ),
        (b"ab\ncd\xff\n\xfe", r", line 2: byte 3 of the line \(0xff\) is not UTF-8"),
        (b"\n\nab\xc3", r", line 3: byte 3 of the line \(0xc3\) is not UTF-8"),
    ],
)
def test_text_and_what_is_none(path, data, message):
    path.write_bytes("\ufeffGröße\n".encode())
    assert read_text(path) == "Größe\n"
    path.write_bytes(data)
    with pytest.raises(FileError, match=f"^{path}{message}") as caught:
        read_json(path)
    assert isinstance(caught.value, ValueError)
    if "UTF-8" in message:
        with pytest.raises(FileError, match=f"^some name{message}"):
            files.decode(data, Place("some name"))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero")
def test_a_stream_without_an_end_is_not_read_to_it(monkeypatch):
    monkeypatch.setattr("npbert.io.files.LARGEST_STREAM", 2**20)
    with pytest.raises(FileError, match=r"^/dev/zero has more than 1 MiB, wanted a file, as a stream may never end$"):
        read_text(Path("/dev/zero"))
    with pytest.raises(FileError, match=r"^/dev/zero is a pipe or a device, wanted a file"):
        Corpus(["/dev/zero"])
    with pytest.raises(FileError, match=r"^standard input has more than 1 MiB"):
        files.read_stream(io.BytesIO(bytes(2**20 + 1)), "standard input")
    assert files.read_stream(io.BytesIO(bytes(2**20)), "standard input") == bytes(2**20)
