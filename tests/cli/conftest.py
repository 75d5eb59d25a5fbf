"""Commands run in this process, with bytes in and bytes out, and files for them."""

import io
import json
import re
import shutil
import sys
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from npbert.cli import main


class Result(NamedTuple):
    """What a command left behind."""

    status: int
    out: bytes
    err: str

    @property
    def rows(self) -> list[Any]:
        """Standard output as JSON lines in UTF-8, of which the last one is ended, too."""
        assert self.out.endswith(b"\n")
        return [json.loads(line) for line in self.out.decode("utf-8").removesuffix("\n").split("\n")]

    @property
    def error(self) -> str:
        """What the error on standard error says, of a command that printed nothing else. The status is 2 where it is an
        option or an argument that is wrong, which is said after the usage, or else 1."""
        said = error_in(self.err)
        assert (self.status, self.out) == (1 + self.err.startswith("usage: "), b""), self
        return said


def error_in(err):
    """What the error says in what a command writes on standard error, which is nothing else but the usage before it."""
    usage, error = re.fullmatch(r"(usage: .*\n.* for more\n)?npbert[a-z -]*: error: (.*)\n", err).groups()
    assert bool(usage) == bool(re.match("--|[A-Z]+ is ", error)), err
    return error


@pytest.fixture
def npbert(monkeypatch, capsysbinary):
    """npbert("embed", folder, stdin=b"…") -> its Result."""

    def run(*arguments, stdin=b"", on_a_terminal=False):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(stdin)))
        monkeypatch.setattr(sys.stdout, "isatty", lambda: on_a_terminal, raising=False)
        capsysbinary.readouterr()
        status = main([str(argument) for argument in arguments])
        out, err = capsysbinary.readouterr()
        return Result(status, out, err.decode())

    return run


@pytest.fixture
def limited():
    """limited(100) -> while it lasts, no file may grow beyond so many bytes: to write more fails as on a full disk."""
    resource = pytest.importorskip("resource", reason="limits are set on POSIX alone")

    @contextmanager
    def limited(size):
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limited


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """A folder with all that a run needs."""
    from tests.training.tiny import write_checkpoint, write_corpus, write_labelled

    folder = tmp_path_factory.mktemp("files")
    write_checkpoint(folder / "checkpoint")
    for seed, (text, labelled) in enumerate((("corpus.txt", "train.tsv"), ("held_out.txt", "dev.tsv"))):
        write_corpus(folder / text, seed=seed)
        write_labelled(folder / labelled, seed=seed)
    return folder


@pytest.fixture
def here(files, tmp_path, monkeypatch):
    """A copy of it, in which commands are given."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
