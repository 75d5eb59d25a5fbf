"""A file that may not grow: what is said names the file that was wanted, and why it cannot be written."""

import errno
import os

import pytest

resource = pytest.importorskip("resource", reason="limits are set on POSIX alone")


@pytest.mark.parametrize("name", ["out.npy", "out.jsonl"])
def test_the_wanted_file_and_the_reason_are_said(npbert, checkpoints, tmp_path, name):
    path, before = tmp_path / name, resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        said = npbert("embed", checkpoints["embed"], "--output", path, stdin=b"cat\n" * 40)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert said.error == f"{path}: {os.strerror(errno.EFBIG)}"
    assert not list(tmp_path.iterdir())
