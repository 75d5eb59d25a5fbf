"""The page of a source file, as Markdown: each forward next to its backward, with tape, check, bugs and exercise."""

import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npbert.catalogue import CATALOGUE
from npbert.core import Tape
from npbert.io import read_text
from npbert.learn.exercises import EXERCISES
from npbert.pages.html import escape

_UNDOES = {"backward": "forward", "value_and_slope": "value"}


@dataclass(frozen=True)
class Known:
    """The data for the pages of source files.

    chapters: each text by its path. proofs: from `prove`. bugs: from `read_bugs`. followed: the files with lines on the
    page `number.html`.
    """

    chapters: dict[str, str]
    proofs: dict[str, str]
    bugs: list[str]
    followed: set[str]


def read_bugs(root: Path) -> list[str]:
    """Return the planted bugs of root/tests/planted, a paragraph each; CONTRIBUTING.md describes their form."""
    paths = sorted((root / "tests" / "planted").glob("*.txt"))
    return [paragraph for path in paths for paragraph in read_text(path).strip().split("\n\n")[1:]]


def source_page(path: str, text: str, known: Known) -> str:
    """Return the page of a file, with what is known of npbert's. path: in the repository: npbert/layers/linear.py."""
    parts = [f"---\nhide-toc: true\n---\n# {path.rpartition('/')[2]}", f"`{path}`", *_see_also(path, known)]
    module = path.removesuffix(".py").replace("/", ".")
    for thing in vars(importlib.import_module(module)).values() if path.startswith("npbert/") else ():
        if (isinstance(thing, type) or inspect.isfunction(thing)) and thing.__module__ == module:
            described = list(_described(thing, known))
            about = [f"## {thing.__name__}", fence("python", f'"""{inspect.getdoc(thing)}"""')]
            parts += [*about, *described] if described else []
    code = fence("{code-block} python", f":class: file\n\n{text}")
    return "\n\n".join([*parts, "## The whole file", code])


def fence(kind: str, text: str) -> str:
    """Return a code block, or a directive, that may contain other blocks of Markdown."""
    return f"~~~~~~{kind}\n{text.rstrip()}\n~~~~~~"


def _see_also(path: str, known: Known) -> Iterator[str]:
    """Return links to the chapters that link to a file, and to the page that follows its numbers."""
    up = "../" * path.count("/")
    for chapter, text in known.chapters.items():
        if f"](../{path})" in text:
            yield f"- [{text.partition(chr(10))[0].removeprefix('# ')}]({up}{chapter})"
    if path in known.followed:
        yield f'- <a href="{up}number.html#file={path}">Follow one number back</a> through the steps of this file'


def _described(thing: Any, known: Known) -> Iterator[str]:
    """Return the sections of a class or function: its backward, the tape, the check, planted bugs, and exercise."""
    pairs = list(_pairs(thing))
    for pair in pairs:
        columns = [fence("python", inspect.cleandoc(f"\n{inspect.getsource(method)}")) for method in pair]
        yield "\n".join(["~~~~~~~~{container} pair", *columns, "~~~~~~~~"])
    settings = {block: each for block, each in CATALOGUE.items() if thing in each.layer_class.__mro__} if pairs else {}
    for block, setting in list(settings.items())[:1]:
        yield f"### On the tape\n\nForward of `{block}` has kept this, and backward takes it back from the top:"
        layer, inputs, rng = setting.make()
        tape = Tape(rng)
        layer(*inputs, tape=tape)
        yield fence("text", str(tape))
    if settings:
        yield "### The last check\n\nBy `npbert gradcheck`, when this site was built:"
        yield fence("text", "\n".join(f"{block}: {known.proofs[block]}" for block in settings))
    bugs = list(_bugs(thing, known.bugs))
    if bugs:
        yield "### Planted bugs\n\nThe tests plant each of them, and the checks must reject it."
        yield from bugs
    for exercise in EXERCISES.values():
        if thing.__name__ in [blank.name for blank in exercise.blanks]:
            yield f"### Exercise {exercise.code}: write it yourself"
            yield f"`npbert learn` writes the file, `npbert learn check {exercise.code}` explains each mistake."


def _pairs(thing: Any) -> Iterator[tuple[Any, Any]]:
    """Return the pairs of methods of a class: forward and backward, or f and f_backward."""
    own = vars(thing) if isinstance(thing, type) else {}
    for name in own:
        undone = _UNDOES.get(name, name.removesuffix("_backward"))
        if undone in own and undone != name:
            yield getattr(thing, undone), getattr(thing, name)


def _bugs(thing: Any, bugs: list[str]) -> Iterator[str]:
    """Return the planted bugs of a class or function, each folded."""
    name = f"{thing.__module__}.{thing.__qualname__}".removeprefix("npbert.")
    place = re.compile(rf"^in {re.escape(name)}(\.|$)", re.MULTILINE)
    for paragraph in filter(place.search, bugs):
        says, _, edit = paragraph.partition("\nin ")
        name, _, words = says.partition(": ")
        yield f"<details><summary><b>{escape(name)}</b>: {escape(words)}</summary>"
        yield fence("diff", f"in {edit}")
        yield "</details>"
