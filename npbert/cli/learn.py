"""`npbert learn`: exercises in backpropagation, and the answers to them judged."""

import argparse
import contextlib
import datetime
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from npbert.cli.learn_watch import watch
from npbert.cli.parser import Parser, Run
from npbert.data import load_dialogue
from npbert.io.messages import did_you_mean
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
from npbert.learn.attempt import Failure, attempt
from npbert.learn.exercises import EXERCISES
from npbert.learn.folder import ask
from npbert.learn.verdict import Printed, Verdict

ACTIONS = ("check", "hint", "show", "again", "demo")


def add_learn_command(command: Parser) -> Run:
    """Learn backpropagation by writing it. Without an ACTION, the exercises that
    are missing are written into the folder backprop; nothing that is there is changed.
    Each is a Python file in which a part is yours to write.

    actions:
      check [EXERCISE]   is it right? If not, what is wrong, and why; without an
                         EXERCISE, a line for each of all
      hint EXERCISE [N]  the first of three hints, or the N-th; the fourth is the
                         change that would make your answer right
      show EXERCISE      once your answer is right: yours, and the library's
      again              what you have learned, asked in another form, days later
      demo               train a small BERT with your own layers in it

    examples:
      npbert learn
      npbert learn check 02
      npbert learn check --watch
      npbert learn hint 02 2"""
    command.add_argument("action", metavar="ACTION", nargs="?", help=f"one of {', '.join(ACTIONS)}")
    command.add_argument("exercise", metavar="EXERCISE", nargs="?", help="its number, as 02, its name or its file")
    command.add_argument("number", metavar="N", nargs="?", type=int, help="which hint, 1 to 4")
    command.add_argument("--folder", metavar="FOLDER", default=FOLDER, help=f"where the files are (default: {FOLDER})")
    command.add_argument("--mend", action="store_true", help="show the change that makes a wrong answer right, too")
    command.add_argument("--watch", action="store_true", help="check again whenever a file is saved; Ctrl-C ends it")
    return lambda args: _learn(command, args)


def _learn(command: argparse.ArgumentParser, args: argparse.Namespace) -> int:
    folder = folder_of(args.folder)
    if args.action not in (None, *ACTIONS):
        command.error(_no_action(args.action))
    if args.action in ("hint", "show") and args.exercise is None:
        command.error(f"say of which exercise, as in npbert learn {args.action} 02")
    if args.exercise is not None and args.action in (None, "demo", "again"):
        command.error(f"unexpected argument {args.exercise!r}")
    if args.number is not None and (args.action != "hint" or not 1 <= args.number <= 4):
        command.error(f"there is no hint {args.number}: there are three, and the change itself" if args.action == "hint"
                      else f"unexpected argument '{args.number}'")  # fmt: skip
    for option in ("watch", "mend"):
        if getattr(args, option) and args.action != "check":
            command.error(f"--{option} belongs to npbert learn check")
    actions: dict[Any, Any] = {
        None: _write, "check": _check, "hint": _hint, "show": _show, "again": _again, "demo": _demo,
    }  # fmt: skip
    return actions[args.action](args, folder)


def _no_action(given: str) -> str:
    """The error for a word that is not an action: it may be an exercise."""
    try:
        exercise_of(given)
    except ValueError:
        return f"ACTION is {given!r}, wanted one of {', '.join(ACTIONS)}{did_you_mean(given, ACTIONS)}"
    return f"say what to do with exercise {given}: npbert learn check {given}, hint {given} or show {given}"


def _write(args: argparse.Namespace, folder: Path) -> int:
    written = write_missing(folder)
    first = next(iter(EXERCISES.values()))
    option = option_of(folder)
    if written:
        print(f"{len(written)} exercises written into {folder}{'' if folder.is_absolute() else '/'}" if len(written) > 1
              else f"{folder / written[0].file_name} written")  # fmt: skip
    else:
        where = "this folder" if folder == Path() else folder
        print(f"all {len(EXERCISES)} exercises are in {where} already; nothing was changed")
    print(f"\nBegin with {folder / first.file_name}: it says what to do. Then:\n")
    print(f"  npbert learn check {first.code}{option}        is it right? If not, what is wrong, and why")
    print(f"  npbert learn check --watch{option}   the same, whenever you save a file")
    print(f"  npbert learn hint {first.code}{option}         a hint, if you are stuck")
    return 0


def _chosen(args: argparse.Namespace, folder: Path) -> list[tuple[Exercise, Path]]:
    if args.exercise is not None:
        return [find(args.exercise, folder)]
    return [find(exercise.code, folder) for exercise in EXERCISES.values()]


def _check(args: argparse.Namespace, folder: Path) -> int:
    chosen = _chosen(args, folder)
    if args.watch:
        return watch(chosen, option_of(folder), args.mend)
    if args.exercise is not None:
        ((exercise, path),) = chosen
        verdict = check(exercise, path)
        print(printing.answer(exercise, verdict, option_of(folder), mends=args.mend, path=path))
        return int(verdict.status != RIGHT)
    return _check_all(chosen, option_of(folder))


def _check_all(chosen: list[tuple[Exercise, Path]], option: str) -> int:
    """A line for each, and in full what is wrong with the first that is not right."""
    count, told = 0, False
    for exercise, path, verdict in _checked(chosen):
        count += verdict.status == RIGHT
        if verdict.status == WRONG and not told:
            print(printing.answer(exercise, verdict, option, path=path), end="\n\n", flush=True)
            told = True
        else:
            print(printing.summary(exercise, verdict, option), flush=True)
    print(f"\n{count} of {len(chosen)} are right")
    return int(count < len(chosen))


def _checked(chosen: list[tuple[Exercise, Path]]) -> Iterator[tuple[Exercise, Path, Verdict]]:
    """Each with its verdict. In a terminal, a line says which one is being looked at."""
    for exercise, path in chosen:
        at_work = f"{exercise.code} {exercise.title} …" if sys.stderr.isatty() else ""
        print(at_work, end="", file=sys.stderr, flush=True)
        verdict = check(exercise, path)
        print(f"\r{' ' * len(at_work)}\r" if at_work else "", end="", file=sys.stderr, flush=True)
        yield exercise, path, verdict


def _hint(args: argparse.Namespace, folder: Path) -> int:
    """Where the hints of an exercise are for one part of it: those for the part that is not right yet."""
    exercise, part = exercise_of(args.exercise), ""
    if args.number == 4:
        verdict = check(*find(args.exercise, folder))
        print(printing.edits(exercise, verdict))
        return 0
    if exercise.hints_of_parts and (folder / exercise.file_name).is_file():
        part = check(*find(args.exercise, folder)).part
    print(printing.hint(exercise, args.number or 1, part, option_of(folder)))
    return 0


def _again(args: argparse.Namespace, folder: Path) -> int:
    """A variant of what is right already, once it is time for it."""
    asked = ask(folder, lambda *which: check(*which).status == RIGHT, datetime.datetime.now().astimezone())
    if asked is None:
        print("Nothing can be asked again yet: of exercises 02 to 07, none is right.")
    elif isinstance(asked, datetime.date):
        print(f"Nothing is due today. The next is asked on {asked:%d %B %Y}, so that you have time to forget a little.")
    else:
        done = "written" if asked.is_new else "is not right yet"
        code = asked.exercise.code
        print(f"{asked.path} {done}: {asked.exercise.title}.\n\n  npbert learn check {code}{option_of(folder)}")
    return 0


def _show(args: argparse.Namespace, folder: Path) -> int:
    exercise, path = find(args.exercise, folder)
    verdict = check(exercise, path)
    if verdict.status != RIGHT:
        print(printing.answer(exercise, verdict, option_of(folder), path=path))
        print(f"\n{printing.indented('The library has its answer ready for you once yours is right.')}")
        return 1
    print(printing.show(exercise, path))
    return 0


def _demo(args: argparse.Namespace, folder: Path) -> int:
    """Train with all that is right. Returns 1 where there is nothing, or where the learner's code stops."""
    print("looking which of your exercises are right …", flush=True)
    right = [(exercise, path) for exercise, path, verdict in _checked(_chosen(args, folder)) if verdict.status == RIGHT]
    out, printed = sys.stdout, Printed()
    with contextlib.redirect_stdout(printed):  # what a layer prints would be seen thousands of times
        status = _train(right, lambda line: print(line, file=out, flush=True))
    if printed.getvalue():
        print("\nWhat your code prints is left out here; npbert learn check shows it.")
    return status


def _train(right: list[tuple[Exercise, Path]], say: Callable[[str], None]) -> int:
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
        say(printing.indented("\n\n".join(filter(None, (stopped.file, stopped.finding.says, stopped.finding.because)))))
        return 1
    count, total, shown = demo.judged(model)
    say(f"\nEach word of each line hidden in turn: {count} of {total} guessed. The last word of each:\n")
    say("\n".join(f"  {line}" for line in shown))
    return 0
