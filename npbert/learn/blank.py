"""Blank: a class or function of the library with lines for the learner to write, its source without these lines, and
the numbers that test them.
"""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import attrgetter, or_
from types import ModuleType
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck import GradientError
from npbert.gradcheck.explain.variations import VARIATIONS
from npbert.learn.texts import IN_NUMPY, entries
from npbert.learn.verdict import Verdict

_GIVEN = "tape.take(", "check_like("
Numbers = dict[str, Array]
"""A learner's or the library's arrays, by names for the learner."""


def returned(found: Any, what: str = "the gradient") -> Array:
    """Return the result of an answer as an array. Raises: GradientError for None."""
    if found is None:
        raise GradientError(f"the result is None, wanted {what}; add the missing `return`")
    return np.asarray(found)


@dataclass(frozen=True, kw_only=True, eq=False)
class Blank:
    """A class or a function of the library with lines for the learner to write.

    right: the library's. method: of the class. given: the least number of its statements that stay; those that take
    from the tape and check dy always do. without: methods that the file leaves out.

    fixed: the names of numbers that given code makes, which are wrong only if the learner changed that.

    numbers(thing, seed): the numbers of `thing`, the library's or the learner's, step by step. seeds: two for each of
    `VARIATIONS`, with different sizes; none if `prove` alone tests an answer. tolerance: relative to the largest number
    of a seed.

    text: the sections of the exercise's text; its own without its name.
    """

    right: Any
    method: str = ""
    given: int = 0
    without: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    numbers: Callable[[Any, int], Iterator[Numbers]] = lambda thing, seed: iter(())
    seeds: Sequence[int] = range(2 * len(VARIATIONS))
    tolerance: float = 1e-9
    text: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the class or function, in the file as in the library."""
        return self.right.__name__

    @property
    def written(self) -> str:
        """The function for the learner to write, such as `Linear.backward`."""
        return f"{self.name}.{self.method}" if self.method else self.name

    def run(self, thing: Any, seed: int) -> Iterator[Numbers]:
        """Return the numbers of `thing`, step by step."""
        return self.numbers(thing, seed)

    def prove(self, module: ModuleType) -> Verdict | None:
        """Return the verdict on an answer with right numbers, or None if it is right in all else. Raises: errors of the
        answer."""
        return None

    @cached_property
    def right_numbers(self) -> list[Numbers]:
        """The library's numbers at each seed."""
        return [reduce(or_, self.run(self.right, seed)) for seed in self.seeds]

    def function_of(self, module: ModuleType) -> Any:
        """Return the function that the learner writes."""
        return attrgetter(self.written)(module)

    def entries(self, section: str) -> dict[str, str]:
        """Return a section of lines "key → text"."""
        return entries(self.text.get(section, ""))

    def sources(self) -> list[str]:
        """Return the sources in the file for this blank: the library's, without some methods, and its helpers.

        Of the function's body, the given statements stay, below the docstring of the text, as its own has the answer.
        """
        source = inspect.getsource(self.right)
        for name in self.without:
            source = source.replace(inspect.getsource(getattr(self.right, name)), "")
        function = inspect.getsource(self.function_of(sys.modules[self.right.__module__]))
        head, _, body = function.split('"""')
        indent, text = head.rpartition("\n")[2], self.text["asked"]
        end = "\n" if "\n" in text else ""
        statements = enumerate(ast.parse(textwrap.dedent(body)).body)
        given = [each for n, each in statements if n < self.given or any(word in ast.unparse(each) for word in _GIVEN)]
        blanked = [
            head.rstrip(),
            textwrap.indent(f'"""{text}{end}"""', indent),
            *body.splitlines()[1 : given[-1].end_lineno if given else 1],
            f'{indent}raise NotImplementedError("{self.written.rpartition(".")[2]} is yours to write")\n',
        ]
        source = source.replace(function, "\n".join(blanked))
        return with_helpers(re.sub(r"\n{3,}", "\n\n", source), self.right)

    def shown(self, text: str, place: str) -> list[str]:
        """Return the learner's answer, from the text of a file of this name, and below it the library's, with the
        helpers of its file."""
        own = ast.get_source_segment(text, definitions(text)[self.written], padded=True) or ""
        library = "\n\n".join(with_helpers(inspect.getsource(self.right), self.right))
        where = self.right.__module__.replace(".", "/")
        called = [plain for name, plain in IN_NUMPY.items() if re.search(rf"\b{name}\(", library)]
        shown = [
            _titled(f"{self.written}, yours ({place})", own),
            _titled(f"{self.name}, the library's ({where}.py)", library),
        ]
        if called:
            shown.append(f"In plain NumPy: {'; '.join(called)}.")
        return shown


def _titled(title: str, source: str) -> str:
    return f"{title}\n{'─' * len(title)}\n{textwrap.dedent(source).strip()}"


def with_helpers(source: str, of: Any) -> list[str]:
    """Return the source, and the functions in the module of the class or function `of` that it calls, directly or
    not."""
    found, known = [source], vars(sys.modules[of.__module__])
    for text in found:
        for node in ast.walk(ast.parse(text)):
            helper = known.get(getattr(node, "id", ""))
            if inspect.isfunction(helper) and helper.__module__ == of.__module__:
                found += {inspect.getsource(helper)}.difference(found)
    return found


def definitions(text: str) -> dict[str, ast.stmt]:
    """Return the statements at the top of a file, and those in a class or function, by dotted name; those without a
    name by "". Raises: SyntaxError."""
    found: dict[str, ast.stmt] = {}
    for node in ast.parse(text).body:
        name = ast.unparse(node.targets[0]) if isinstance(node, ast.Assign) else getattr(node, "name", "")
        inside = {f"{name}.{part.name}": part for part in getattr(node, "body", ()) if hasattr(part, "name")}
        found |= {name: node} | inside
    return found
