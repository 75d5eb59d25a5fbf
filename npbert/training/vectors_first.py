"""The gradient of a loss over all texts of a batch, in the memory of one part: the chain rule in two steps.

Such a loss is no mean over the parts of a batch, as it compares every vector with every other. But it reads only the
vectors. So three steps follow: all vectors, part by part, without a tape; the loss and its gradient by each vector;
then each part runs forward again on a tape, with the same dropout, and backward from its share of that gradient.
∂loss/∂w = Σ over the parts of (∂loss/∂vectors of the part) · (∂vectors of the part/∂w), the chain rule's sum in another
order: the gradient of the whole batch. (Gao et al. 2021, "Scaling deep contrastive learning batch size under memory
limited setup": GradCache.)
"""

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from npbert.compute import Array, run
from npbert.core import Tape
from npbert.io import Communicator
from npbert.models import PackedBatch, TaskLoss, TaskModel


def vectors_first(
    model: TaskModel,
    parts: Sequence[Sequence[PackedBatch]],
    communicator: Communicator,
    rng_of: Callable[[int], np.random.Generator | None],
) -> Callable[[int, Tape], TaskLoss]:
    """Compute the loss of a batch; return a function that runs a part, by its number, forward on a tape and backward.

    parts: of the batch, each in pieces that run through the model one after another. If each part is one piece, nothing
    runs forward twice: the tapes are kept.
    rng_of: the generator of a part's dropout, the same each time. Each process computes the vectors of its own parts;
    all compute the loss.
    """
    own = communicator.own(range(len(parts)))
    keeps = max(map(len, parts)) == 1
    tapes: dict[int, Tape] = {}
    found: dict[int, Array] = {}

    def work(number: int) -> None:
        tapes[number] = Tape(rng_of(number), keeps=keeps)
        found[number] = np.concatenate([model(piece, tapes[number]) for piece in parts[number]])

    run(work, own, of=len(parts))
    vectors = list(itertools.chain(*communicator.gather([found[number] for number in own])))
    targets = np.concatenate([piece.labels for pieces in parts for piece in pieces])
    tape = Tape()
    loss = model.loss_function(np.concatenate(vectors), targets, tape)
    ends = np.cumsum([len(each) for each in vectors])
    dvectors = np.split(model.loss_function.backward(1.0, tape), ends[:-1])

    def through(number: int, tape: Tape) -> TaskLoss:
        start = 0
        for piece in parts[number]:
            stop = start + piece.batch_shape[0]
            if not keeps:
                model(piece, tape)
            model.backward(dvectors[number][start:stop], tapes.pop(number) if keeps else tape)
            start = stop
        return TaskLoss(loss, (loss,), None)

    return through
