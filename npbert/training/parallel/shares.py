"""Shares: which process keeps the optimiser's memory of which parameters, and updates them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter
from npbert.optim import Optimizer, global_norm
from npbert.training.parallel.communicator import Communicator


class Piece(NamedTuple):
    """Rows of a parameter (of a vector, numbers), as a parameter of its own, whose value is a view of theirs."""

    name: str
    rows: slice | EllipsisType
    parameter: Parameter


class Shares:
    """A model's parameters, of which each process updates a share; by itself, a process updates all.

    AdamW remembers two numbers for each parameter, more than the parameters themselves take; and no parameter's update
    needs another's. So each process keeps the memory of its share alone, and does its share of the work. (Rajbhandari
    et al. 2020, "ZeRO", section 5.1, its first stage.) A step then is:

        zero_gradients, and forward and backward of the own parts
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
            self._values = self._gradients = np.empty(0)
            self.own = [Piece(name, ..., parameter) for name, parameter in self._all.items()]
            return
        self.edges = _edges(list(self._all.values()), communicator.size)
        self._values = self._lay_in_a_row()
        self._gradients = np.zeros_like(self._values)
        self.own = self._pieces(communicator.rank)

    @property
    def parameters(self) -> list[Parameter]:
        """What this process updates: for an optimiser."""
        return [piece.parameter for piece in self.own]

    def zero_gradients(self) -> None:
        """Set every gradient of the model to 0; with several processes, backward writes them into one row."""
        several = self.communicator.size > 1
        places = self._views(self._gradients) if several else itertools.repeat(None)
        for parameter, place in zip(self._all.values(), places, strict=several):
            parameter.zero_grad(place)

    def sum_gradients(self) -> None:
        """The gradients of the own pieces are the sums over all processes."""
        for parameter in self._all.values():
            _ = parameter.grad  # is 0 from here on if no backward has reached it, whatever the row held there
        self.communicator.scatter_sum(self._gradients, self.edges)
        if not self.shared_out:
            self.communicator.spread(self._gradients, self.edges)

    def spread_gradients(self) -> None:
        """All gradients of the model are the sums over all processes: for who looks at them. An update needs but those
        of the own pieces."""
        if self.shared_out:
            self.communicator.spread(self._gradients, self.edges)

    def global_norm(self) -> float:
        """The norm of the summed gradient, of all parameters: one number, the same on every process."""
        if self.communicator.size == 1:
            return global_norm(self.parameters)
        rank = self.communicator.rank
        share = Parameter(self._values[self.edges[rank] : self.edges[rank + 1]])
        share.add_grad(self._gradients[self.edges[rank] : self.edges[rank + 1]])
        return math.hypot(*self.communicator.gather(global_norm([share])))

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
                    found[f"{kind}.{names[parameter]}"] = array
                continue
            whole = self.communicator.collect(np.concatenate([array.reshape(-1) for array in arrays]), self.edges)
            if whole is not None:
                found |= zip((f"{kind}.{name}" for name in self._all), self._views(whole), strict=True)
        return found if self.communicator.is_first else None

    def like_moments(self, optimizer: Optimizer) -> dict[str, Array]:
        """Arrays of the names, shapes and dtypes that `moments` gives on process 0; their numbers mean nothing."""
        names = {piece.parameter: piece.name for piece in self.own}
        updated = self._all if self.shared_out else {names[p]: p for p in optimizer.parameters}
        return {f"{kind}.{name}": p.value for kind in optimizer.moments() for name, p in updated.items()}

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
            begin, end = max(first, place.start), min(last, place.stop)
            if begin < end:
                width = _width(parameter)
                rows = slice((begin - place.start) // width, (end - place.start) // width) if gradient.ndim else ...
                piece = Parameter(parameter.value[rows])
                piece.add_grad(gradient[rows])
                pieces.append(Piece(name, rows, piece))
        return pieces


def _edges(parameters: Sequence[Parameter], count: int) -> list[int]:
    """Where shares of about one size begin and end, at the beginning of a row: so a piece of a matrix is a matrix."""
    starts = [0]
    for parameter in parameters:
        width = _width(parameter)
        starts += range(starts[-1] + width, starts[-1] + parameter.value.size + 1, width)
    wanted = [starts[-1] * number // count for number in range(count + 1)]
    return [starts[i] for i in np.searchsorted(starts, wanted)]


def _width(parameter: Parameter) -> int:
    """How many numbers a row has."""
    return math.prod(parameter.value.shape[1:])
