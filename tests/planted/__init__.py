"""Planted twins: layers, models and optimisers with one mistake each, most of them seen in published code.

A check that lets one pass is broken. A twin is a subclass of the right class in which one method is wrong, so that is
all there is to write: `@plant` makes the method into a twin of a block of the catalogue, for gradcheck to reject, and
`@fails` into one for a check of what no derivative can show. The docstring says what is wrong.
"""

import operator
import pkgutil
from importlib import import_module

from npbert.catalogue import CATALOGUE

WRONG = "WRONG"

PLANTED = {}
"""By name: what `build` is given, and what gradcheck says."""
FAILING = {}
"""By name: the check, what it accepts, and the twin that it rejects."""


def plant(*blocks, part="", method="backward", right=None, says=WRONG):
    """Plant the method in these blocks of the catalogue, or in their `part` (`dot_product`, say).

    What is decorated may be a whole class, too. right: the class whose method it replaces, if not that of the block.
    """

    def add(wrong):
        for block in blocks:
            PLANTED[f"{block}, {part or 'all'}: {wrong.__name__}"] = (block, part, right, method, wrong), says
        return wrong

    return add


def fails(check, right, *, method=None):
    """Have `check` accept `right`, and reject it with this method; or reject what is decorated in its place."""

    def add(wrong):
        twin = _twin(right, method, wrong) if method else wrong
        FAILING[f"{check.__name__}: {wrong.__name__}"] = check, right, twin
        return wrong

    return add


def build(block, part, right, method, wrong):
    """The block with the twin in it, its inputs, and the generator for its dropout."""
    if not part:
        return CATALOGUE[block].make(_twin(right or CATALOGUE[block].layer_class, method, wrong))
    layer, inputs, rng = CATALOGUE[block].make()
    owner = operator.attrgetter(part)(layer)
    owner.__class__ = _twin(right or type(owner), method, wrong)
    return layer, inputs, rng


def _twin(right, method, wrong):
    return wrong if isinstance(wrong, type) else type(wrong.__name__, (right,), {method: wrong})


def load_all():
    """Have every module of this folder plant its bugs."""
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
