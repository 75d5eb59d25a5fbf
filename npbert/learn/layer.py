"""LayerBlank: a layer for the learner to write, tested by the gradient check's call, promises and proof."""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from npbert.catalogue import CATALOGUE, Setting, blocks
from npbert.gradcheck import GradientError, ScalarFunction, check_gradients
from npbert.gradcheck.contract import numbers_of
from npbert.gradcheck.explain.finding import d
from npbert.gradcheck.explain.variations import VARIATIONS, in_manner
from npbert.gradcheck.inputs import is_float_array
from npbert.learn.blank import Blank, Numbers
from npbert.learn.verdict import Verdict, sentence
from npbert.shapes import Shapes

BROKEN = "The numbers are right, but it breaks a promise of every layer."
_ROUNDING = 1e-12
_ROUNDED = (
    "If they agree in many digits, a number may be rounded, or it is a numerical slope, (f(x + h) − f(x − h)) "
    "/ 2h. Write the exact formula."
)
_OTHERS = blocks(Shapes.drawn(np.random.default_rng(37771)))
"""The blocks of the catalogue in other sizes, all different. Each row is a target, as then the kept scores are the
caller's array."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LayerBlank(Blank):
    """A layer in two settings, which differ in all sizes. With the last two seeds, nothing is dropped.

    The section `names` of its text has names of gradients; by default they are as in `dx` for x.
    """

    settings: tuple[Setting, ...]
    method: str = "backward"
    fixed: tuple[str, ...] = ("y",)
    seeds: Sequence[int] = range(2 * (len(VARIATIONS) + 1))

    def run(self, thing: Any, seed: int) -> Iterator[Numbers]:
        """Return y and the gradients of a call, as far as it runs; test the promises of a layer once for each setting.

        Raises: errors of the learner's code; PromiseError, or GradientError for a promise that the gradients need.
        """
        function = _made(self.settings[seed % 2], thing, seed)
        names = self.entries("names")
        return numbers_of(function, lambda name: names.get(name, d(name)), are_promised=seed < 2)

    def prove(self, module: ModuleType) -> Verdict | None:
        """Run the whole check, for a layer with right numbers."""
        for setting in self.settings:
            layer, inputs, rng = setting.make(getattr(module, self.name))
            try:
                report = check_gradients(layer, *inputs, rng=rng)
            except GradientError as error:
                return Verdict(BROKEN, sentence(str(error)))
            is_rounding = all(each.relative_error <= _ROUNDING for each in report.comparisons)
            if not (report.ok or is_rounding):
                numbers = "\n".join(map(str, report.worst.values()))
                return Verdict("The gradient check rejects it.", f"{numbers}\n\n{_ROUNDED}")
        return None


def layer_blank(
    block: str,
    layer_class: type[Any] | None = None,
    *,
    other: Setting | None = None,
    **data: Any,
) -> LayerBlank:
    """Return the LayerBlank of a block of the catalogue.

    layer_class: a layer with the same arguments, instead of the block's.   other: its second setting.
    data: as for a LayerBlank.
    """
    both = CATALOGUE[block], other or _OTHERS[block]
    return LayerBlank(right=layer_class or both[0].layer_class, settings=both, **data)


@functools.cache
def _made(setting: Setting, layer_class: type[Any], seed: int) -> ScalarFunction:
    """Return the layer with its inputs, in the variation of the seed."""
    layer, inputs, rng = setting.make(layer_class, seed=seed)
    inputs = tuple(in_manner(each, seed // 2) if is_float_array(each) else each for each in inputs)
    return ScalarFunction(layer, inputs, rng if seed // 2 < len(VARIATIONS) else None, seed).checked()
