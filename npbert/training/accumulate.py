"""Gradients of a batch in parts: each part runs from ids to loss and back, on a thread or a process."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array, bounded_parts, neighbours, num_threads, run, training_parts
from npbert.core import IGNORED, Tape, gradients_of_a_part
from npbert.data import Batch
from npbert.io import ALONE, Communicator, Setting, counted, warn
from npbert.models import PackedBatch, TaskLoss, TaskModel
from npbert.training.parallel import Shares, Sums, add_up


class StepLosses(NamedTuple):
    """The losses of a batch, each the mean over all of its targets, with the numbers of targets and of right
    predictions.

    Pre-training with sentence pairs has two of each, for words and for pairs; all other models have one. For a
    regression, there are no numbers of right predictions.
    """

    losses: tuple[float, ...]
    counts: tuple[int, ...]
    right: tuple[float, ...]

    @property
    def total(self) -> float:
        """The sum of the losses. Training minimizes it; ELECTRA counts its second loss 50 times there."""
        return sum(self.losses)

    def by_name(self, kinds: Sequence[str]) -> dict[str, float]:
        """Return the losses and accuracies by name. kinds: a name for each loss; `loss` is the sum of several."""
        found = {"loss": self.total}
        for number, kind in enumerate(kinds):
            begin = f"{kind}_" if kind else ""
            found[f"{begin}loss"] = self.losses[number]
            if self.right:
                found[f"{begin}accuracy"] = self.right[number] / self.counts[number]
        return found


def mean_over_targets(batches: Iterable[StepLosses]) -> StepLosses:
    """Return the losses of several batches as those of one: each the mean over all targets.

    A mean of the means would give more weight to targets in batches with few of them.
    """
    losses, counts, right = zip(*batches, strict=True)
    whole = np.average(losses, axis=0, weights=counts), np.sum(counts, axis=0), np.sum(right, axis=0)
    return StepLosses(*(tuple(each.tolist()) for each in whole))


def evaluate_losses(
    model: TaskModel, batches: Sequence[Batch], kinds: tuple[str, ...], communicator: Communicator = ALONE
) -> dict[str, float]:
    """Return the losses and accuracies of a model over all targets in the batches, without dropout; none without a
    batch.

    Several processes share the batches, and all get the same numbers as one process."""
    own = []
    for batch in communicator.own(batches):
        loss = model.loss(batch)
        own.append(StepLosses(loss.means, model.target_counts(batch), loss.counts_right))
    everyones = list(itertools.chain(*communicator.gather(own)))
    return mean_over_targets(everyones).by_name(kinds) if everyones else {}


def accumulate(model: TaskModel, batch: Batch, seed: Sequence[int] | None, *, parts: int = 0) -> StepLosses:
    """Add the gradient of the loss of `batch` to the model's, computed in parts on several threads.

    parts: the most parts; 0: by the sizes of batch and model. The rest is as in `gradients_of`.
    """
    shares = Shares(model, ALONE)
    losses, sums = gradients_of(model, batch, seed, shares, parts=parts)
    shares.add_up(sums)
    return losses


def gradients_of(
    model: TaskModel, batch: Batch, seed: Sequence[int] | None, shares: Shares, *, parts: int = 0
) -> tuple[StepLosses, Sums]:
    """Return the losses of `batch`, and the sums of gradients of this process's parts.

    Each part has a separate tape, generator and gradient. So threads do not wait for each other, layers cannot mix
    parts, and the number of threads or processes changes no bit.

    A round computes a part on each thread, and adds up sums as far as possible; `Shares.add_up` does the rest. So a
    process holds a gradient for each thread, and the sums that wait for others: at most as many as the number of parts
    has binary digits.

    The loss is a mean over the N targets of the batch, so a part with n of them has the weight n/N. Each kind of loss
    has its own n and N.

    seed: of the dropout, with the number of the part; None: no dropout.

    Raises: the errors of the model's `loss`.
    """
    pieces, communicator = parts_of(model, batch, parts), shares.communicator
    everyone = range(len(pieces))
    own, size = communicator.own(everyone), communicator.size
    if communicator.is_first and len(pieces) < size:
        said = f"a batch of {counted(len(pieces), 'part')} leaves {size - len(pieces)} of {size} processes idle"
        warn(f"{said}; start a run with {Setting('parts', size)} for as many parts as processes")
    counts = [model.target_counts(piece) for piece in pieces]
    weights = np.divide(counts, np.sum(counts, axis=0)).tolist()  # n/N, as Python numbers, which keep the model's dtype
    sums: Sums = {}
    results: list[StepLosses] = []  # of the own parts

    def through_loss(number: int, tape: Tape) -> TaskLoss:
        losses = model.loss(pieces[number], tape)
        dlosses: Any = tuple(weights[number])
        model.loss_backward(dlosses if len(dlosses) > 1 else dlosses[0], tape)
        return losses

    through = vectors_first(model, pieces, communicator, seed) if model.needs_whole_batch else through_loss

    def work(number: int) -> StepLosses:
        tape = Tape(part_rng(seed, number))
        with gradients_of_a_part():
            loss = through(number, tape)
            gradients = [parameter.grad for parameter in shares.all]
        tape.check_empty()
        sums[range(number, number + 1)] = gradients
        return StepLosses(loss.means, counts[number], loss.counts_right)

    for first in range(0, len(own), num_threads()):
        results += run(work, own[first : first + num_threads()], of=len(pieces))
        sums = add_up(sums, everyone)
    return mean_over_targets(itertools.chain(*communicator.gather(results))), sums


def parts_of(model: TaskModel, batch: Batch, parts: int) -> list[PackedBatch]:
    """Return a batch as at most `parts` parts with about the same number of tokens; 0: by the sizes of batch and model.

    A part has neighbors in the order of lengths, and at least one target. The sequences of a group stay together. A
    batch of your own class, with more arrays, is cut into batches of this class.
    """
    packed = model.pack(batch)
    config, lengths = packed.config, packed.is_real.reshape(packed.batch_shape[0], -1).sum(axis=1)
    if not parts:
        sizes = config.num_hidden_layers, config.hidden_size, model.num_parameters()
        parts = training_parts(packed.sequences.num_rows, *sizes)
    order = np.argsort(lengths, kind="stable")
    has_target = np.ones(len(order), bool)
    for targets in (packed.batch.labels, packed.batch.start_positions):
        if targets is not None:
            has_target &= (targets.reshape(len(order), -1) != IGNORED).any(axis=1)
    starts = [part.start for part in neighbours(lengths[order], parts) if has_target[order[part]].any()]
    rows = [np.sort(these) for these in np.split(order, starts[1:])]
    if len(rows) == 1:
        return [packed]
    arrays = {name: array for name, array in vars(packed.batch).items() if array is not None}
    return [model.pack(type(packed.batch)(**{name: array[each] for name, array in arrays.items()})) for each in rows]


def part_rng(seed: Sequence[int] | None, number: int) -> np.random.Generator | None:
    """Return the generator for the dropout of the part with this number."""
    return None if seed is None else np.random.default_rng([*seed, number])


def vectors_first(
    model: TaskModel, parts: Sequence[PackedBatch], communicator: Communicator, seed: Sequence[int] | None
) -> Callable[[int, Tape], TaskLoss]:
    """Compute the loss of a batch; return a function that runs a part, by its number, forward on a tape and backward.
    The gradient of a loss over all texts of a batch, in the memory of one part: the chain rule in two steps.

    Such a loss is no mean over the parts of a batch, as it compares every vector with every other. But it reads only
    the vectors. So three steps follow: all vectors, part by part, without a tape; the loss and its gradient by each
    vector; then each part runs forward again on a tape, with the same dropout, and backward from its share of that
    gradient. ∂loss/∂w = Σ over the parts of (∂loss/∂vectors of the part) · (∂vectors of the part/∂w), the chain rule's
    sum in another order: the gradient of the whole batch. (Gao et al. 2021, "Scaling deep contrastive learning batch
    size under memory limited setup": GradCache.)

    A part is cut into pieces, which run through the model one after another. If each part is one piece, nothing runs
    forward twice: the tapes are kept. Each process computes the vectors of its own parts; all compute the loss.
    """
    own, width = communicator.own(range(len(parts))), model.config.hidden_size
    cut = [parts_of(model, part.batch, bounded_parts(part.sequences.num_rows, width)) for part in parts]
    keeps = max(map(len, cut)) == 1
    tapes: dict[int, Tape] = {}

    def work(number: int) -> Array:
        tapes[number] = Tape(part_rng(seed, number), keeps=keeps)
        return np.concatenate([model(piece, tapes[number]) for piece in cut[number]])

    vectors = list(itertools.chain(*communicator.gather(run(work, own, of=len(parts)))))
    targets = np.concatenate([piece.labels for pieces in cut for piece in pieces])
    tape = Tape()
    loss = model.loss_function(np.concatenate(vectors), targets, tape)
    ends = np.cumsum([len(each) for each in vectors])
    dvectors = np.split(model.loss_function.backward(1.0, tape), ends[:-1])

    def through(number: int, tape: Tape) -> TaskLoss:
        start = 0
        for piece in cut[number]:
            stop = start + piece.batch_shape[0]
            if not keeps:
                model(piece, tape)
            model.backward(dvectors[number][start:stop], tapes.pop(number) if keeps else tape)
            start = stop
        return TaskLoss(loss, (loss,), ())

    return through
