"""What several processes share: evaluation, state, decisions; and what they refuse to share."""

import itertools
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from npbert import Adam, Batch, Layer, Parameter
from npbert.files import FileError
from npbert.messages import in_words
from npbert.training.finite import NotFiniteError
from npbert.training.interrupt import Interrupt
from npbert.training.parallel import ALONE, Shares, done_by_the_first, shared_out
from npbert.training.parallel.same import check_same_batch, check_same_folder, check_same_run
from npbert.training.settings import TrainerSettings
from npbert.training.tasks import TASKS, TaskSettings, make_task
from tests.training.parallel.program import assert_close, make
from tests.training.parallel.together import together
from tests.training.tasks.tiny import FILES, tiny_config, tiny_tokenizer
from tests.training.tiny import classifier, needs_the_extra_train, results, values


def train(folder, **options):
    needs_the_extra_train()
    return lambda communicator: make(folder, communicator, **options).train()


# -- evaluation


@pytest.mark.parametrize("name", TASKS)
def test_every_task_is_judged_as_by_one_process(name, tmp_path):
    columns, content, _ = FILES[name]
    (tmp_path / "a.tsv").write_text(content)

    def evaluate(communicator):
        task = make_task(TaskSettings(task=name, max_length=20, **columns), tiny_tokenizer())
        task.communicator = communicator
        examples = task.read(str(tmp_path / "a.tsv"))
        model = task.model_class(tiny_config(**task.config()), rng=np.random.default_rng(0))
        return task.evaluate(model, examples)

    wanted = evaluate(ALONE)
    for size in (1, 2, 3, 5):
        for metrics in together(size, evaluate):
            assert metrics == pytest.approx(wanted, rel=1e-5, nan_ok=True)


@pytest.mark.parametrize("count", range(1, 8))
def test_each_computes_its_share_once_and_all_get_everything_in_order(count):
    asked = []

    def compute(items):
        asked.extend(items)
        return [np.full((2, item), item, np.float32) for item in items]

    for found in together(3, lambda communicator: shared_out(communicator, range(count), compute)):
        assert [array.shape for array in found] == [(2, item) for item in range(count)]
        assert all((array == item).all() and array.dtype == np.float32 for item, array in enumerate(found))
    assert sorted(asked) == list(range(count))


def test_what_the_first_process_says_decides(tmp_path):
    """An evaluation that draws numbers, say, gives each process others; still all stop at the same step."""

    def work(communicator):
        trainer = make(tmp_path, communicator, patience=1, evaluate_every=2)
        values = iter([1.0, 0.5, 0.7] if communicator.is_first else [9.0, 9.9, 1.0])
        trainer._judge.evaluate = lambda: {"loss": next(values)}
        return trainer.train(), trainer.step

    needs_the_extra_train()
    assert together(2, work) == [({"loss": 0.5}, 6)] * 2


# -- the state


@pytest.mark.parametrize(("before", "after"), [(3, 2), (2, 0), (0, 3)])
def test_a_state_of_any_number_is_gone_on_from_by_any_other(tmp_path, before, after):
    together(0, train(tmp_path / "whole"))
    for shared in (True, False):
        folder = tmp_path / f"{shared}"
        with pytest.raises(KeyError, match="stop"):
            together(before, stopped(folder, 6, share_state=shared))
        together(after, train(folder, share_state=shared))
        assert_close(folder, tmp_path / "whole")


def stopped(folder, step, **settings):
    """A run whose data is pulled away on all processes before a step."""

    def work(communicator):
        trainer = make(folder, communicator, **settings)
        batches, count = trainer.data.batches, iter(range(step))

        def cut(*where):
            for item in batches(*where):
                if next(count, None) is None:
                    raise KeyError("stop")
                yield item

        trainer.data.batches = cut
        return trainer.train()

    needs_the_extra_train()
    return work


def test_the_state_is_the_same_file_whether_it_was_shared_out_or_not(tmp_path):
    for shared in (True, False):
        together(3, train(tmp_path / f"{shared}", share_state=shared))
    assert results(tmp_path / "True") == results(tmp_path / "False")


@pytest.mark.parametrize("size", [2, 3, 7])
def test_each_process_remembers_its_share_alone(size):
    def count(communicator):
        shares = Shares(classifier(), communicator)
        return sum(array.size for arrays in Adam(shares.parameters).moments().values() for array in arrays)

    counts, total = together(size, count), sum(2 * value.size for value in values(classifier()))
    assert sum(counts) == total
    assert max(counts) < 1.1 * total / size + 2 * 30


def test_a_matrix_is_shared_out_by_rows_so_that_its_decay_stays():
    def pieces(communicator):
        return [(piece.name, piece.parameter.value.shape) for piece in Shares(classifier(), communicator).own]

    shapes = {name: parameter.value.shape for name, parameter in classifier().named_parameters()}
    for name, shape in [piece for pieces in together(3, pieces) for piece in pieces]:
        assert shape[1:] == shapes[name][1:] and shape[0] <= shapes[name][0]


# -- decisions


def test_what_no_backward_reaches_has_the_gradient_0():
    class Two(Layer):
        def __init__(self):
            self.used, self.unused = Parameter(np.zeros((2, 3))), Parameter(np.zeros(4))

    def two_steps(communicator):
        model = Two()
        shares = Shares(model, communicator)
        for step in (1, 2):
            shares.zero_gradients()
            model.used.add_grad(np.full((2, 3), 10.0 * step))
            if step == 1:
                model.unused.add_grad(np.full(4, 7.0))
            shares.sum_gradients()
        return shares.global_norm(), [number for own in shares.parameters for number in own.grad.flat]

    for size in (1, 2, 3):
        norms, gradients = zip(*together(size, two_steps), strict=True)
        assert list(itertools.chain(*gradients)) == [20.0 * size] * 6 + [0.0] * 4
        np.testing.assert_allclose(norms, [20 * size * 6**0.5] * size, rtol=1e-15)


def test_one_that_is_asked_to_stop_stops_all_at_the_same_step(tmp_path, monkeypatch):
    asked = {}

    @contextmanager
    def of_one():
        yield asked.setdefault(threading.get_ident(), Interrupt())

    def work(communicator):
        trainer = make(tmp_path, communicator)
        batches = trainer.data.batches

        def ask(*where):
            for number, item in enumerate(batches(*where), start=1):
                asked[threading.get_ident()].asked |= communicator.rank == 1 and number == 3
                yield item

        trainer.data.batches = ask
        with pytest.raises(KeyboardInterrupt):
            trainer.train()
        return trainer.step

    needs_the_extra_train()
    monkeypatch.setattr("npbert.training.trainer.stop_when_asked", of_one)
    assert together(3, work) == [3, 3, 3]


def test_what_is_not_finite_on_one_process_ends_all_with_the_same_words(tmp_path):
    def work(communicator):
        trainer = make(tmp_path, communicator)
        if communicator.rank == 1:
            loss, model = trainer.model.loss, trainer.model
            model.loss = lambda batch, *tape: loss(batch, *tape)._replace(loss=np.nan)
        with pytest.raises(NotFiniteError) as caught:
            trainer.train()
        return str(caught.value)

    needs_the_extra_train()
    first, second = together(2, work)
    assert first == second
    assert first.startswith("step 1: the loss is nan")


# -- what is refused


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
    with pytest.raises(ValueError, match=r"^process 2 has another value than process 0 for steps: 7 and not 12$"):
        together(3, lambda communicator: check(communicator, {"steps": 7}))
    with pytest.raises(ValueError, match=r"^process 1 has another value than process 0 of classifier\.bias$"):
        together(3, lambda communicator: check(communicator, {}, 0.1))


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
