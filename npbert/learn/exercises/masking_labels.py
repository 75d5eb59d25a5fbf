"""Exercise 12: what is wrong with the labels."""

from __future__ import annotations

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.learn.exercise import Finding
from npbert.learn.exercises import masking_findings as says
from npbert.learn.exercises.masking_draws import Draws, is_off


def wrong_labels(draws: Draws) -> Finding | None:
    """Where a label is not the true word, or stands where none should be, or is missing."""
    chosen, is_replaced = draws.chosen, draws.masked != draws.ids
    if (draws.labels[chosen] != draws.true[chosen]).any():
        return _wrong_label(draws)
    if chosen.all() or ((chosen == draws.is_word).all() and is_replaced.sum(axis=1).max() <= draws.wanted):
        return says.LABELS_EVERYWHERE
    if (is_replaced & ~chosen).any():
        call, place = np.argwhere(is_replaced & ~chosen)[0]
        there = f"In one call {draws.masked[call, place]} stands in the place of {draws.ids[place]}, at place {place}"
        return says.REPLACED_WITHOUT_LABEL._replace(
            because=f"{there}, whose label is IGNORED. {says.REPLACED_WITHOUT_LABEL.because}"
        )
    return says.NO_LABEL if _only_the_changed(draws) else None


def _wrong_label(draws: Draws) -> Finding:
    """What stands in the place of true words, or of IGNORED."""
    chosen, labels, values = draws.chosen, draws.labels, draws.labels[draws.chosen]
    if (values == draws.masked[chosen]).all():
        return says.LABEL_OF_MASKED
    if (draws.masked == IGNORED).any():
        return says.LISTS_SWAPPED
    others, counts = np.unique(labels[labels != draws.ids], return_counts=True)
    other = others[counts.argmax()]
    if chosen.all() and len(others) == 1:
        return Finding(
            f"Words that were not chosen have the label {other}, and should have IGNORED, {IGNORED}.",
            "labels = [IGNORED] * len(input_ids) at the beginning. A loss is computed for every other label.",
        )
    if len(np.unique(values)) == 1:
        return Finding(
            f"Every label is {values[0]}, and should be the true id of its word.",
            "labels[place] = input_ids[place]: the model is asked which word stood there.",
        )
    if (values == np.broadcast_to(np.arange(chosen.shape[1]), chosen.shape)[chosen]).all():
        return says.LABEL_IS_THE_PLACE
    if (draws.masked == draws.ids).all() and (values == draws.mask_id).any():
        return says.STAND_INS_AMONG_LABELS
    for by, which in ((1, "next"), (-1, "previous")):
        if (values == np.roll(draws.true, -by, axis=1)[chosen]).all():
            return Finding(
                f"The labels are those of the {which} words: each is one place off.",
                "Labels stand where their words stand: labels[place] = input_ids[place], with the same place on both "
                "sides. (A model that guesses the next word has them shifted; BERT guesses the word itself.)",
            )
    return _an_example(draws)


def _an_example(draws: Draws) -> Finding:
    call, place = np.argwhere(draws.chosen & (draws.labels != draws.ids))[0]
    label, masked = draws.labels[call, place], draws.masked[call, place]
    return says.LABEL_NOT_TRUE._replace(
        because=f"In one call the label at place {place} is {label}, where the true id is {draws.ids[place]}; what "
        f"stands there now is {masked}. {says.LABEL_NOT_TRUE.because}"
    )


def _only_the_changed(draws: Draws) -> bool:
    """Whether of `count` words 80 % are [MASK], 10 % random ones, and no other has a label."""
    chosen, drawn = draws.chosen, draws.wanted * len(draws.chosen)
    found: Array = np.array([draws.is_mask.sum(), (chosen & ~draws.is_mask).sum()]) / drawn
    stays = ((draws.masked == draws.ids) & chosen).sum() / drawn  # some random words are the true ones
    counts = chosen.sum(axis=1)
    is_that = not is_off(found, np.array([0.8, 0.1]), drawn).any() and stays < 0.02
    return is_that and bool(counts.min() < counts.max() <= draws.wanted)
