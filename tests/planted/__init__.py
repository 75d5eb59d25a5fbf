"""Planted bugs: edits of the library's own layers, models and optimisers, most of them seen in published code.

A check that lets one pass is broken. They are text beside this file; npbert/pages/site/panels.py says in which form.
"""

import functools
import inspect
import linecache
import operator
from importlib import import_module
from pathlib import Path

from npbert.catalogue import CATALOGUE
from npbert.core import NO_TAPE, Tape
from npbert.pages.site.panels import marked, read_bugs

BUGS = read_bugs(Path(__file__).parents[2])
BETWEEN = "when another call comes between"


def twin(right, bug):
    """A subclass of the class with its methods edited; or, of a function, the edited one."""
    edited = {method: _edited(getattr(right, method) if method else right, bug) for method in bug.edits}
    return edited[""] if "" in edited else type(bug.name, (right,), edited)


def _edited(function, bug):
    name = f"<{bug.name} in {function.__qualname__}>"
    lines = marked(inspect.getsource(function), bug.edits.get(function.__name__, bug.edits.get("")))
    source = "\n".join(line for mark, line in lines if mark != "-") + "\n"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    made = {}
    exec(compile(source, name, "exec"), function.__globals__, made)
    return made[function.__name__]


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
