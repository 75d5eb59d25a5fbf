"""Gradients that take less memory: a batch in parts, with the gradient that it has as a whole, and checkpointing."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from npbert.blocks import Encoder
from npbert.compute import Array
from npbert.core import IGNORED, Tape, named_parts
from npbert.data.batch import Batch
from npbert.training.parallel import ALONE, Shares, TreeSum


class StepLosses(NamedTuple):
    """The losses of one batch, each the mean over all of its targets; how many targets there were and how many right.

    Pre-training with sentence pairs has two of each, for words and for pairs; all else has one. In a regression nothing
    is right or wrong: None.
    """

    losses: tuple[float, ...]
    counts: tuple[int, ...]
    right: tuple[int, ...] | None

    @property
    def total(self) -> float:
        """The sum of the losses, which training makes small."""
        return sum(self.losses)


def accumulate(
    model: Any,
    batch: Batch,
    seed: Sequence[int] | None,
    *,
    parts: int = 1,
    shares: Shares | None = None,
) -> StepLosses:
    """Add the gradient of the loss of `batch` to the model's, computed in `parts` parts: one after another, of which
    only one at a time needs memory for what its layers keep; or by several processes, each of which has its own parts
    (then `shares.sum_gradients()` makes of all what the batch has as a whole).

    The gradients of the parts are added up as TreeSum does it, so they are the same bits with any number of processes.
    A process with one part needs memory for one gradient of the model's size, with 2 parts for two, with 4 for three.

    The loss of a batch is a mean over its N targets, so a part with n of them counts n/N. (A mean of the parts' own
    means would give a target more weight where there are few.) Each kind of loss has its own n and N.

    seed: where dropout is drawn from, for each part anew, from the seed and the number of the part; so it does not
    matter which process has it. None means no dropout.

    Raises: ValueError for more parts than sequences, and what the model's `loss` raises.
    """
    shares = shares or Shares(model, ALONE)
    communicator = shares.communicator
    pieces = [model.pack(piece) for piece in split(batch, parts)]
    counts = np.array([model.target_counts(piece) for piece in pieces])  # (parts, kinds)
    weights = (counts / counts.sum(axis=0)).tolist()  # n/N, as plain numbers, which keep the dtype of the model
    results, sums = [], TreeSum(len(pieces))
    for number in communicator.own(range(len(pieces))):
        if sums.waiting:
            shares.zero_gradients(apart=True)
        tape, weight = Tape(part_rng(seed, number)), weights[number]
        losses = model.loss(pieces[number], tape)
        model.loss_backward(tuple(weight) if len(weight) > 1 else weight[0], tape)
        tape.check_empty()
        results.append((list(map(float, losses.means)), losses.counts_right))
        sums.add((0, number), shares.gradients())
    shares.hold(sums)
    means, right = zip(*(result for theirs in communicator.gather(results) for result in theirs), strict=True)
    total = np.sum(np.multiply(weights, means), axis=0)  # in the order of the parts, whoever computed them
    all_right = None if None in right else tuple(np.sum(right, axis=0).tolist())
    return StepLosses(tuple(total.tolist()), tuple(counts.sum(axis=0).tolist()), all_right)


def part_rng(seed: Sequence[int] | None, number: int) -> np.random.Generator | None:
    """The generator that draws the dropout of the part with this number."""
    return None if seed is None else np.random.default_rng([*seed, number])


def split(batch: Batch, parts: int) -> list[Batch]:
    """The sequences of a batch in at most `parts` batches of about one size, each with something to predict.

    A batch of a class of one's own, with more arrays in it, is split into batches of that class.

    Raises: ValueError for more parts than sequences.
    """
    size = len(batch.input_ids)
    if not 1 <= parts <= size:
        raise ValueError(f"a batch of {size} sequences cannot be split into {parts} parts")
    arrays = {name: value for name, value in vars(batch).items() if value is not None}
    has_target = _have_targets(batch)
    order = np.argsort(~has_target, kind="stable")  # those with a target come first, and are dealt out like cards
    parts = min(parts, max(1, int(has_target.sum())))
    return [
        type(batch)(**{name: value[np.sort(order[start::parts])] for name, value in arrays.items()})
        for start in range(parts)
    ]


def _have_targets(batch: Batch) -> Array:
    """True for each sequence that has a label, or an answer, to predict (B,)."""
    has_target = np.ones(len(batch.input_ids), bool)
    for targets in (batch.labels, batch.start_positions):
        if targets is not None:
            has_target &= (targets != IGNORED).reshape(len(has_target), -1).any(axis=1)
    return has_target


def checkpoint_layers(model: Any) -> None:
    """Have every Encoder of a model compute its layers again on the way back. Raises: ValueError without one."""
    encoders = [part for _, part in named_parts(model) if isinstance(part, Encoder)]
    if not encoders:
        raise ValueError(f"gradient_checkpointing needs a model with an Encoder, and {type(model).__name__} has none")
    for encoder in encoders:
        encoder.gradient_checkpointing = True
