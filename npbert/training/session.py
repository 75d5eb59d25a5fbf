"""A session of training: locks the folder, resumes the run from its state, and creates the watchers."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from hashlib import sha256

from npbert.compute import hold_blas, keep_freed_memory
from npbert.io.files import FileError
from npbert.training.agreement import check_same, check_same_folder, done_by_the_first
from npbert.training.layer_statistics import LayerStatistics
from npbert.training.live import progress_of
from npbert.training.log import Log
from npbert.training.plot import Pictures, draw_curves
from npbert.training.progress import Watcher
from npbert.training.settings import save_settings, when_judged
from npbert.training.state import Run
from npbert.training.state_file import has_tensors


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
        check_same_folder(communicator, folder)
        if overwrite:
            done_by_the_first(communicator, trainer.forget)
        news = _take_up(trainer, changed_data) if trainer.state_file.is_file() else ""
        done_by_the_first(communicator, lambda: save_settings(trainer.recorded, folder))
        with stop_when_asked() as is_asked, ExitStack() as files:
            if communicator.is_first:  # only this process writes and prints
                log = files.enter_context(Log(folder, after_step=trainer.step, every=trainer.settings.log_every))
                bar = files.enter_context(progress_of(trainer, news))
                statistics = LayerStatistics(trainer.model, trainer.settings, log)
                pictures = Pictures(folder, log.events, trainer.model, trainer.evaluation.example)
                yield [log, statistics, bar, pictures], lambda: is_asked() or bar.is_closed
            else:
                yield [], is_asked
        trainer.finish()
        if communicator.is_first:
            draw_curves(folder)


def check_alike(trainer: Run) -> None:
    """Raise ValueError on all processes unless they have the same npbert, settings, model and files."""
    if trainer.communicator.size > 1:
        known = {f"value for {name}": repr(value) for name, value in asdict(trainer.recorded).items()}
        check_same(trainer.communicator, known)
        values = trainer.model.named_parameters()
        sums = {f"value of {name}": sha256(parameter.value.data).hexdigest() for name, parameter in values}
        check_same(trainer.communicator, {**trainer.reads, **sums}, shown=False)


def _take_up(trainer: Run, changed_data: bool) -> str:
    """Resume from the state. Returns a line with the step, and the effect of another length.

    Raises: as Run.restore; FileError if the run is already further, or cannot be continued.
    """
    changes = trainer.restore(changed_data=changed_data)
    folder, step, total, progress = trainer.folder, trainer.step, trainer.settings.steps, trainer.progress
    before = progress.total_steps or total
    if total != before and total <= step:
        raise FileError(f"the run in {folder} is already at step {step}; give more than {total} steps")
    if trainer.is_finished and changes:
        raise FileError(f"the run in {folder} ended at step {step}; to continue with other data, give more steps")
    if trainer.is_finished:
        return f"the run in {folder} ended at step {step}; to continue, give more steps or more patience"
    if not has_tensors(trainer.state_file):
        raise FileError(f"the run in {folder} has ended, and cannot be continued, as its state was not kept")
    news = f"continuing from step {step}"
    if total != before:
        old, new = trainer.learning_rate(before), trainer.learning_rate(total)
        news += f", up to step {total} instead of {before}: the next learning rate is {new:.3g} instead of {old:.3g}, "
        news += "and falls to 0 at the new end"
        if trainer.evaluation.evaluate is not None:
            news += f"; evaluations: {when_judged(trainer.settings, 0)}"
    progress.total_steps = total
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
