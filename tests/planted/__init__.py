"""Planted bugs: edits of the library's own layers, models and optimisers, most of them seen in published code.

A check that lets one pass is broken. They are text beside this file, a paragraph each:

    overwrites: The numbers of the old gradient are overwritten.
    in layers.linear.Linear.backward        what is edited
    of Linear; FeedForward, gelu/output     the blocks of the catalogue that it is planted in, or their parts
    says is overwritten by backward         the words of the gradient check, where it says more than FAIL
    check tests.test_catalogue              where no derivative shows it, the file of a test that does,
    check test_forward_is_the_formula(…)    and its call
    - self.weight.add_grad(matmul(x.T, dy))
    + self.weight.grad[...] = matmul(x.T, dy)
"""

import functools
import inspect
import linecache
import operator
import re
import textwrap
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from npbert import NO_TAPE, Tape
from npbert.catalogue import CATALOGUE

RUNS = re.compile(r"((?:- .*\n)+)((?:\+ .*\n)*)")
INDENTS = [" " * count for count in (4, 8, 12)]
BETWEEN = "differs after a call in between"


@dataclass(frozen=True)
class Bug:
    """owner: the class or function that is edited, as npbert.layers.linear.Linear. edits: lines "- …" and "+ …", by the
    name of a method, "" for a function. message: of the gradient check. check: the file and the call of a test."""

    name: str
    owner: str
    edits: dict[str, str]
    blocks: tuple[str, ...]
    message: str
    check: tuple[str, ...]


def read_bugs():
    """All of them, in the order of the files."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.txt"))]
    return [_bug(paragraph) for text in texts for paragraph in text.strip().split("\n\n")[1:]]


def _bug(paragraph):
    about, _, rest = paragraph.partition("\nin ")
    edits, fields = {}, {"of": [], "says": [], "check": []}
    for line in f"in {rest}".splitlines():
        kind, _, value = line.partition(" ")
        if kind == "in":
            room, module, owner, method = f"{value}.".split(".")[:4]
            edits[method] = ""
        elif kind in fields:
            fields[kind] += value.split("; ")
        else:
            edits[method] += f"{line}\n"
    of, says, check = fields.values()
    owner = f"npbert.{room}.{module}.{owner}"
    return Bug(about.partition(": ")[0], owner, edits, tuple(of), "".join(says), tuple(check))


BUGS = read_bugs()


def edited(right, edit):
    """The source of a function with each run of lines "- …", which must be there once, replaced by those of "+ …"."""
    source = textwrap.dedent(right)
    for runs in RUNS.findall(edit):
        gone, new = (re.sub("^..", "", run, flags=re.MULTILINE) for run in runs)
        (indent,) = (each for each in INDENTS if source.count("\n" + textwrap.indent(gone, each)) == 1)
        source = source.replace(textwrap.indent(gone, indent), textwrap.indent(new, indent))
    return source


def twin(right, bug):
    """A subclass of the class with its methods edited."""
    return type(bug.name, (right,), {method: _edited(getattr(right, method), bug) for method in bug.edits})


def _edited(function, bug):
    name = f"<{bug.name} in {function.__qualname__}>"
    source = edited(inspect.getsource(function), bug.edits.get(function.__name__, bug.edits.get("")))
    text = f"def made(__class__):\n{textwrap.indent(source, INDENTS[0])}    return {function.__name__}\n"  # for super()
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    names = {}
    exec(compile(text, name, "exec"), function.__globals__, names)
    return names["made"](right_of(bug))


def plant(bug, monkeypatch):
    """Edit the class or function itself, wherever it is used, until the test ends."""
    right = right_of(bug)
    for method in bug.edits:
        if method:
            monkeypatch.setattr(right, method, _edited(getattr(right, method), bug))
        else:
            monkeypatch.setattr(right, "__code__", _edited(right, bug).__code__)


def right_of(bug):
    """The class or function that is edited."""
    module, _, name = bug.owner.rpartition(".")
    return getattr(import_module(module), name)


def build(bug, block):
    """The block with the bug in it, or in its part; its inputs, and the generator for its dropout."""
    block, _, part = block.partition("/")
    if not part:
        return CATALOGUE[block].make(twin(CATALOGUE[block].layer_class, bug))
    layer, inputs, rng = CATALOGUE[block].make()
    owner = operator.attrgetter(part)(layer)
    owner.__class__ = twin(type(owner), bug)
    return layer, inputs, rng


def remembering(layer_class):
    """The layer with what backward needs on `self`: the second of two calls overwrites that of the first."""

    class Remembering(layer_class):
        @functools.wraps(layer_class.forward)
        def forward(self, *inputs, tape=NO_TAPE):
            self.tape = Tape(tape.rng, keeps=tape.keeps)
            return super().forward(*inputs, tape=self.tape)

        def backward(self, dy, tape):
            return super().backward(dy, self.tape)

    return Remembering
