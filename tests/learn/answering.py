"""Answers as a learner would write them: each takes the place of a blank in a file that `npbert learn` writes."""

import ast
import textwrap

from npbert.learn.exercises import EXERCISES
from tests.learn.right_answers import RIGHT


def answered(number, bodies):
    """The text of an exercise, with blanks filled in: by name of the function, its body, or a value by its name."""
    text = EXERCISES[number].source()
    for name, body in bodies.items():
        if name == "ANSWERS":
            text = f"{text}\nANSWERS = {body!r}\n"
            continue
        text = fill(text, name, textwrap.dedent(body).strip("\n"))
    return text


def fill(text, name, body):
    """The text with the `raise` in the function of this name, `backward` or `Class.backward`, replaced."""
    lines = text.splitlines()
    owner, _, name = name.rpartition(".")
    tree = ast.parse(text)
    inside = [node for node in tree.body if getattr(node, "name", "") == owner] if owner else [tree]
    for node in ast.walk(inside[0]):
        if isinstance(node, ast.FunctionDef) and node.name == name and isinstance(node.body[-1], ast.Raise):
            last = node.body[-1]
            lines[last.lineno - 1 : last.end_lineno] = textwrap.indent(body, " " * last.col_offset).splitlines()
            return "\n".join(lines) + "\n"
    raise AssertionError(f"there is no blank {name}")


def write(number, folder, **changes):
    """Write a right answer into the folder, with changes=[(before, after), …] in its text; the file."""
    path = folder / EXERCISES[number].file_name
    text = answered(number, RIGHT[number][0])
    for before, after in changes.get("changes", []):
        assert before in text
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")
    return path
