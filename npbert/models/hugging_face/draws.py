"""ChosenDraws: a generator for a model that comes out of a file, from which only what the file lacks is drawn."""

from collections.abc import Container
from typing import Any

import numpy as np

from npbert.core.parameter import Parameter, draw


class ChosenDraws(np.random.Generator):
    """A Generator from which `Init` draws only the `chosen` parameters, by their number in the order of creation.

    All others start as 0, which costs nothing. `made` has them all. Where a constructor asks for numbers itself, it is
    a Generator like any other.
    """

    def __init__(self, bit_generator: np.random.BitGenerator, chosen: Container[int] = ()) -> None:
        super().__init__(bit_generator)
        self.chosen = chosen
        self.made: list[Parameter] = []

    def spawn(self, n_children: int) -> Any:
        """Generators like any other: what they draw is not put off."""
        return np.random.Generator(self.bit_generator).spawn(n_children)


@draw.register(ChosenDraws)
def _(rng: ChosenDraws, parameter: Parameter, std: float) -> None:
    rng.made.append(parameter)
    if len(rng.made) - 1 in rng.chosen:
        parameter.value[...] = rng.normal(0.0, std, parameter.value.shape)
