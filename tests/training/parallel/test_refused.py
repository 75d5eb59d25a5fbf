"""What several processes refuse to share: all of them stop, with the same words."""

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from npbert import Batch
from npbert.extras import MissingExtraError
from npbert.files import FileError
from npbert.messages import in_words
from npbert.training.parallel import ALONE, Shares, done_by_the_first, same
from npbert.training.parallel.same import check_same_batch, check_same_folder, check_same_run
from npbert.training.settings import TrainerSettings
from tests.training.parallel.program import make
from tests.training.parallel.together import together
from tests.training.tiny import classifier, needs_the_extra_train


def test_more_processes_than_parts(tmp_path):
    for size, parts, said in ((3, 2, "2 parts"), (2, 1, "1 part")):
        with pytest.raises(ValueError, match=f"^a batch has {said}, .* but {size} were started: .*--parts {size} can"):
            together(size, lambda c, parts=parts: make(tmp_path, c, parts=parts))


def test_as_many_parts_as_processes_unless_it_is_said(tmp_path):
    assert together(3, lambda c: make(tmp_path, c, parts=0).recorded.parts) == [3] * 3
    assert make(tmp_path, ALONE, parts=0).settings.parts == 1


def test_other_settings_or_another_model():
    settings = TrainerSettings(steps=12)

    def check(communicator, changes, spoil=0.0):
        model = classifier()
        model.classifier.bias.value += spoil * communicator.rank
        check_same_run(communicator, model, replace(settings, **(changes if communicator.rank == 2 else {})))

    together(3, lambda communicator: check(communicator, {}))
    with pytest.raises(ValueError, match=r"^process 2 has another value for steps than process 0: 7 and not 12$"):
        together(3, lambda communicator: check(communicator, {"steps": 7}))
    with pytest.raises(ValueError, match=r"^process 1 has another value of classifier\.bias than process 0$"):
        together(3, lambda communicator: check(communicator, {}, 0.1))


def test_another_version(monkeypatch):
    this = threading.local()

    class Installed:
        __version__ = property(lambda _: this.version)

    def check(communicator):
        this.version = "1.1" if communicator.rank == 2 else "1.0"
        check_same_run(communicator, classifier(), TrainerSettings(steps=12))

    monkeypatch.setattr(same, "npbert", Installed())
    with pytest.raises(ValueError, match=r"^process 2 has another version of npbert than .*: 1\.1 and not 1\.0$"):
        together(3, check)


def test_a_run_compares_the_bytes_of_what_it_is_judged_by(tmp_path, monkeypatch):
    needs_the_extra_train()
    this, read_bytes = threading.local(), Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: this.held_out if path.name == "dev" else read_bytes(path))

    def train(communicator, held_out):
        this.held_out = held_out if communicator.rank else b"a"
        return make(tmp_path / "run", communicator, judged_by=[tmp_path / "dev"], steps=1).train()

    together(2, lambda communicator: train(communicator, b"a"))
    with pytest.raises(ValueError, match=r"^process 1 has another held-out file .*dev than process 0$"):
        together(2, lambda communicator: train(communicator, b"b"))


def test_other_data():
    def check(communicator):
        labels = np.array([1, int(communicator.rank == 1)])
        check_same_batch(communicator, Batch(np.array([[5, 6], [7, 8]]), labels=labels))

    with pytest.raises(ValueError, match=r"^process 1 has another batch, so other files, than process 0$"):
        together(3, check)


def test_a_folder_that_one_process_does_not_see(tmp_path):
    for name in ("one", "another"):
        (tmp_path / name).mkdir()
    together(2, lambda communicator: check_same_folder(communicator, tmp_path / "one"))
    assert list((tmp_path / "one").iterdir()) == []
    with pytest.raises(FileError, match=r"^process 2, in .*another, does not see .* 0 writes to .*one: a run"):
        together(3, lambda c: check_same_folder(c, tmp_path / ("another" if c.rank == 2 else "one")))


def test_a_folder_of_the_same_name_on_another_machine(tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()
    read_text, this = Path.read_text, threading.local()
    monkeypatch.setattr(Path, "read_text", lambda path, **how: "0" if this.rank == 1 else read_text(path, **how))

    def check(communicator):
        this.rank = communicator.rank
        check_same_folder(communicator, tmp_path / "run")

    with pytest.raises(FileError, match=r"^process 1, in its folder .*run, does not see .*which all .* share"):
        together(2, check)


def test_where_the_first_fails_all_fail_in_the_same_words():
    def work(communicator, error):
        def fail():
            assert communicator.is_first
            raise error

        with pytest.raises(type(error)) as said:
            done_by_the_first(communicator, fail)
        return in_words(said.value)

    for error in (OSError(13, "Permission denied", "run"), FileError("wrong"), MissingExtraError("missing")):
        assert together(3, lambda communicator, error=error: work(communicator, error)) == [in_words(error)] * 3
    assert together(2, lambda communicator: done_by_the_first(communicator, lambda: None)) == [None, None]


def test_a_model_of_two_dtypes():
    def work(communicator):
        model = classifier()
        model.classifier.bias.value = model.classifier.bias.value.astype(np.float64)
        return Shares(model, communicator)

    together(1, work)
    with pytest.raises(ValueError, match="a model of one dtype, and this has"):
        together(2, work)
