"""The last check of every backward: how many derivatives are proved, and how far off two estimates are."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

from npbert.catalogue import CATALOGUE
from npbert.core import named_parts
from npbert.gradcheck import COMPLEX_STEP, FINITE_DIFFERENCES, TOLERANCES, GradientError, check_gradients
from npbert.pages.html import escape
from npbert.pages.site.definitions import Definition, Definitions


class Proof(NamedTuple):
    """What the check of a block of the catalogue found.

    block: its name there. layer_class: of what was checked, a class of npbert, as npbert.layers.linear.Linear.
    parts: the classes of all that it is made of. derivatives: how many. differences, complex_step: the largest relative
    errors.
    """

    block: str
    layer_class: str
    parts: frozenset[str]
    derivatives: int
    differences: float
    complex_step: float


def prove(processes: int = 1) -> list[Proof]:
    """Check every block of the catalogue. Raises: GradientError when one is not proved; no site is made of that.

    processes: how many share the work; each is a fresh Python.
    """
    if processes < 2:
        return list(map(_prove, CATALOGUE))
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        return list(pool.map(_prove, CATALOGUE))


def _prove(block: str) -> Proof:
    setting = CATALOGUE[block]
    layer, inputs, rng = setting.make()
    report = check_gradients(layer, *inputs, rng=rng)
    if not (report.ok and report.proof):
        raise GradientError(f"{block}: {report}")
    errors = [report.worst[method].relative_error for method in (FINITE_DIFFERENCES, COMPLEX_STEP)]
    parts = frozenset(_called(type(part)) for _, part in named_parts(layer))
    return Proof(block, _called(setting.layer_class), parts, report.count, *errors)


def _called(layer_class: type[Any]) -> str:
    return f"{layer_class.__module__}.{layer_class.__qualname__}"


def proofs_of(owner: Definition, proofs: list[Proof], definitions: Definitions) -> tuple[str, list[Proof]]:
    """The proofs of a class; else those of what is made from it, or of the smallest block that has it as a part.

    The words say which, and are "" for its own.
    """
    called = f"{owner.source.module}.{owner.name}"
    own = [proof for proof in proofs if proof.layer_class == called]
    if own:
        return "", own
    heirs = [proof for proof in proofs if _is_heir(proof.layer_class, owner, definitions)]
    if heirs:
        return "Checked in what is made from it: ", heirs
    holding = [proof for proof in proofs if called in proof.parts]
    return "Checked as a part: ", holding[:1]


def _is_heir(layer_class: str, owner: Definition, definitions: Definitions) -> bool:
    found = definitions.find("npbert", layer_class.removeprefix("npbert."))
    return found is not None and any(each is owner for each in definitions.lineage(found))


def proof_table(proofs: list[Proof]) -> str:
    """The figures of some blocks as a table."""
    heads = f"<th>checked</th><th>derivatives</th><th>{FINITE_DIFFERENCES}</th><th>{COMPLEX_STEP}</th>"
    rows = "".join(
        f"<tr><td>{escape(proof.block)}</td><td>{proof.derivatives:,}</td>"
        f"<td>{proof.differences:.1e}</td><td>{proof.complex_step:.1e}</td></tr>"
        for proof in proofs
    )
    accepted = "".join(f"<td>{TOLERANCES[method]:.0e}</td>" for method in (FINITE_DIFFERENCES, COMPLEX_STEP))
    foot = f'<tr class="quiet"><td>accepted up to</td><td></td>{accepted}</tr>'
    return f'<table class="figures"><thead><tr>{heads}</tr></thead><tbody>{rows}{foot}</tbody></table>'


def in_words(proofs: list[Proof]) -> str:
    """The same in a sentence."""
    count = sum(proof.derivatives for proof in proofs)
    worst = max(proof.differences for proof in proofs), max(proof.complex_step for proof in proofs)
    return (
        f"{count:,} derivatives, each of them proved, by an equality of integers. Along random directions, the worst "
        f"is off by {worst[0]:.0e} from finite differences, and by {worst[1]:.0e} from the complex step."
    )
