"""A session of training: locks the folder, resumes the run from its state, and creates the watchers."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from hashlib import sha256

from npbert.compute import hold_blas, keep_freed_memory
from npbert.io.files import FileError
from npbert.models.hugging_face.tensors import TensorFile
from npbert.training.layer_statistics import LayerStatistics
from npbert.training.live import progress_of
from npbert.training.log import Log
from npbert.training.parallel import check_same, done_by_the_first
from npbert.training.plot import draw_curves
from npbert.training.progress import Watcher
from npbert.training.settings import save_settings
from npbert.training.state import Run
from npbert.training.state_file import drop_tensors, has_tensors


@contextmanager
def session(
    trainer: Run, *, changed_data: bool = False, overwrite: bool = False
) -> Iterator[tuple[list[Watcher], Callable[[], bool]]]:
    """Within it, a Trainer has its folder locked, and its run resumed. Gives the watchers in the order of their calls,
    and a function that tells whether to stop.

    Raises: as Trainer.train.
    """
    keep_freed_memory()
    communicator, folder = trainer.communicator, trainer.folder
    with communicator.ending_together(), hold_blas(), ExitStack() as stack:
        trainer.look_at_data()
        check_alike(trainer)
        done_by_the_first(communicator, lambda: stack.enter_context(trainer.locked()))
        if overwrite:
            done_by_the_first(communicator, trainer.forget)
        news = _take_up(trainer, changed_data)
        done_by_the_first(communicator, lambda: save_settings(trainer.recorded, folder))
        is_asked = stack.enter_context(stop_when_asked())
        if communicator.is_first:  # only this process writes and prints
            log = stack.enter_context(Log(folder, after_step=trainer.step))
            bar = progress_of(trainer, news)
            stack.enter_context(bar)
            yield [LayerStatistics(trainer.model, log), log, bar], lambda: is_asked() or bar.is_closed
            if not trainer.settings.keep_state:
                drop_tensors(trainer.state_file)
            draw_curves(folder)
        else:
            yield [], is_asked


def check_alike(trainer: Run) -> None:
    """Raise ValueError on all processes unless they have the same npbert, settings, model and files."""
    if trainer.communicator.size > 1:
        values = trainer.model.named_parameters()
        sums = {f"value of {name}": sha256(parameter.value.data).hexdigest() for name, parameter in values}
        check_same(trainer.communicator, {**asdict(trainer.recorded), **trainer.reads, **sums})


def _take_up(trainer: Run, changed_data: bool) -> str:
    """Resume from the state, if there is one. Returns a line with the step, and the effect of another length.

    Raises: as Run.restore; ValueError for processes that do not share the folder; FileError if the run is already
    further, or cannot be continued.
    """
    file, folder = trainer.state_file, trainer.folder
    head = TensorFile(file).metadata if file.is_file() else None
    check_same(trainer.communicator, {f"the state in {folder}, a folder for all processes,": head})
    if head is None:
        return ""
    changes = trainer.restore(changed_data=changed_data)
    step, total, before = trainer.step, trainer.settings.steps, trainer.progress.total_steps
    trainer.progress.total_steps = total
    if trainer.is_finished and (changes or total < before):
        raise FileError(f"the run in {folder} is already at step {step}; to continue it, give more steps")
    if trainer.is_finished:
        return f"the run in {folder} ended at step {step}; to continue, give more steps or more patience"
    if not has_tensors(file):
        raise FileError(f"the run in {folder} has ended, and cannot be continued, as its state was not kept")
    news = f"continuing from step {step}"
    if total != before:
        old, new = trainer.learning_rate(before), trainer.learning_rate(total)
        news += f", up to step {total} instead of {before}: the next learning rate is {new:.3g} instead of {old:.3g}"
    return f"{news}; {changes}" if changes else news


@contextmanager
def stop_when_asked() -> Iterator[Callable[[], bool]]:
    """Within it, SIGINT (Ctrl-C), SIGTERM, SIGHUP (closed terminal) and SIGXCPU (time limit) only ask to stop. Gives a
    function that tells whether one has arrived.

    A second SIGINT or SIGTERM has its normal effect. The system sends the others several times, so they always only
    ask; ignored signals, as under nohup, stay ignored. Python receives signals only in the main thread.
    """
    asked: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    people = (signal.SIGINT, signal.SIGTERM)
    system = [getattr(signal, name) for name in ("SIGHUP", "SIGXCPU") if hasattr(signal, name)]  # not on Windows
    taken = [*people, *(number for number in system if signal.getsignal(number) is not signal.SIG_IGN)]
    before = {number: signal.getsignal(number) for number in taken}

    def ask(number: int, _: object) -> None:
        asked.append(number)
        if number in people:
            signal.signal(number, before[signal.Signals(number)])

    try:
        for number in before:
            signal.signal(number, ask)
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
