"""The gradient of a loss that compares all texts of a batch, in the memory of a part: the chain rule, cut in two.

Such a loss is no mean over the parts of a batch, as every vector is in the loss of every other. But it sees the vectors
alone. So first come all vectors, part by part, without a tape; then the loss of them all and its gradient by each
vector; and then each part goes forward again, on a tape, with the same dropout, and back from its share of that
gradient. ∂loss/∂w = Σ over the parts of (∂loss/∂vectors of the part) · (∂vectors of the part/∂w): the sum of the chain
rule in another order, and so the gradient of the whole batch. (Gao et al. 2021, "Scaling deep contrastive learning
batch size under memory limited setup": GradCache.)
"""

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from npbert.compute import Array, num_threads, run
from npbert.core import Tape
from npbert.models import TaskModel
from npbert.models.packed_batch import PackedBatch
from npbert.training.parallel import Communicator

PartResult = tuple[tuple[float, ...], tuple[int, ...] | None]
"""The losses of a part of a batch, and how many were right, as in StepLosses."""


def vectors_first(
    model: TaskModel,
    parts: Sequence[Sequence[PackedBatch]],
    communicator: Communicator,
    rng_of: Callable[[int], np.random.Generator | None],
    dloss: float,
) -> Callable[[int, Tape], PartResult]:
    """Compute the loss of a batch; return what takes a part, by its number, forward on a tape and back.

    parts: of the batch, each in pieces that go through the model one after another. Where no part has several, nothing
    goes forward twice: what fits beside all others is kept.
    rng_of: the generator that draws the dropout of a part, the same each time. Of several processes each computes the
    vectors of its own parts; all of them compute the loss.
    """
    own = communicator.own(range(len(parts)))
    keeps = max(map(len, parts)) == 1
    tapes: dict[int, Tape] = {}
    found: dict[int, Array] = {}

    def work(number: int) -> None:
        tapes[number] = Tape(rng_of(number), keeps=keeps)
        found[number] = np.concatenate([model(piece, tapes[number]) for piece in parts[number]])

    for first in range(0, len(own), num_threads()):
        run(work, own[first : first + num_threads()], of=len(parts))
    vectors = list(itertools.chain(*communicator.gather([found[number] for number in own])))
    targets = np.concatenate([model.targets(piece) for pieces in parts for piece in pieces])
    tape = Tape()
    loss = model.loss_function(np.concatenate(vectors), targets, tape)
    ends = np.cumsum([len(each) for each in vectors])
    dvectors = np.split(model.loss_function.backward(dloss, tape), ends[:-1])

    def through(number: int, tape: Tape) -> PartResult:
        start = 0
        for piece in parts[number]:
            stop = start + piece.batch_shape[0]
            if not keeps:
                model(piece, tape)
            model.backward(dvectors[number][start:stop], tapes.pop(number) if keeps else tape)
            start = stop
        return (loss,), None

    return through
