"""Shares: which process adds up the gradients of which parameters, updates them, and keeps the optimiser's memory."""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from npbert.compute import Array, in_blocks, run
from npbert.core import Layer, Parameter
from npbert.optim import Optimizer
from npbert.training.parallel.communicator import Communicator
from npbert.training.parallel.tree import Node, add_up, nodes_of


class Gradients:
    """The gradients of the parts of a batch that this process computes, added up as far as they are.

    count: the number of parts of the batch. sums: by node of the tree, an array for each parameter of the model.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.sums: dict[Node, list[Array]] = {}

    def merge(self) -> None:
        """Add up all that can be, which gives memory back."""

        def add(ours: list[Array], theirs: list[Array]) -> list[Array]:
            blocks = [block for pair in zip(ours, theirs, strict=True) for block in in_blocks(*pair)]
            run(lambda block: _added(*block), blocks)
            return ours

        self.sums = add_up(self.sums, self.count, add)


class Piece(NamedTuple):
    """A stretch of the numbers of a parameter, as a parameter of its own with as many axes, whose value is a view of
    theirs; or the parameter itself, where it is all of them."""

    name: str
    stretch: slice
    parameter: Parameter


class Shares:
    """A model's parameters, of which each process updates a share; by itself, a process updates all.

    AdamW remembers two numbers for each parameter, more than the parameters themselves take; and no parameter's update
    needs another's. So each process keeps the memory of its share alone, and does its share of the work. (Rajbhandari
    et al. 2020, "ZeRO", section 5.1, its first stage.) A step then is:

        gradients_of     forward and backward of the own parts
        add_up           each process gets the sum of the gradients of its share: the first half of an all-reduce
        an optimizer's step on `parameters`
        spread_values    each process gets the values of the other shares: the second half

    all: the parameters of the model   own: the pieces of this process
    shared_out: False has every process keep and update everything, for comparison: the numbers are the same.
    """

    def __init__(self, model: Layer, communicator: Communicator, *, shared_out: bool = True) -> None:
        self.communicator = communicator
        self.shared_out = shared_out and communicator.size > 1
        self._names, self.all = zip(*model.named_parameters(), strict=True)
        for parameter in self.all:
            parameter.value = np.asanyarray(parameter.value, order="C")  # of which a stretch is a view
        edges = _edges(self.all, communicator.size)
        self._stretches = [_stretches(self.all, *pair) for pair in itertools.pairwise(edges)]
        mine = self._stretches[communicator.rank] if self.shared_out else _stretches(self.all, 0, edges[-1])
        pieces = zip(self._names, mine, self.all, strict=True)
        self.own = [Piece(name, stretch, _piece(one, stretch)) for name, stretch, one in pieces]

    def zero_grad(self) -> None:
        """Set every gradient to 0."""
        for parameter in self.all:
            parameter.zero_grad()

    @property
    def parameters(self) -> list[Parameter]:
        """The parameters that this process updates: for an optimiser."""
        return [piece.parameter for piece in self.own]

    def add_up(self, gradients: Gradients) -> float:
        """Add the sum over all parts, whichever process has them, to the gradients of the own pieces; return its norm,
        that over all pieces.

        The norm reads every number once, and the parts are added up as it reads. It is the same for any number of
        processes, as a share ends where a block does.
        """
        communicator, terms = self.communicator, self._exchange(gradients)
        sums = gradients.sums or {(0, 0): [np.zeros_like(parameter.value) for parameter in self.all]}
        whole = next(iter(sums.values()))
        totals = self._cut(whole, communicator.rank)
        blocks = [block for arrays in zip(totals, *terms.values(), strict=True) for block in in_blocks(*arrays)]
        squares = np.zeros(len(blocks))

        def work(number: int) -> None:
            total, *arrays = blocks[number]
            of_node = dict(zip(terms, arrays, strict=True))
            (added,) = add_up(of_node, gradients.count, _added).values()
            if added is not total:
                total[...] = added
            squares[number] = np.vdot(total, total).real

        run(work, range(len(blocks)))
        for parameter, gradient in zip(self.all, whole, strict=True):
            parameter.add_grad(gradient)
        if communicator.size > 1 and not self.shared_out:
            self._spread([parameter.grad for parameter in self.all])
        for parameter, (_, stretch, piece) in zip(self.all, self.own, strict=True):
            if piece is not parameter:
                piece.zero_grad()
                piece.add_grad(parameter.grad.reshape(-1)[stretch].reshape(piece.value.shape))
        return math.sqrt(np.concatenate(communicator.gather(squares)).sum())

    def spread_gradients(self) -> None:
        """All gradients of the model are the sums over all processes: for who looks at them."""
        if self.shared_out:
            self._spread([parameter.grad for parameter in self.all])

    def spread_values(self) -> None:
        """The values of all shares are the same on all processes again."""
        if self.shared_out:
            self._spread([parameter.value for parameter in self.all])

    def moments(self, optimizer: Optimizer) -> dict[str, Array] | None:
        """All that an optimiser of `parameters` remembers, by kind and parameter, on process 0; None on the others."""
        found: dict[str, Array] = {}
        names, communicator = {piece.parameter: piece.name for piece in self.own}, self.communicator
        for kind, arrays in optimizer.moments().items():
            if not self.shared_out:
                of_name = {names[each]: array for each, array in zip(optimizer.parameters, arrays, strict=True)}
            else:
                of_name = {name: np.empty_like(one.value) for name, one in zip(self._names, self.all, strict=True)}
                whole, own = list(of_name.values()), [array.reshape(-1) for array in arrays]
                given = [own if rank == 0 else [] for rank in range(communicator.size)]
                wanted = [self._cut(whole, rank) if communicator.is_first else [] for rank in range(communicator.size)]
                communicator.exchange(given, wanted)
                for target, array in zip(wanted[0], own, strict=False):
                    target[...] = array
            found |= {f"{kind}.{name}": array for name, array in of_name.items()}
        return found if communicator.is_first else None

    def like_moments(self, optimizer: Optimizer) -> dict[str, Array]:
        """Arrays of the names, shapes and dtypes that `moments` gives on process 0; their numbers mean nothing."""
        pairs = zip(self.all, self.own, strict=True)
        updated = [(piece.name, one.value) for one, piece in pairs if piece.parameter in optimizer.parameters]
        return {f"{kind}.{name}": value for kind in optimizer.moments() for name, value in updated}

    def _exchange(self, gradients: Gradients) -> dict[Node, list[Array]]:
        """Of the sums of all processes, what belongs to the own share, by node: an array for each own stretch."""
        communicator, count = self.communicator, gradients.count
        if communicator.size > 1:
            gradients.merge()
        sums, ranks = gradients.sums, range(communicator.size)
        values = self._cut([parameter.value for parameter in self.all], communicator.rank)
        nodes = [nodes_of(communicator.own(range(count), rank), count) for rank in ranks]
        nodes[communicator.rank] = sorted(sums)
        terms = {
            node: self._cut(sums[node], communicator.rank) if node in sums else list(map(np.empty_like, values))
            for node in itertools.chain(*nodes)
        }
        given = [[array for node in sorted(sums) for array in self._cut(sums[node], rank)] for rank in ranks]
        wanted = [[array for node in theirs for array in terms[node]] for theirs in nodes]
        communicator.exchange(given, wanted)
        return terms

    def _spread(self, arrays: Sequence[Array]) -> None:
        """Fill in what the other processes have of these arrays, one for each parameter."""
        own = self._cut(arrays, self.communicator.rank)
        shares = [self._cut(arrays, rank) for rank in range(self.communicator.size)]
        self.communicator.exchange([own] * len(shares), shares)

    def _cut(self, arrays: Sequence[Array], rank: int) -> list[Array]:
        """The share of a process in arrays, one for each parameter: views of their numbers in a row."""
        pairs = zip(arrays, self._stretches[rank], strict=True)
        return [array.reshape(-1)[stretch] for array, stretch in pairs]


def _added(one: Array, other: Array) -> Array:
    return np.add(one, other, out=one)


def _edges(parameters: Sequence[Parameter], count: int) -> list[int]:
    """The ends of shares of about one size, each at the beginning of a block, as `in_blocks` has them."""
    sizes = [block.size for parameter in parameters for (block,) in in_blocks(parameter.value)]
    starts = np.cumsum([0, *sizes])
    wanted = starts[-1] * np.arange(count + 1) // count
    found: list[int] = starts[np.searchsorted(starts, wanted)].tolist()
    return found


def _stretches(parameters: Sequence[Parameter], first: int, last: int) -> list[slice]:
    """The stretch of each parameter that is from `first` to `last` among the numbers of all."""
    ends = np.cumsum([parameter.value.size for parameter in parameters])
    starts = ends - [parameter.value.size for parameter in parameters]
    pairs = zip(starts.tolist(), ends.tolist(), strict=True)
    return [slice(min(max(start, first), last) - start, min(max(end, first), last) - start) for start, end in pairs]


def _piece(parameter: Parameter, stretch: slice) -> Parameter:
    if stretch == slice(0, parameter.value.size):
        return parameter
    shape = *(1,) * (parameter.value.ndim - 1), -1  # a matrix stays one, which decays
    return Parameter(parameter.value.reshape(-1)[stretch].reshape(shape))
