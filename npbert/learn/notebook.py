"""`%load_ext npbert.learn`: in a notebook, a cell is an answer to an exercise, with the verdict below it."""

import ast
import re
import tempfile
from pathlib import Path
from textwrap import indent
from typing import Any

from npbert.display import Text, titled, with_title
from npbert.io import write_text
from npbert.learn import printing
from npbert.learn.exercise import Exercise
from npbert.learn.exercises import ALL, EXERCISES
from npbert.learn.folder import exercise_of
from npbert.learn.process import check
from npbert.learn.verdict import NOT_BEGUN, RIGHT, Verdict, sentence

_COMMAND = "%exercise {}"
_HOW = "%exercise 02 shows the exercise, and adds a cell for your answer. %exercise hint 02 shows a hint."


def load_ipython_extension(ipython: Any) -> None:
    """Register %exercise, for a line, and %%exercise, for a cell. `%load_ext npbert.learn` calls it."""
    ipython.register_magic_function(Magic(ipython).exercise, "line_cell", "exercise")


class Magic:
    """The last answer to each exercise and its verdict, while the notebook runs."""

    def __init__(self, ipython: Any) -> None:
        self._ipython, self._folder = ipython, tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._verdicts = dict.fromkeys(ALL, Verdict(status=NOT_BEGUN))

    def exercise(self, line: str, cell: str | None = None) -> Text:
        """Exercises in backpropagation. A cell that begins with %%exercise 02 is the answer to exercise 02, checked in
        a separate process.

        %exercise             lists the exercises
        %exercise 02          shows the exercise, and adds a cell for your answer
        %exercise hint 02 2   the second of three hints; the fourth is the change that makes the answer right
        %exercise show 02     compares your right answer with the library's
        """
        try:
            return self._run(line.strip(), cell)
        except ValueError as error:
            return titled(sentence(str(error)), _HOW)

    def _run(self, line: str, cell: str | None) -> Text:
        if not line and cell is None:
            rows = [printing.line(each, self._verdicts[each.number]) for each in EXERCISES.values()]
            return titled(f"{len(EXERCISES)} exercises", _HOW, *rows)
        ((command, name, number),) = re.findall(r"^((?:hint|show)(?!\S)|)\s*(\S*)\s*(\S*)", line)
        if not name:
            example = "%exercise 02" if cell is None else "%%exercise 02"
            raise ValueError(f"the exercise is missing, wanted its number, such as {example}")
        exercise = exercise_of(name)
        path, verdict = Path(self._folder.name, exercise.code, "your cell"), self._verdicts[exercise.number]
        if command == "hint":
            if number not in ("", "1", "2", "3", "4"):
                raise ValueError(f"the hint is {number}, wanted 1 to 4: three hints, and the change itself")
            return with_title(printing.hint(exercise, int(number or 1), lambda: verdict, _COMMAND))
        if command == "show" and verdict.status != RIGHT:
            return titled("The answer of the library is shown once yours is right.")
        if command == "show":
            return titled(f"{exercise.code} {exercise.title}", indent(printing.show(exercise, path), "  "))
        if cell is None:
            self._ipython.set_next_input(f"%%exercise {exercise.code}\n{exercise.body}")
            text = printing.indented(f"{exercise.text}\n\nTo read: {exercise.chapter}")
            return with_title(f"Exercise {exercise.number}: {exercise.title}\n{text}")
        write_text(path, file_with(exercise, cell))
        verdict = self._verdicts[exercise.number] = check(exercise, path)
        return with_title(printing.explained(exercise, verdict, _COMMAND))


def file_with(exercise: Exercise, cell: str) -> str:
    """Return the exercise's file with the cell's definitions in it.

    Its imports are in one line, at the place of %%exercise, so that line numbers are those of the cell. A cell may also
    be a whole file."""
    if "from __future__" in cell:
        return f"\n{cell.rstrip()}\n"
    imports = ast.parse(f"from __future__ import annotations\n{exercise.imports}").body
    below = [
        ast.get_source_segment(exercise.body, node) or ""
        for node in ast.parse(exercise.body).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
        and not re.search(rf"^(class|def) {node.name}\b", cell, re.MULTILINE)
    ]
    return "\n".join(["; ".join(map(ast.unparse, imports)), cell.rstrip("\n"), *below, ""])
