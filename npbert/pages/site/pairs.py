"""Each backward with what it undoes: functions that stand beside each other, and lines that belong together."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from npbert.pages.site.names import Place
from npbert.pages.site.sources import Function, Source, defined_in

_SIDES = (("forward", "backward"), ("value", "value_and_slope"))
_UNDOES = {".backward": "", "_backward": "", "tape.take": "tape.keep"}


class Pair(NamedTuple):
    """A forward, on the left, and its backward: each the first of its side, and behind it the functions that serve it
    alone, in the order of the file."""

    left: list[Function]
    right: list[Function]

    def has(self, function: Function) -> bool:
        """True if it is the forward or the backward."""
        return function in (self.left[0], self.right[0])


def pairs_in(body: Iterable[ast.stmt]) -> list[Pair]:
    """The pairs among the functions of a class or a file: forward and backward, or f and f_backward."""
    functions = {node.name: node for node in body if isinstance(node, Function)}
    names = [*_SIDES, *((name.removesuffix("_backward"), name) for name in functions if name.endswith("_backward"))]
    return [Pair([functions[a]], [functions[b]]) for a, b in names if a in functions and b in functions and a != b]


def give_helpers(pairs: list[Pair], functions: Iterable[Function], users: Iterable[ast.stmt]) -> set[str]:
    """Give each pair the functions that one side of it alone uses, and return their names.

    functions: those to give away. users: everything in the file that may use them.
    """
    given: set[str] = set()
    functions_in = [node for _, node in defined_in(users, "") if isinstance(node, Function)] if pairs else []
    everything = [
        (node, {getattr(each, "id", getattr(each, "attr", "")) for each in ast.walk(node)}) for node in functions_in
    ]
    for function in functions:
        if any(pair.has(function) for pair in pairs):
            continue
        by = {user.name for user, used in everything if user is not function and function.name in used}
        for pair in pairs:
            for side in pair:
                if by and by <= {each.name for each in side}:
                    side.append(function)
                    given.add(function.name)
    return given


@dataclass(frozen=True)
class Undone:
    """A call in forward and the one in backward that undoes it, by the places of their names; number: from 1."""

    number: int
    forward: Place
    backward: Place


def undone(source: Source, pair: Pair) -> list[Undone]:
    """The calls of a pair that belong together, numbered in the order of forward: backward has them in reverse."""
    done = [step for function in pair.left for step in _calls(source, function)]
    back = [step for function in pair.right for step in _calls(source, function, _UNDOES)]
    matched: dict[int, Place] = {}
    for what, place in back:
        numbers = [n for n, (other, _) in enumerate(done) if other == what and n not in matched]
        if numbers:
            matched[numbers[-1]] = place
    return [Undone(number, done[n][1], matched[n]) for number, n in enumerate(sorted(matched), 1)]


def _calls(source: Source, function: Function, undoes: Mapping[str, str] | None = None) -> Iterator[tuple[str, Place]]:
    """(what is called, where) in the order in which it happens: arguments come before the call that they are for.

    undoes: for a backward, the ends of the names that undo something, and what stands in their place in forward.
    """
    for node in _in_order(function):
        if not (isinstance(node, ast.Call) and isinstance(called := node.func, ast.Name | ast.Attribute)):
            continue
        name = ast.unparse(called)
        ends = [("", "")] if undoes is None else [pair for pair in undoes.items() if name.endswith(pair[0])]
        if ends and not name.startswith("super()"):
            yield name.removesuffix(ends[0][0]) + ends[0][1], _place(source, called)


def _name(called: ast.Name | ast.Attribute) -> str:
    return called.id if isinstance(called, ast.Name) else called.attr


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)
        yield child


def _place(source: Source, called: ast.Name | ast.Attribute) -> Place:
    """Of the name that is called, in characters."""
    line = called.end_lineno or called.lineno
    return line, source.column(line, called.end_col_offset or 0) - len(_name(called))
