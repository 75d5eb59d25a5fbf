"""The panel below a backward: its last check, its planted bugs, its chapters and its exercises.

The planted bugs are edits of the library that the tests make, for the checks to reject. They are text, in
tests/planted, a paragraph each:

    overwrites: The numbers of the old gradient are overwritten.
    in layers.linear.Linear.backward        what is edited
    of Linear; FeedForward, gelu/output     the blocks of the catalogue that it is planted in, or their parts
    says is set by backward                 the words of the gradient check, where it says more than WRONG
    check float32_stays_float32             where no derivative shows it, the check in tests/planted that does
    - self.weight.add_grad(matmul(x.T, dy))
    + self.weight.grad[...] = matmul(x.T, dy)
"""

import ast
import itertools
import re
import textwrap
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from npbert.catalogue import CATALOGUE
from npbert.core import named_parts
from npbert.gradcheck import COMPLEX_STEP, FINITE_DIFFERENCES, TOLERANCES, GradientError, check_gradients
from npbert.pages.site.definitions import Definition, Definitions
from npbert.pages.site.library import Library
from npbert.pages.site.rendering import diff_html
from npbert.pages.site.sources import Source, read_source


class ProofPanel(NamedTuple):
    """The check of a block of the catalogue: how many derivatives are proved, and how far off two estimates are.

    block: its name there. layer_class: its class, as npbert.layers.linear.Linear. parts: the classes of all that it is
    made of. derivatives: how many. differences, complex_step: the largest relative errors.
    """

    block: str
    layer_class: str
    parts: frozenset[str]
    derivatives: int
    differences: float
    complex_step: float


def prove(processes: int = 1) -> list[ProofPanel]:
    """Check every block of the catalogue. Raises: GradientError when one is not proved; no site is made of that.

    processes: how many share the work; each is a fresh Python.
    """
    if processes < 2:
        return list(map(_prove, CATALOGUE))
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        return list(pool.map(_prove, CATALOGUE))


def _prove(block: str) -> ProofPanel:
    setting = CATALOGUE[block]
    layer, inputs, rng = setting.make()
    report = check_gradients(layer, *inputs, rng=rng)
    if not (report.ok and report.proof):
        raise GradientError(f"{block}: {report}")
    errors = [report.worst[method].relative_error for method in (FINITE_DIFFERENCES, COMPLEX_STEP)]
    parts = frozenset(_called(type(part)) for _, part in named_parts(layer))
    return ProofPanel(block, _called(setting.layer_class), parts, report.count, *errors)


def _called(layer_class: type[Any]) -> str:
    return f"{layer_class.__module__}.{layer_class.__qualname__}"


def proofs_of(owner: Definition, proofs: list[ProofPanel], definitions: Definitions) -> tuple[str, list[ProofPanel]]:
    """The proofs of a class; else those of what is made from it, or of the smallest block that has it as a part.

    The words say which, and are "" for its own.
    """
    called = f"{owner.source.module}.{owner.name}"
    own = [proof for proof in proofs if proof.layer_class == called]
    if own:
        return "", own
    made = {proof: definitions.find("npbert", proof.layer_class.removeprefix("npbert.")) for proof in proofs}
    heirs = [proof for proof, found in made.items() if found and owner in definitions.lineage(found)]
    if heirs:
        return "Checked in what is made from it: ", heirs
    holding = [proof for proof in proofs if called in proof.parts]
    return "Checked as a part: ", holding[:1]


def in_words(proofs: list[ProofPanel]) -> str:
    """The figures of some proofs in a sentence."""
    count = sum(proof.derivatives for proof in proofs)
    worst = max(proof.differences for proof in proofs), max(proof.complex_step for proof in proofs)
    return (
        f"{count:,} derivatives, each of them proved, by an equality of integers. Along random directions, the worst "
        f"is off by {worst[0]:.0e} from finite differences, and by {worst[1]:.0e} from the complex step."
    )


@dataclass(frozen=True)
class Bug:
    """A planted bug.

    name, says: what is wrong, in its own words. owner: the class or function that is edited, as
    npbert.layers.linear.Linear. edits: by the name of a method, "" for a function, lines "- …" and "+ …". blocks: where
    it is planted, as "Linear", or "MultiHeadAttention/dot_product". message: of the gradient check. check: another one.
    """

    name: str
    says: str
    owner: str
    edits: dict[str, list[str]]
    blocks: tuple[str, ...]
    message: str
    check: str


def read_bugs(root: Path) -> list[Bug]:
    """All bugs of root/tests/planted, in the order of its files; none where there is no such folder."""
    paths = sorted((root / "tests" / "planted").glob("*.txt"))
    return [_bug(text) for path in paths for text in read_source(path).strip().split("\n\n")[1:]]


def _bug(text: str) -> Bug:
    about, _, rest = text.partition("\nin ")
    name, _, says = about.partition(": ")
    edits: dict[str, list[str]] = {}
    fields: dict[str, list[str]] = {"of": [], "says": [], "check": []}
    for line in f"in {rest}".splitlines():
        kind, _, value = line.partition(" ")
        if kind == "in":
            room, module, owner, method = f"{value}.".split(".")[:4]
            edits[method] = []
        elif kind in fields:
            fields[kind] += value.split("; ")
        else:
            edits[method].append(line)
    message, check = ("".join(fields[kind]) for kind in ("says", "check"))
    return Bug(
        name, " ".join(says.split()), f"npbert.{room}.{module}.{owner}", edits, tuple(fields["of"]), message, check
    )


def marked(right: str, edit: list[str]) -> list[tuple[str, str]]:
    """(mark, line) of the source of a function, edited: " " for what stays, "-" for what goes, "+" for what comes.

    Raises: ValueError unless the lines that go stand there once.
    """
    lines = [(" ", line) for line in textwrap.dedent(right).splitlines()]
    groups = [(mark, [line[2:] for line in group]) for mark, group in itertools.groupby(edit, key=lambda each: each[0])]
    for number, (mark, gone) in enumerate(groups):
        if mark == "-":
            new = groups[number + 1][1] if number + 1 < len(groups) else []
            texts, wanted = [line.strip() for _, line in lines], [line.strip() for line in gone]
            starts = [n for n in range(len(lines)) if texts[n : n + len(gone)] == wanted]
            if len(starts) != 1:
                raise ValueError(f"{gone} stands there {len(starts)} times, wanted once")
            end = starts[0] + len(gone)
            indent = " " * (len(lines[starts[0]][1]) - len(texts[starts[0]]))
            lines[starts[0] : end] = [
                *(("-", line) for _, line in lines[starts[0] : end]),
                *(("+", indent + line) for line in new),
            ]
    return lines


def diff_of(bug: Bug, definitions: Definitions) -> list[tuple[str, str]]:
    """(mark, line) of all that is edited, without docstrings and the lines of comments."""
    owner = definitions.find("npbert", bug.owner.removeprefix("npbert."))
    found: list[tuple[str, str]] = []
    for method, edit in bug.edits.items():
        thing = definitions.member(owner, method) if owner and method else owner
        if thing:
            found += marked("\n".join(_without_docstring(thing.source.part(thing.node))), edit)
    return found


def _without_docstring(text: str) -> list[str]:
    """The lines of a function without its decorators, its docstring and its comments' lines."""
    node = Source("", text).tree.body[0]
    left_out: set[int] = set(range(1, node.lineno))
    if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None and len(node.body) > 1:
        left_out |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return [line for n, line in enumerate(text.split("\n"), 1) if n not in left_out and line.strip()]


class Panels:
    """The panels of all classes and functions, as panel.html shows them."""

    def __init__(self, library: Library, proofs: list[ProofPanel], bugs: list[Bug]) -> None:
        self.library, self.proofs, self.bugs = library, proofs, bugs

    def panel(self, thing: Definition) -> dict[str, Any] | None:
        """The panel of a class or function; None for one that is not checked, and has no planted bugs."""
        bugs = [bug for bug in self.bugs if bug.owner == f"{thing.source.module}.{thing.name}"]
        own = {getattr(node, "name", "") for node in getattr(thing.node, "body", [])}
        is_layer = isinstance(thing.node, ast.ClassDef) and bool(own & {"backward", "value_and_slope"})
        if not is_layer and not bugs:
            return None
        said, proofs = proofs_of(thing, self.proofs, self.library.definitions) if is_layer else ("", [])
        return {
            "name": thing.name,
            "is_layer": is_layer,
            "said": f"{said}{', '.join(proof.block for proof in proofs)}. " if said else "",
            "proofs": proofs,
            "figures": in_words(proofs) if proofs else "",
            "methods": {method: TOLERANCES[method] for method in (FINITE_DIFFERENCES, COMPLEX_STEP)},
            "has_bugs": (self.library.root / "tests" / "planted").is_dir(),
            "bugs": [(bug, diff_html(diff_of(bug, self.library.definitions))) for bug in bugs],
            **self._lessons(thing, is_layer),
        }

    def _lessons(self, thing: Definition, is_layer: bool) -> dict[str, Any]:
        """The chapters that derive a class or use it, and the exercises that its docstring names."""
        text = (ast.get_docstring(thing.node) or "") if isinstance(thing.node, ast.ClassDef | ast.FunctionDef) else ""
        numbers = " and ".join(re.findall(r"[Cc]hapters? ([\d and]+?) of docs/", text))
        derived = [self.library.chapter(int(number)) for number in re.findall(r"\d+", numbers)]
        beside = self.library.chapters_about(thing.source) if is_layer else []
        chapters = [(chapter, "derives it") for chapter in derived if chapter]
        chapters += [(chapter, "uses it") for chapter in beside if chapter not in derived]
        named = map(int, re.findall(r"[Ee]xercise (\d+)", text))
        return {
            "chapters": chapters,
            "exercises": [self.library.exercises[number] for number in named if number in self.library.exercises],
        }
