"""What several processes refuse to share: all of them stop, with the same words."""

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from npbert import Batch
from npbert.files import FileError
from npbert.messages import in_words
from npbert.training.parallel import ALONE, Shares, done_by_the_first, same
from npbert.training.parallel.same import check_same_batch, check_same_folder, check_same_run
from npbert.training.settings import TrainerSettings
from tests.training.parallel.program import make
from tests.training.parallel.together import together
from tests.training.tiny import classifier, needs_the_extra_train


def train(folder, **options):
    needs_the_extra_train()
    return lambda communicator: make(folder, communicator, **options).train()


def test_more_processes_than_parts(tmp_path):
    with pytest.raises(ValueError, match=r"^--parts is 2, so at most 2 processes can share the work; 3 were started$"):
        together(3, train(tmp_path, parts=2))
    train(tmp_path, parts=1)(ALONE)
    with pytest.raises(
        ValueError, match=r"was begun with 1 part, so it can only ever have 1 process, .* --parts 2 can"
    ):
        together(2, train(tmp_path, parts=1))


def test_as_many_parts_as_processes_unless_it_is_said(tmp_path):
    needs_the_extra_train()
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


def test_another_version_or_another_held_out_file(tmp_path, monkeypatch):
    this = threading.local()

    class Installed:
        __version__ = property(lambda _: this.version)

    def check(communicator, version="1.0", held_out=b"a"):
        is_last = communicator.rank == 2
        this.version, this.bytes = (version, held_out) if is_last else ("1.0", b"a")
        check_same_run(communicator, classifier(), TrainerSettings(steps=12), [tmp_path / "dev.tsv"])

    monkeypatch.setattr(same, "npbert", Installed())
    monkeypatch.setattr(Path, "read_bytes", lambda _: this.bytes)
    together(3, check)
    with pytest.raises(
        ValueError, match=r"^process 2 has another version of npbert than process 0: 1\.1 and not 1\.0$"
    ):
        together(3, lambda communicator: check(communicator, version="1.1"))
    with pytest.raises(ValueError, match=r"^process 2 has another held-out file .*dev\.tsv than process 0$"):
        together(3, lambda communicator: check(communicator, held_out=b"b"))


def test_a_run_compares_what_it_is_judged_by(tmp_path):
    needs_the_extra_train()
    for name in "01":
        (tmp_path / name).touch()
    with pytest.raises(ValueError, match=r"^process 1 has another held-out file"):
        together(2, lambda c: make(tmp_path / "run", c, judged_by=[tmp_path / str(c.rank)]).train())


def test_other_data():
    def check(communicator):
        labels = np.array([1, int(communicator.rank == 1)])
        check_same_batch(communicator, Batch(np.array([[5, 6], [7, 8]]), labels=labels))

    with pytest.raises(ValueError, match=r"^process 1 reads other data than process 0"):
        together(3, check)


def test_a_folder_that_one_process_does_not_see(tmp_path):
    for name in ("one", "another"):
        (tmp_path / name).mkdir()
    together(2, lambda communicator: check_same_folder(communicator, tmp_path / "one"))
    assert list((tmp_path / "one").iterdir()) == []
    with pytest.raises(FileError, match=r"^process 2 was given the folder .*another, and process 0 .*one: a run has"):
        together(3, lambda c: check_same_folder(c, tmp_path / ("another" if c.rank == 2 else "one")))


def test_a_folder_of_the_same_name_on_another_machine(tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()
    read_text, this = Path.read_text, threading.local()
    monkeypatch.setattr(Path, "read_text", lambda path, **how: "0" if this.rank == 1 else read_text(path, **how))

    def check(communicator):
        this.rank = communicator.rank
        check_same_folder(communicator, tmp_path / "run")

    with pytest.raises(FileError, match=r"process 1 does not see the files that process 0 writes to .*run: .* share"):
        together(2, check)


def test_where_the_first_fails_all_fail_in_the_same_words():
    def work(communicator, error):
        def fail():
            assert communicator.is_first
            raise error

        try:
            done_by_the_first(communicator, fail)
        except (FileError, OSError, ImportError) as said:
            return in_words(said)

    for error in (OSError(13, "Permission denied", "run"), FileError("wrong"), ImportError("missing")):
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
