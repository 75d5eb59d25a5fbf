"""explain: arrays in, findings out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.axes import (
    error_along_a_known,
    error_along_an_axis,
    error_is_a_known,
    factor_along_an_axis,
)
from npbert.gradcheck.diagnosis.changed import changed_product
from npbert.gradcheck.diagnosis.factors import constant_factor, known_factor
from npbert.gradcheck.diagnosis.finding import Case, Finding, d, listed
from npbert.gradcheck.diagnosis.formulas import wrong_formula
from npbert.gradcheck.diagnosis.ledger import ledger
from npbert.gradcheck.diagnosis.ones import ones_elsewhere
from npbert.gradcheck.diagnosis.order import another_gradient, wrong_order
from npbert.gradcheck.diagnosis.places import wrong_places
from npbert.gradcheck.diagnosis.products import wrong_product
from npbert.gradcheck.diagnosis.rows import rows_moved, rows_of_another
from npbert.gradcheck.diagnosis.shapes import wrong_kind
from npbert.gradcheck.diagnosis.sums_of_rows import sums_of_rows
from npbert.gradcheck.diagnosis.terms import wrong_terms


def explain(
    wrong: Array,
    right: Array,
    *,
    name: str,
    sizes: dict[str, int] | None = None,
    numbers: dict[str, float] | None = None,
    known: dict[str, Array] | None = None,
    roads: dict[str, Array] | None = None,
    mistakes: dict[str, Array] | None = None,
    others: dict[str, Array] | None = None,
    places: dict[str, Array] | None = None,
    heads: int = 1,
    lengths: tuple[int, ...] = (),
) -> list[Finding]:
    """What is true of the error of a gradient, the most telling first; empty when nothing is.

    wrong, right: the gradient and what it should be, in float64, the right one to at least 9 digits.
    name: of the parameter or input, `x` for dx.

    What may explain the error, by the words in which it is told; all of it is optional:
    sizes: {"the number of columns of x": 7} or {"D": 7}, which a factor may be made of. numbers: others, such as
    {"p": 0.3}. known: arrays that may have been left out as factors, {"gamma": γ}; they broadcast to `right`.
    roads: {"directly": …, "through μ": …}, arrays that add up to `right`. mistakes: {"γ is left out": …}, what comes
    out of formulas that people write in place of the right one. others: right gradients of other names, that
    this one may be mixed up with. places: {"the ignored rows": mask}, booleans that broadcast to `right`.
    heads: into how many heads the columns are cut. lengths: of the sequences that the rows are in.

    A gradient of another shape or dtype has this one finding.
    """
    wrong, right = np.asarray(wrong), np.asarray(right, np.float64)
    kind = wrong_kind(wrong, right, name)
    if kind:
        return [Finding("shape" if wrong.shape != right.shape else "dtype", name, kind)]
    case = Case(
        wrong,
        right,
        name,
        sizes or {},
        numbers or {},
        {key: np.asarray(array, np.float64) for key, array in (known or {}).items()},
        roads or {},
        mistakes or {},
        others or {},
        places or {},
        heads,
        lengths,
    )
    return list(findings_of(case))


def findings_of(case: Case) -> Iterator[Finding]:
    """The statements that are true of the case, simple ones first: those of the first group that has any."""
    if not case.is_wrong.any() and np.isfinite(case.wrong).all():
        return
    for group in _GROUPS:
        found = [finding for statement in group for finding in statement(case)]
        if found:
            yield from found
            return


def _not_finite(case: Case) -> Iterator[Finding]:
    bad = ~np.isfinite(case.wrong)
    if bad.any():
        first = tuple(map(int, np.argwhere(bad)[0]))
        where = next((text for text, place in case.places.items() if _is_there(bad, place)), f"the first at {first}")
        text = f"{case.d} has {np.count_nonzero(bad)} of {bad.size} numbers that are not finite, {where}"
        yield Finding("not finite", case.name, text)


def _is_there(bad: Array, place: Array) -> bool:
    return place.shape == bad.shape and bool((bad == place).all())


def _all_zero(case: Case) -> Iterator[Finding]:
    if not case.wrong.any() and case.right.any():
        text = f"{case.d} is 0 everywhere, though y moves with {case.name}, as if it was never added, or returned"
        yield Finding("zero", case.name, text)


def _not_moved(case: Case) -> Iterator[Finding]:
    if case.is_zero(case.right):
        text = f"{case.d} should be 0 everywhere, as forward does not move with {case.name}; it is {_some(case.wrong)}"
        yield Finding("should be zero", case.name, text)


def _product_with_gradients(case: Case) -> Iterator[Finding]:
    """As wrong_product; the other gradients may be factors, too."""
    return wrong_product(replace(case, known=case.known | {d(name): other for name, other in case.others.items()}))


def _changed_product_with_gradients(case: Case) -> Iterator[Finding]:
    return changed_product(replace(case, known=case.known | {d(name): other for name, other in case.others.items()}))


def _rounded(case: Case) -> Iterator[Finding]:
    """Right in so many digits that no formula is wrong."""
    some = case.right[case.right != 0]
    if not some.size or np.count_nonzero(case.is_wrong & (case.right != 0)) * 2 < some.size:
        return
    relative = float(np.abs(case.error).max() / np.abs(some).max())
    if relative < _ROUNDED and not case.is_wrong[case.right == 0].any():
        how = ": its numbers are those of float32" if _is_float32(case.wrong) else ", as if a number in it was rounded"
        text = f"{case.d} is right in about {-np.log10(relative):.0f} digits, and a formula is right in 15{how}"
        yield Finding("rounded", case.name, text)


def _is_float32(array: Array) -> bool:
    return bool(np.array_equal(array.astype(np.float32), array))


def _some(array: Array) -> str:
    return listed(map(float, array.ravel()), 4)


_ROUNDED = 1e-4  # the relative error below which a gradient is told to be rounded
Statement = Callable[[Case], Iterator[Finding]]

_GROUPS: tuple[tuple[Statement, ...], ...] = (
    (_not_finite,),
    (_all_zero,),
    (_not_moved,),
    (constant_factor,),
    (wrong_formula,),
    (known_factor,),
    (wrong_terms,),
    (ledger,),
    (_changed_product_with_gradients,),
    (factor_along_an_axis, error_along_an_axis, another_gradient, wrong_order),
    (ones_elsewhere,),
    (error_is_a_known,),
    (_product_with_gradients,),
    (error_along_a_known,),
    (_rounded,),
    (wrong_places,),
    (rows_of_another,),
    (rows_moved, sums_of_rows),
)
