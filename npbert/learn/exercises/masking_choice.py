"""Exercise 12: what is wrong with the choice of the words that are asked for."""

from __future__ import annotations

import numpy as np

from npbert.compute import Array
from npbert.learn.exercise import Finding
from npbert.learn.exercises import masking_findings as says
from npbert.learn.exercises.masking_draws import CALLS, MOST, OTHERS, PROBABILITY, Draws, is_off


def wrong_choice(draws: Draws) -> Finding | None:
    """Where a place may not be chosen, or not so often; or where the number of places is wrong."""
    chosen = draws.chosen
    if chosen[:, draws.ids == draws.pad_id].any():
        return says.PADDING_CHOSEN
    if chosen[:, ~draws.is_word].any():
        is_begin = np.arange(len(draws.ids)) < draws.is_word.sum()
        return says.NUMBERS_FOR_PLACES if (chosen.any(axis=0) == is_begin).all() else says.SPECIAL_CHOSEN
    counts = chosen.sum(axis=1)
    is_first = np.isin(np.arange(len(draws.ids)), np.unique(draws.ids, return_index=True)[1])
    if (chosen.any(axis=0) == (draws.is_word & is_first)).all():
        return says.FIRST_OF_EQUALS
    if (counts != draws.wanted).any() or draws.counts != [count for *_, count in OTHERS]:
        return _wrong_count(draws, counts)
    return _not_by_chance(chosen[:, draws.is_word], draws.wanted)


def _not_by_chance(among: Array, wanted: int) -> Finding | None:
    """Whether the candidates are chosen equally often, and each on its own. among: which are, in each call."""
    if (among == among[0]).all():
        return says.SAME_PLACES
    count = among.shape[1]
    share = wanted / count
    if is_off(among.mean(axis=0), share, len(among)).any():
        never = np.flatnonzero(~among.any(axis=0))
        return _one_run(among) or (_never_chosen(never, count) if len(never) else says.NOT_EVENLY)
    together = among.T.astype(float) @ among / len(among)
    share *= (wanted - 1) / (count - 1)
    if is_off(together[~np.eye(count, dtype=bool)], share, CALLS).any():
        return _one_run(among) or says.NOT_ON_THEIR_OWN
    return None


def _one_run(among: Array) -> Finding | None:
    """Whether the chosen are neighbours among the candidates, where the last is followed by the first."""
    begins = (among & ~np.roll(among, 1, axis=1)).sum(axis=1)
    return says.ONE_RUN if (begins == 1).all() else None


def _never_chosen(never: Array, count: int) -> Finding:
    which = f"{len(never)} of the {count} candidates {'is' if len(never) == 1 else 'are'}"
    for end, numbers in (("first", range(len(never))), ("last", range(count - len(never), count))):
        if never.tolist() == list(numbers):
            which = f"the {end} of the {count} candidates is" if len(never) == 1 else f"the {end} {which}"
    return Finding(f"{which[:1].upper()}{which[1:]} never chosen.", says.NOT_EVENLY.because)


def _wrong_count(draws: Draws, counts: Array) -> Finding:
    """What is true of how many are chosen. counts: in each call; draws.counts: in the calls of OTHERS."""
    words = int(draws.is_word.sum())
    if counts.min() < counts.max():
        with_replacement = words * (1 - (1 - 1 / words) ** draws.wanted)  # so many different ones, on average
        is_that = abs(counts.mean() - with_replacement) < 0.12 and counts.max() <= draws.wanted
        return says.REPEATED if is_that else says.COUNT
    found = [int(counts[0]), *draws.counts]
    calls = [(PROBABILITY, MOST, draws.wanted), *OTHERS]
    wanted = [count for *_, count in calls]
    shown = ", ".join(f"{given} where `count` is {count}" for given, count in zip(found, wanted, strict=True))
    causes = {
        "That is always one fewer.": [count - 1 for count in wanted],
        "That is always one more.": [min(count + 1, words) for count in wanted],
        "All candidates are.": [words] * len(calls),
        "That is probability times the number of candidates; `count` is worked out already.": [
            max(1, round(probability * words)) for probability, *_ in calls
        ],
        "That is probability times the number of candidates, and at most max_predictions; `count` is worked out "
        "already, from the length of the whole sequence.": [
            min(max(1, round(probability * words)), most) for probability, most, _ in calls
        ],
        "That does not heed max_predictions; `count`, which is worked out already, does.": [
            min(max(1, round(probability * len(draws.ids))), words) for probability, *_ in calls
        ],
        "That is max_predictions; `count` is worked out already.": [min(most, words) for _, most, _ in calls],
        "That is 80 % of `count`: those that become [MASK]. A random word and one that stays have labels, too.": [
            round(0.8 * count) for count in wanted
        ],
        "That is 90 % of `count`: those that change. Words that stay as they are have labels, too.": [
            round(0.9 * count) for count in wanted
        ],
        "The number seems to be fixed; `count` differs from call to call.": [found[0]] * len(calls),
    }
    cause = next((f" {text}" for text, numbers in causes.items() if numbers == found), "")
    return Finding(
        "The wrong number of words is chosen.",
        f"In some calls: {shown}.{cause} rng.choice(candidates, size=count, replace=False) gives `count` places.",
    )
