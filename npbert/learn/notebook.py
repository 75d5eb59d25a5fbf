"""`%load_ext npbert.learn`: in a notebook, a cell is an answer to an exercise, and the verdict stands below it."""

import ast
import tempfile
from dataclasses import replace
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from npbert.learn import printing
from npbert.learn.attempt import sentence
from npbert.learn.exercise import Exercise
from npbert.learn.exercises import EXERCISES
from npbert.learn.folder import exercise_of
from npbert.learn.process import check
from npbert.learn.verdict import NOT_BEGUN, RIGHT, Verdict
from npbert.shown import Row, Sheet

_PROGRAM = "%exercise"
_HOW = "%exercise 02 says what to do, and puts a cell below for the answer; %exercise hint 02 helps."


def load_ipython_extension(ipython: Any) -> None:
    """What `%load_ext npbert.learn` calls: from then on there is %exercise, for a line, and %%exercise, for a cell."""
    ipython.register_magic_function(Answers(ipython).exercise, "line_cell", "exercise")


class Answers:
    """The last answer to each exercise and its verdict, as long as the notebook runs."""

    def __init__(self, ipython: Any) -> None:
        self._ipython, self._folder = ipython, tempfile.TemporaryDirectory()
        self._verdicts: dict[int, Verdict] = {}

    def exercise(self, line: str, cell: str | None = None) -> Sheet:
        """Exercises in backpropagation. A cell that begins with %%exercise 02 is the answer to exercise 02, and is
        checked in a process of its own; with --mend, the change that makes it right is shown, too.

        %exercise             lists the exercises
        %exercise 02          says what to do, and puts a cell below for the answer
        %exercise hint 02 2   the second of three hints; the fourth is the change that makes the answer right
        %exercise show 02     once it is right: your answer, and the library's
        """
        words = [word for word in line.split() if word != "--mend"]
        try:
            if cell is not None:
                return self._check(exercise_of(" ".join(words)), cell, "--mend" in line.split())
            if not words:
                rows = [Row(each.code, (each.title,)) for each in EXERCISES.values()]
                return Sheet(f"{len(rows)} exercises", _HOW, rows)
            if words[0] == "hint" and len(words) in (2, 3):
                return self._hint(exercise_of(words[1]), words[2] if len(words) == 3 else "1")
            if words[0] == "show" and len(words) == 2:
                return self._show(exercise_of(words[1]))
            return self._ask(exercise_of(" ".join(words)))
        except ValueError as error:
            return Sheet(sentence(str(error)), _HOW, is_right=False)

    def _ask(self, exercise: Exercise) -> Sheet:
        tree, lines = ast.parse(exercise.source()), exercise.source().splitlines()
        first = next(node for node in tree.body[1:] if not isinstance(node, ast.Import | ast.ImportFrom))
        self._ipython.set_next_input("\n".join([f"%%exercise {exercise.code}", *lines[first.lineno - 1 :]]))
        sheet = exercise._sheet()
        return replace(sheet, says=dedent(printing.indented(sheet.says)))

    def _check(self, exercise: Exercise, cell: str, mends: bool) -> Sheet:
        path = self._path(exercise)
        path.write_text(file_with(exercise, cell), encoding="utf-8")
        verdict = self._verdicts[exercise.number] = check(exercise, path)
        title, _, rest = printing.answer(exercise, verdict, mends=mends, program=_PROGRAM).partition("\n")
        return Sheet(title, dedent(rest), is_right=None if verdict.status == NOT_BEGUN else verdict.status == RIGHT)

    def _hint(self, exercise: Exercise, number: str) -> Sheet:
        if number not in ("1", "2", "3", "4"):
            raise ValueError(f"there is no hint {number}: there are three, and the change itself")
        verdict = self._verdicts.get(exercise.number, Verdict(NOT_BEGUN))
        if number == "4":
            return Sheet.of(dedent(printing.edits(exercise, verdict)))
        title, _, rest = printing.hint(exercise, int(number), verdict.part, program=_PROGRAM).partition("\n")
        return Sheet(title, dedent(rest))

    def _show(self, exercise: Exercise) -> Sheet:
        if self._verdicts.get(exercise.number, Verdict(NOT_BEGUN)).status != RIGHT:
            return Sheet("The library has its answer ready for you once yours is right.")
        shown = printing.show(exercise, self._path(exercise), place="your cell")
        return Sheet(printing.line(exercise, self._verdicts[exercise.number]), indent(shown, "  "))

    def _path(self, exercise: Exercise) -> Path:
        return Path(self._folder.name) / exercise.file_name


def file_with(exercise: Exercise, cell: str) -> str:
    """The exercise's file with what the cell defines in place of its own. Its imports stand in one line, where the cell
    has %%exercise: so a line has the number that it has in the cell."""
    if "from __future__" in cell:  # it is a whole file
        return f"\n{cell}"
    try:
        own = {getattr(node, "name", "") for node in ast.parse(cell).body}
    except SyntaxError:
        own = set()
    text = exercise.source()
    head, below = [], []
    for node in ast.parse(text).body[1:]:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            below += [] if node.name in own else [ast.get_source_segment(text, node) or ""]
        else:
            head.append(ast.unparse(node))
    return "\n".join(["; ".join(head), cell.rstrip("\n"), *below, ""])
