"""`npbert learn`: exercises in backpropagation, with a check of your answers."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from npbert.cli.command import Command, argument, subcommands, switch
from npbert.io import Wanted, counted, setting
from npbert.learn import (
    FOLDER,
    RIGHT,
    WRONG,
    Exercise,
    Verdict,
    check,
    demo,
    exercise_of,
    find,
    folder_of,
    option_of,
    printing,
    write_missing,
)
from npbert.learn.exercises import EXERCISES, VARIANTS
from npbert.learn.process import Printed

_EXERCISE = "the exercise: its number (02), name or file"
Chosen = list[tuple[Exercise, Path]]
_POLL = 0.2  # seconds between two looks at the files


class FolderCommand(Command):
    """Base class of a command for the folder of exercises."""

    folder: str = setting(FOLDER, "the folder of the exercises", value="FOLDER")

    @property
    def place(self) -> Path:
        """The folder."""
        return folder_of(self.folder)

    @property
    def command(self) -> str:
        """A command, for the words of the next one."""
        return f"{printing.COMMAND}{option_of(self.place)}"

    def chosen(self, exercise: str | None = None) -> Chosen:
        """Return the exercise, or every exercise, with its file."""
        names = [exercise] if exercise is not None else [each.code for each in EXERCISES.values()]
        return [find(name, self.place) for name in names]

    def write(self, exercises: Mapping[int, Exercise]) -> None:
        """Write the missing exercises, and print the next commands."""
        written, (first, *_) = write_missing(self.place, exercises), exercises.values()
        if written:
            print(f"Wrote {counted(len(written), 'exercise')} into {self.place.resolve()}.")
        else:
            print(f"All {len(exercises)} exercises are already in {self.place.resolve()}. Nothing was changed.")
        print(f"\nOpen {self.place / first.file_name}: it describes the first exercise. Then:\n")
        print(f"  {self.command.format(f'check {first.code}')}        check your answer")
        print(f"  {self.command.format('check --watch')}   check whenever you save a file")
        print(f"  {self.command.format(f'hint {first.code}')}         show a hint\n\nTo redo one, delete its file.")


class LearnCommand(FolderCommand):
    """Learn backpropagation by writing it. Without a COMMAND, write the exercises into the folder backprop. Existing
    files stay unchanged: to begin one again, delete its file, and run npbert learn. Each exercise is a Python file with
    a part for you to write.

    examples:
      npbert learn
      npbert learn check 02
      npbert learn check 02 --mend
      npbert learn check --watch
      npbert learn hint 02 2"""

    commands = subcommands("""
        check  learn:CheckCommand  check your answers and explain the mistakes
        hint   learn:HintCommand   show a hint
        show   learn:ShowCommand   compare your right answer with the library's
        again  learn:AgainCommand  more exercises: variants of six, to repeat days later
        demo   learn:DemoCommand   train a small BERT with your own layers in it
    """)

    def run(self) -> None:
        """Write the missing exercises."""
        self.write(EXERCISES)


class CheckCommand(FolderCommand):
    """Check your answer, and explain its mistakes. Without an EXERCISE, print a line for each exercise, and explain the
    first wrong answer."""

    exercise: str | None = argument("EXERCISE", _EXERCISE, default=None)
    mend: bool = switch("also show the change that makes a wrong answer right")
    watch: bool = switch("check again whenever you save a file; stop with Ctrl-C")

    def run(self) -> int:
        """Check, and print the result. Returns 0 if all answers are right, else 1."""
        chosen = self.chosen(self.exercise)
        if self.watch:
            self._watch(chosen)
        count, told = 0, False
        for exercise, path in chosen:
            verdict = check(exercise, path)
            is_wrong = verdict.status == WRONG
            count += verdict.status == RIGHT
            if self.exercise is not None or (is_wrong and not told):
                self._explain(exercise, path, verdict)
                told = True
            else:
                more = f" (explained by {self.command.format(f'check {exercise.code}')})" if is_wrong else ""
                print(f"{printing.line(exercise, verdict)}{more}", flush=True)
        if self.exercise is None:
            print(f"\n{count} of {len(chosen)} are right")
        return int(count < len(chosen))

    def _watch(self, chosen: Chosen) -> NoReturn:
        """Explain the answer in one file now, and in each file when it is saved, until Ctrl-C."""
        known = {path: _saved(path) for _, path in chosen if len(chosen) > 1}  # one alone is explained at once
        files = f"{counted(len(chosen), 'file')} in {chosen[0][1].parent}/"
        print(f"Watching {files}. Each is checked when you save it. Stop with Ctrl-C.", flush=True)
        while True:
            for exercise, path in chosen:
                saved = _saved(path)
                if saved and saved != known.get(path):
                    known[path] = saved
                    print(f"\n{time.strftime('%H:%M:%S')}", flush=True)
                    self._explain(exercise, path, check(exercise, path))
            time.sleep(_POLL)

    def _explain(self, exercise: Exercise, path: Path, verdict: Verdict) -> None:
        print(printing.explained(exercise, verdict, self.command, mends=self.mend, path=path), flush=True)
        if self.exercise is None:
            print()


class ExerciseCommand(FolderCommand):
    """Base class of a command for one exercise."""

    exercise: str = argument("EXERCISE", _EXERCISE, wanted=Wanted("its number, such as 02", bool))


class HintCommand(ExerciseCommand):
    """Print a hint: the first of three, or the N-th. The fourth is the change that makes your answer right."""

    number: int = argument(
        "N",
        "which hint, 1 to 4",
        default=1,
        wanted=Wanted("1 to 4: three hints, and the change itself", range(1, 5).__contains__),
    )

    def run(self) -> None:
        """Print the hint, or check the answer and print the change."""
        exercise = exercise_of(self.exercise)
        print(printing.hint(exercise, self.number, lambda: check(*find(self.exercise, self.place)), self.command))


class ShowCommand(ExerciseCommand):
    """Compare your right answer with the library's."""

    def run(self) -> int:
        """Print both answers. Returns 1 if yours is not right yet."""
        exercise, path = find(self.exercise, self.place)
        verdict = check(exercise, path)
        if verdict.status == RIGHT:
            print(printing.show(exercise, path))
            return 0
        print(printing.explained(exercise, verdict, self.command, path=path))
        print(f"\n{printing.indented('The answer of the library is shown once yours is right.')}")
        return 1


class AgainCommand(FolderCommand):
    """Write the exercises 102 to 107: variants of 02 to 07, to repeat them in another form, days later."""

    def run(self) -> None:
        """Write the missing variants."""
        self.write(VARIANTS)


class DemoCommand(FolderCommand):
    """Train a small BERT with all of your right layers in it."""

    def run(self) -> int:
        """Train, and print the progress. Returns 1 if no layer is right, or the learner's code fails."""
        print("Checking your exercises …", flush=True)
        right = [(exercise, path) for exercise, path in self.chosen() if check(exercise, path).status == RIGHT]
        out, printed = sys.stdout, Printed()
        with contextlib.redirect_stdout(printed):  # a layer that prints would do so thousands of times
            status = demo.run(right, lambda line: print(line, file=out, flush=True))
        if printed.getvalue():
            print("\nThe output of your code is not shown here. See it with npbert learn check.")
        return status


def _saved(path: Path) -> int:
    """Return the time when the file was saved; 0 while it is missing, as some editors delete it first."""
    with contextlib.suppress(OSError):
        return path.stat().st_mtime_ns
    return 0
