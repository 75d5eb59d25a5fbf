"""A session of training: the folder is this process's, the run goes on from its state, and what watches it is there."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256

import numpy as np

import npbert
from npbert.compute import hold_blas, keep_freed_memory
from npbert.io.files import FileError
from npbert.training.agreement import check_same, check_same_folder, done_by_the_first
from npbert.training.finite import CheckFinite
from npbert.training.layer_statistics import LayerStatistics, histograms
from npbert.training.live import progress_of
from npbert.training.log import Bar, Log, held_out_line
from npbert.training.plot import Pictures, draw_curves
from npbert.training.progress import Averages, Step, Watcher
from npbert.training.settings import save_settings, when_judged
from npbert.training.state import Run, has_tensors


@contextmanager
def session(trainer: Run, *, changed_data: bool = False, overwrite: bool = False) -> Iterator[list[Watcher]]:
    """While it lasts, a Trainer has its folder for itself, and goes on with the run in it; this gives what watches it.

    Raises: as Trainer.train.
    """
    keep_freed_memory()
    communicator = trainer.communicator
    with communicator.ending_together(), hold_blas(), ExitStack() as stack:
        trainer.look_at_data()
        check_alike(trainer)
        done_by_the_first(communicator, lambda: stack.enter_context(trainer.locked()))
        check_same_folder(communicator, trainer.folder)
        if overwrite:
            done_by_the_first(communicator, trainer.forget)
        news = _take_up(trainer, changed_data) if trainer.state_file.is_file() else ""
        done_by_the_first(communicator, lambda: save_settings(trainer.recorded, trainer.folder))
        with stop_when_asked() as is_asked, ExitStack() as files:
            yield _watchers(trainer, is_asked, files, news)
        trainer.finish()
        if communicator.is_first:
            draw_curves(trainer.folder)


def check_alike(trainer: Run) -> None:
    """Raise ValueError on all processes unless they have the same npbert, settings, model and files."""
    if trainer.communicator.size > 1:
        known = {f"value for {name}": repr(value) for name, value in asdict(trainer.recorded).items()}
        check_same(trainer.communicator, {"version of npbert": npbert.__version__, **known})
        values = trainer.model.named_parameters()
        sums = {f"value of {name}": sha256(parameter.value.data).hexdigest() for name, parameter in values}
        check_same(trainer.communicator, {**trainer.reads, **sums}, shown=False)


def _take_up(trainer: Run, changed_data: bool) -> str:
    """Go on from the state; return a line that says from where, and what another length changes.

    Raises: as Run.restore; FileError where the run is already further than it is to be, or has nothing left to go
    on with.
    """
    changes = trainer.restore(changed_data=changed_data)
    folder, step, total, progress = trainer.folder, trainer.step, trainer.settings.steps, trainer.progress
    before = progress.total_steps or total
    if total != before and total <= step:
        raise FileError(f"{folder} holds a run that is at step {step} already: wanted more steps, not {total}")
    if trainer.is_finished and changed_data and changes:
        raise FileError(f"the run in {folder} ended at step {step}: wanted more steps, to go on with other data")
    if trainer.is_finished:
        return f"the run in {folder} ended at step {step}; more steps, or more patience, make it longer"
    if not has_tensors(trainer.state_file):
        raise FileError(f"the run in {folder} has ended, and its state was not kept: it cannot be made longer")
    news = f"going on from step {step}"
    if total != before:
        old, new = trainer.learning_rate(before), trainer.learning_rate(total)
        news += f", up to step {total} instead of {before}: the next learning rate is {new:.3g} instead of {old:.3g}, "
        news += "and falls to 0 at the new end"
        if trainer.evaluation.evaluate is not None:
            news += f"; the model is judged {when_judged(trainer.settings, 0)}"
    progress.total_steps = total
    return f"{news}; {changes}" if changes else news


def _watchers(trainer: Run, is_asked: Callable[[], bool], files: ExitStack, news: str) -> list[Watcher]:
    """All that watches, in the order in which it is called. Process 0 alone writes and speaks."""
    if not trainer.communicator.is_first:
        return [CheckFinite(trainer), Judge(trainer), Saving(trainer, is_asked)]
    log = files.enter_context(Log(trainer.folder, after_step=trainer.step, every=trainer.settings.log_every))
    bar = files.enter_context(progress_of(trainer))
    if news:
        bar.say(news)
    return [
        CheckFinite(trainer, log),
        LayerStatistics(trainer.model, trainer.settings, log),
        Metrics(trainer, log, bar),
        Judge(trainer),
        Evaluations(trainer, log, bar),
        Saving(trainer, lambda: is_asked() or bar.is_closed, log),
    ]


@dataclass
class Metrics(Watcher):
    """Writes a row of metrics.jsonl, with the means since the row before, and shows them on the bar."""

    trainer: Run
    log: Log
    bar: Bar

    def after(self, step: Step) -> None:
        progress = self.trainer.progress
        progress.averages.add(self.trainer.evaluation.kinds, step.losses)
        self.bar.update()
        if not self.trainer.settings.is_logged(step.number):
            return
        means = progress.averages.means()
        row = {**means, "epoch": progress.epoch, "learning_rate": step.learning_rate}
        row["gradient_norm"] = step.gradient_norm
        self.log.write(step.number, row, tokens_per_second=step.tokens_per_second)
        self.bar.show(means, step.tokens_per_second)
        progress.averages = Averages()


@dataclass
class Judge(Watcher):
    """Evaluates, notes in the progress what came of it, and saves the model where it is the best so far.

    Several processes judge together, and go by the numbers of process 0.
    """

    trainer: Run

    def after(self, step: Step) -> None:
        """Raises: ValueError when the evaluation does not give the goal's number."""
        trainer, progress = self.trainer, self.trainer.progress
        evaluate, goal = trainer.evaluation.evaluate, trainer.evaluation.goal
        if not trainer.settings.is_judged(step.number):
            return
        is_best, value = True, None
        if evaluate is not None:
            numbers = {name: float(number) for name, number in evaluate().items()}
            progress.evaluation = trainer.communicator.gather(numbers)[0]
            if goal is not None:
                rank, value = goal.rank(progress.evaluation), progress.evaluation[goal.name]
                is_best = not progress.best_evaluation or rank > goal.rank(progress.best_evaluation)
        if not is_best:
            progress.evaluations_since_best += 1
            return
        progress.best, progress.evaluations_since_best = value, 0
        progress.best_step, progress.best_evaluation = step.number, progress.evaluation
        trainer.save_best()


@dataclass
class Evaluations(Watcher):
    """Writes down what an evaluation gave, and what a person would look at: answers, histograms and pictures."""

    trainer: Run
    log: Log
    bar: Bar

    def __post_init__(self) -> None:
        self.pictures = Pictures(self.trainer.folder, self.trainer.model, self.trainer.evaluation.example)

    def after(self, step: Step) -> None:
        trainer, progress, number = self.trainer, self.trainer.progress, step.number
        if not trainer.settings.is_judged(number):
            return
        if trainer.evaluation.evaluate is not None:
            self.log.write(number, {f"eval_{name}": value for name, value in progress.evaluation.items()})
            self.bar.say(held_out_line(number, progress.evaluation))
        with np.errstate(all="ignore"):  # where a model falls apart, the next step says so
            shown = trainer.evaluation.show() if trainer.evaluation.show else {}
        if shown:
            self.log.shown.write(number, {**shown, "best_step": progress.best_step})
        self.log.events.histograms(number, histograms(trainer.model))
        self.log.events.images(number, self.pictures.draw(shown))


@dataclass
class Saving(Watcher):
    """Saves the state every so many steps, at the end, and when asked to stop."""

    trainer: Run
    is_asked: Callable[[], bool]
    log: Log | None = None

    def after(self, step: Step) -> None:
        """Raises: KeyboardInterrupt when somebody wants the run to stop, on all processes."""
        trainer = self.trainer
        if trainer.is_finished or self._stops() or step.number % trainer.settings.save_every == 0:
            if self.log is not None:
                self.log.sync()  # a state is never ahead of its log
            trainer.save()
            if self._stops() and not trainer.is_finished:
                where, kept = f"step {step.number} of {trainer.settings.steps}", f"all is kept in {trainer.folder}"
                raise KeyboardInterrupt(f"stopped at {where}: {kept}, and the same run, begun again, goes on from here")

    def _stops(self) -> bool:
        """True if any process was asked to stop: all decide alike, or one would wait for the others."""
        return any(self.trainer.communicator.gather(self.is_asked()))


@contextmanager
def stop_when_asked() -> Iterator[Callable[[], bool]]:
    """While it lasts, what would end the process only asks to stop: SIGINT (Ctrl-C), SIGTERM, SIGHUP (its terminal is
    closed) and SIGXCPU (its time is up). It gives a function that says whether somebody has asked.

    A second SIGINT or SIGTERM acts as ever. The system sends the others more than once, and they only ask each time;
    where they are ignored, as under nohup, they still are. Outside the main thread Python takes none: nobody asks.
    """
    asked: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    people = (signal.SIGINT, signal.SIGTERM)
    system = [getattr(signal, name) for name in ("SIGHUP", "SIGXCPU") if hasattr(signal, name)]  # Windows has none
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
