"""Shares: which process keeps the optimiser's memory of which parameters, and updates them."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array, in_blocks
from npbert.core import Parameter
from npbert.optim import Optimizer, global_norm
from npbert.optim.clipping import block_squares
from npbert.training.parallel.communicator import Communicator
from npbert.training.parallel.tree import TreeSum


class Piece(NamedTuple):
    """A stretch of the numbers of a parameter, as a parameter of its own with as many axes, whose value is a view of
    theirs."""

    name: str
    stretch: slice
    parameter: Parameter


class Shares:
    """A model's parameters, of which each process updates a share; by itself, a process updates all.

    AdamW remembers two numbers for each parameter, more than the parameters themselves take; and no parameter's update
    needs another's. So each process keeps the memory of its share alone, and does its share of the work. (Rajbhandari
    et al. 2020, "ZeRO", section 5.1, its first stage.) A step then is:

        zero_gradients, forward, backward and gradients, for each of the own parts
        hold             the sums of the gradients of these parts
        sum_gradients    each process gets the sum of the gradients of its share: the first half of an all-reduce
        an optimizer's step on `parameters`
        spread_values    each process gets the values of the other shares: the second half

    own: the pieces of this process. shared_out: False has every process keep and update everything, for comparison: the
    numbers are the same.

    Raises: ValueError for several processes and a model of more than one dtype.
    """

    def __init__(self, model: Any, communicator: Communicator, *, shared_out: bool = True) -> None:
        self.communicator = communicator
        self.shared_out = shared_out and communicator.size > 1
        self._all = dict(model.named_parameters())
        ends = np.cumsum([parameter.value.size for parameter in self._all.values()]).tolist()
        self._places = list(map(slice, [0, *ends], ends))
        if communicator.size == 1:
            self.edges = [0, ends[-1]]
            self.own = [Piece(name, slice(None), parameter) for name, parameter in self._all.items()]
            return
        self.edges = _edges(list(self._all.values()), communicator.size)
        self._values = self._lay_in_a_row()
        self._gradients = self._row = np.zeros_like(self._values)
        self.own = self._pieces(communicator.rank)

    @property
    def parameters(self) -> list[Parameter]:
        """The parameters that this process updates: for an optimiser."""
        return [piece.parameter for piece in self.own]

    def zero_gradients(self, *, apart: bool = False) -> None:
        """Set every gradient to 0; with several processes, backward writes them into one row. apart: into a new one."""
        places: list[Array | None] = [None] * len(self._all)
        if self.communicator.size > 1:
            self._row = np.empty_like(self._gradients) if apart else self._gradients
            places = [*self._views(self._row)]
        for parameter, place in zip(self._all.values(), places, strict=True):
            parameter.zero_grad(place)

    def gradients(self) -> list[Array]:
        """The gradients of the model: an array for each parameter, or with several processes, one row of them all."""
        found = [parameter.grad for parameter in self._all.values()]  # 0 where no backward has been, also in the row
        return found if self.communicator.size == 1 else [self._row]

    def hold(self, sums: TreeSum) -> None:
        """Make the sum of these `gradients`, of all the own parts, the model's."""
        alone = self.communicator.size == 1
        gradients = sums.whole if alone else self._views(self._gradients)
        for parameter, gradient in zip(self._all.values(), gradients, strict=True):
            parameter.zero_grad()
            parameter.add_grad(gradient)
        self._sums = TreeSum(1) if alone else sums

    def sum_gradients(self) -> None:
        """The gradients of the own pieces are the sums over all parts, whichever process has them."""
        if self.communicator.size == 1:
            return
        self.communicator.scatter_sum(self._sums, self._gradients, self.edges)
        self._sums = TreeSum(1)  # which gives memory back
        if not self.shared_out:
            self.communicator.spread(self._gradients, self.edges)

    def spread_gradients(self) -> None:
        """All gradients of the model are the sums over all processes: for who looks at them."""
        if self.shared_out:
            self.communicator.spread(self._gradients, self.edges)

    def global_norm(self) -> float:
        """The norm of the summed gradient: the same for any number of processes, as a share ends where a block does."""
        if not self.shared_out:
            return global_norm(self.parameters)
        everyone = self.communicator.gather(block_squares(self.parameters))
        return math.sqrt(np.concatenate(everyone).sum())

    def spread_values(self) -> None:
        """The values of all shares are the same on all processes again."""
        if self.shared_out:
            self.communicator.spread(self._values, self.edges)

    def moments(self, optimizer: Optimizer) -> dict[str, Array] | None:
        """All that an optimiser of `parameters` remembers, by kind and parameter, on process 0; None on the others."""
        found: dict[str, Array] = {}
        names = {piece.parameter: piece.name for piece in self.own}
        for kind, arrays in optimizer.moments().items():
            if not self.shared_out:
                for parameter, array in zip(optimizer.parameters, arrays, strict=True):
                    name = names[parameter]
                    found[f"{kind}.{name}"] = array.reshape(self._all[name].value.shape)
                continue
            whole = self.communicator.collect(np.concatenate([array.reshape(-1) for array in arrays]), self.edges)
            if whole is not None:
                found |= zip((f"{kind}.{name}" for name in self._all), self._views(whole), strict=True)
        return found if self.communicator.is_first else None

    def like_moments(self, optimizer: Optimizer) -> dict[str, Array]:
        """Arrays of the names, shapes and dtypes that `moments` gives on process 0; their numbers mean nothing."""
        updated = [piece.name for piece in self.own if piece.parameter in optimizer.parameters]
        return {f"{kind}.{name}": self._all[name].value for kind in optimizer.moments() for name in updated}

    def _lay_in_a_row(self) -> Array:
        """All values in one array, of which those of the parameters become views: it is sent as it is."""
        dtypes = {parameter.value.dtype for parameter in self._all.values()}
        if len(dtypes) > 1:
            raise ValueError(
                f"several processes need a model of one dtype, and this has {' and '.join(map(str, dtypes))}"
            )
        row = np.concatenate([parameter.value.reshape(-1) for parameter in self._all.values()])
        for parameter, view in zip(self._all.values(), self._views(row), strict=True):
            parameter.value = view
        return row

    def _views(self, row: Array) -> list[Array]:
        """Of a number for each of the model's, those of each parameter, in its shape."""
        parameters = zip(self._all.values(), self._places, strict=True)
        return [row[place].reshape(parameter.value.shape) for parameter, place in parameters]

    def _pieces(self, rank: int) -> list[Piece]:
        first, last = (self.edges[rank], self.edges[rank + 1]) if self.shared_out else (0, self.edges[-1])
        pieces = []
        gradients = self._views(self._gradients)
        for (name, parameter), place, gradient in zip(self._all.items(), self._places, gradients, strict=True):
            begin, end = (min(max(edge, first), last) - place.start for edge in (place.start, place.stop))
            shape = *(1,) * (gradient.ndim - 1), -1  # a matrix stays one, which decays
            piece = Parameter(parameter.value.reshape(-1)[begin:end].reshape(shape))
            piece.add_grad(gradient.reshape(-1)[begin:end].reshape(shape))
            pieces.append(Piece(name, slice(begin, end), piece))
        return pieces


def _edges(parameters: Sequence[Parameter], count: int) -> list[int]:
    """The ends of shares of about one size, each at the beginning of a block, as `block_squares` has them."""
    sizes = [block.size for parameter in parameters for (block,) in in_blocks(parameter.value)]
    starts = np.cumsum([0, *sizes])
    wanted = starts[-1] * np.arange(count + 1) // count
    found: list[int] = starts[np.searchsorted(starts, wanted)].tolist()
    return found
