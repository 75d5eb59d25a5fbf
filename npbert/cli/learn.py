"""`npbert learn`: exercises in backpropagation, and the answers to them judged."""

from __future__ import annotations

import contextlib
import datetime
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from npbert.cli.command import Command, argument, switch
from npbert.cli.learn_watch import watch
from npbert.data import load_dialogue
from npbert.io.errors import Wanted
from npbert.io.settings import setting
from npbert.learn import (
    FOLDER,
    RIGHT,
    WRONG,
    Exercise,
    check,
    demo,
    exercise_of,
    find,
    folder_of,
    option_of,
    printing,
    write_missing,
)
from npbert.learn.answer_file import Printed
from npbert.learn.attempt import Failure, attempt
from npbert.learn.exercises import EXERCISES
from npbert.learn.folder import ask
from npbert.learn.verdict import Verdict

_EXERCISE = "its number, as 02, its name or its file"
Chosen = list[tuple[Exercise, Path]]


@dataclass
class FolderCommand(Command):
    """A command for the folder of exercises."""

    folder: str = setting(FOLDER, "where the files are", value="FOLDER")

    def place(self) -> tuple[Path, str]:
        """The folder, and the option that the next command needs for it, as " --folder mine"."""
        folder = folder_of(self.folder)
        return folder, option_of(folder)

    def all(self) -> Chosen:
        """Every exercise with its file."""
        return [find(exercise.code, self.place()[0]) for exercise in EXERCISES.values()]


@dataclass
class ExerciseCommand(FolderCommand):
    """A command for one exercise."""

    exercise: str = argument("EXERCISE", _EXERCISE, wanted=Wanted("its number, as 02", bool))

    def judged(self) -> tuple[Exercise, Path, Verdict]:
        """The exercise, its file, and the verdict on it."""
        exercise, path = find(self.exercise, self.place()[0])
        return exercise, path, check(exercise, path)


@dataclass
class LearnCommand(FolderCommand):
    """Learn backpropagation by writing it. Without a COMMAND, the exercises that are missing are written into the
    folder backprop; nothing that is there is changed. Each is a Python file in which a part is yours to write.

    examples:
      npbert learn
      npbert learn check 02
      npbert learn check 02 --mend
      npbert learn check --watch
      npbert learn hint 02 2"""

    commands: ClassVar = {
        "check": ("learn.CheckCommand", "", "is it right? If not, what is wrong, and why"),
        "hint": ("learn.HintCommand", "", "a hint, if you are stuck"),
        "show": ("learn.ShowCommand", "", "once your answer is right: yours, and the library's"),
        "again": ("learn.AgainCommand", "", "what you have learned, asked in another form, days later"),
        "demo": ("learn.DemoCommand", "", "train a small BERT with your own layers in it"),
    }

    def run(self) -> int:
        """Write the exercises."""
        folder, option = self.place()
        written, (first, *_) = write_missing(folder), EXERCISES.values()
        said = f"{len(written)} exercises written into {folder}{'' if folder.is_absolute() else '/'}"
        if not written:
            where = "this folder" if folder == Path() else folder
            said = f"all {len(EXERCISES)} exercises are in {where} already; nothing was changed"
        elif len(written) == 1:
            said = f"{folder / written[0].file_name} written"
        print(f"{said}\n\nBegin with {folder / first.file_name}: it says what to do. Then:\n")
        print(f"  npbert learn check {first.code}{option}        is it right? If not, what is wrong, and why")
        print(f"  npbert learn check --watch{option}   the same, whenever you save a file")
        print(f"  npbert learn hint {first.code}{option}         a hint, if you are stuck")
        return 0


@dataclass
class CheckCommand(FolderCommand):
    """Check your answer: is it right? If not, what is wrong, and why. Without an EXERCISE, a line for each of all, and
    in full what is wrong with the first that is not right."""

    exercise: str | None = argument("EXERCISE", _EXERCISE, default=None)
    mend: bool = switch("show the change that makes a wrong answer right, too")
    watch: bool = switch("check again whenever a file is saved; Ctrl-C ends it")

    def run(self) -> int:
        """Returns 0 if all is right, else 1."""
        folder, option = self.place()
        chosen = self.all() if self.exercise is None else [find(self.exercise, folder)]
        if self.watch:
            watch(chosen, option, self.mend)
        if self.exercise is None:
            return _check_all(chosen, option)
        ((exercise, path),) = chosen
        verdict = check(exercise, path)
        print(printing.answer(exercise, verdict, option, mends=self.mend, path=path))
        return int(verdict.status != RIGHT)


@dataclass
class HintCommand(ExerciseCommand):
    """Print the first of three hints, or the N-th; the fourth is the change that would make your answer right."""

    number: int = argument(
        "N",
        "which hint, 1 to 4",
        default=1,
        wanted=Wanted("1 to 4: three hints, and the change itself", range(1, 5).__contains__),
    )

    def run(self) -> int:
        """Where the hints are for one part of an exercise, print those for the part that is not right yet."""
        folder, option = self.place()
        exercise, part = exercise_of(self.exercise), ""
        if self.number == 4:
            exercise, _, verdict = self.judged()
            print(printing.edits(exercise, verdict))
            return 0
        if exercise.hints_of_parts and (folder / exercise.file_name).is_file():
            part = self.judged()[-1].part
        print(printing.hint(exercise, self.number, part, option))
        return 0


@dataclass
class ShowCommand(ExerciseCommand):
    """Show your answer beside the library's, once yours is right."""

    def run(self) -> int:
        """Returns 1 where it is not right yet."""
        exercise, path, verdict = self.judged()
        if verdict.status == RIGHT:
            print(printing.show(exercise, path))
            return 0
        print(printing.answer(exercise, verdict, self.place()[1], path=path))
        print(f"\n{printing.indented('The library has its answer ready for you once yours is right.')}")
        return 1


@dataclass
class AgainCommand(FolderCommand):
    """Ask what you have learned again, in another form, days later."""

    def run(self) -> int:
        """Write a variant of what is right already, once it is time for it."""
        folder, option = self.place()
        asked = ask(folder, lambda *which: check(*which).status == RIGHT, datetime.datetime.now().astimezone())
        if asked is None:
            print("Nothing can be asked again yet: of exercises 02 to 07, none is right.")
        elif isinstance(asked, datetime.date):
            later = "so that you have time to forget a little"
            print(f"Nothing is due today. The next is asked on {asked:%d %B %Y}, {later}.")
        else:
            done = "written" if asked.is_new else "is not right yet"
            code = asked.exercise.code
            print(f"{asked.path} {done}: {asked.exercise.title}.\n\n  npbert learn check {code}{option}")
        return 0


@dataclass
class DemoCommand(FolderCommand):
    """Train a small BERT with your own layers in it: all that are right."""

    def run(self) -> int:
        """Returns 1 where there is none, or where the learner's code stops."""
        print("looking which of your exercises are right …", flush=True)
        right = [(exercise, path) for exercise, path, verdict in _checked(self.all()) if verdict.status == RIGHT]
        out, printed = sys.stdout, Printed()
        with contextlib.redirect_stdout(printed):  # what a layer prints would be seen thousands of times
            status = _train(right, lambda line: print(line, file=out, flush=True))
        if printed.getvalue():
            print("\nWhat your code prints is left out here; npbert learn check shows it.")
        return status


def _check_all(chosen: Chosen, option: str) -> int:
    """A line for each, and in full what is wrong with the first that is not right."""
    count, told = 0, False
    for exercise, _, verdict in _checked(chosen):
        count += verdict.status == RIGHT
        if verdict.status == WRONG and not told:
            print(printing.answer(exercise, verdict, option), end="\n\n", flush=True)
            told = True
        else:
            print(printing.summary(exercise, verdict, option), flush=True)
    print(f"\n{count} of {len(chosen)} are right")
    return int(count < len(chosen))


def _checked(chosen: Chosen) -> Iterator[tuple[Exercise, Path, Verdict]]:
    """Each with its verdict. In a terminal, a line says which one is being looked at."""
    for exercise, path in chosen:
        at_work = f"{exercise.code} {exercise.title} …" if sys.stderr.isatty() else ""
        print(at_work, end="", file=sys.stderr, flush=True)
        verdict = check(exercise, path)
        print(f"\r{' ' * len(at_work)}\r" if at_work else "", end="", file=sys.stderr, flush=True)
        yield exercise, path, verdict


def _train(right: Chosen, say: Callable[[str], None]) -> int:
    own, rng = demo.Own(right), np.random.default_rng(0)
    model = demo.make_model(load_dialogue(9), rng)
    taking_part = own.taking_part(own.put_into(model))
    if not taking_part:
        say("None of your layers is right yet, so there is nothing of yours to train. Begin with 02 Linear.")
        return 1
    say(printing.indented(f"Yours in this BERT: {', '.join(taking_part)}. All else is the library's.", ""))
    if "Softmax" in own.things:
        say(printing.indented("(Softmax is right, too, but is not a layer here: attention has one inside it.)", ""))
    say(f"A model that only guesses has loss {np.log(model.config.vocab_size):.3f}.\n")
    stopped = attempt(lambda: demo.train(model, own, rng, say), *own.paths)
    if isinstance(stopped, Failure):
        say(printing.indented("\n\n".join(filter(None, (stopped.file, stopped.verdict.says, stopped.verdict.because)))))
        return 1
    count, total, shown = demo.judged(model)
    say(f"\nEach word of each line hidden in turn: {count} of {total} guessed. The last word of each:\n")
    say("\n".join(f"  {line}" for line in shown))
    return 0
