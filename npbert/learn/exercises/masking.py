"""Exercise 12: masking. Facts of single calls, then shares of many; with the line that makes it, where one does.

What is wanted comes from the text of the exercise and from the library, and never from the answer.
"""

import ast
import itertools
import linecache
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data import Vocabulary, load_dialogue
from npbert.data.masking import mask_words
from npbert.learn.blank import Blank
from npbert.learn.exercises.masking_calls import Sample, Traced, line_of
from npbert.learn.failure import file_of
from npbert.learn.verdict import Verdict

SIGMAS = 6
"""The allowed deviation of a share by chance."""
KINDS = "[MASK]", "another word", "the true word"


def _sample(vocabulary: Vocabulary, times: int, **options: Any) -> Sample:
    ids, pad = vocabulary.word_ids.tolist() * times, [vocabulary.pad_id] * 4
    text = [vocabulary.cls_id, *ids[:12], vocabulary.sep_id, *ids[5:14], vocabulary.sep_id, *pad]
    return Sample(vocabulary, text, **options)


SAMPLES = (
    _sample(load_dialogue(9).vocabulary, 1, probability=0.4, max_predictions=9, calls=1000),
    _sample(Vocabulary("ab"), 6, probability=1.0, max_predictions=99, calls=400),
)
"""The words of the toy dialogue, and two letters, where a random word often is the true one."""


class Draws:
    """All calls of an answer on a sample. chosen, kinds (calls, N): the places with a label; and for each the number
    in KINDS, or -1 elsewhere."""

    def __init__(self, sample: Sample, function: Any) -> None:
        self.sample, self.function, self.words = sample, function, sample.vocabulary
        self.ids, self.is_word = np.array(sample.ids), sample.vocabulary.is_word[sample.ids]
        self.masked, self.labels = sample.draws(function).swapaxes(0, 1)
        self.chosen, self.count = self.labels != IGNORED, sample.count()
        is_mask, is_same = self.masked == self.words.mask_id, self.masked == self.ids
        self.kinds = np.where(self.chosen, np.select([is_mask, is_same], [0, 2], 1), -1)

    def trace(self, call: int) -> Traced:
        """Return the lines that write the results of a call."""
        return self.sample.trace(self.function, call)

    def drawn_at(self, call: int, traced: Traced) -> tuple[int, int]:
        """Return the line where rng.choice draws the chosen places, and how many with repetitions; or (0, 0)."""
        places = set(np.flatnonzero(self.chosen[call]).tolist())
        return next(((line, len(drawn)) for line, drawn in traced.drawn if set(drawn) == places), (0, 0))


class Fact(NamedTuple):
    """Something that is not as wanted. reason: the key of its reason. line: that makes it, or 0."""

    reason: str
    says: str
    line: int = 0


def facts_of_calls(draws: Draws) -> Iterator[Fact]:
    """Yield what is wrong in single calls, each at the first place. What comes later may only follow from it."""
    ids, masked, labels = draws.ids, draws.masked, draws.labels
    for call, place in _first(draws.chosen & (labels != ids)):
        wanted = f"{ids[place]}, which is input_ids[{place}], or {IGNORED}"
        line = line_of(draws.trace(call).labels, place)
        yield Fact("label", f"labels[{place}] is {labels[call, place]}, wanted {wanted}", line)
    for (call,) in _first(draws.chosen.sum(axis=1) != draws.count):
        places, traced = np.flatnonzero(draws.chosen[call]).tolist(), draws.trace(call)
        line, drawn = draws.drawn_at(call, traced)
        if line:
            but = f", but only {len(places)} different ones" if len(places) < drawn else ""
            yield Fact("count", f"rng.choice draws {drawn} places{but}, wanted {draws.count}, which is count", line)
        changing = {line for line, _ in traced.labels[len(ids) :]}  # another line may take labels away
        writing = {line_of(traced.labels, place) for place in places}
        lines = writing if len(places) > draws.count else changing
        says = f"{len(places)} places have a label, wanted {draws.count}, which is count"
        yield Fact("count", says, lines.pop() if len(lines) == 1 else 0)
    for call, place in _first(draws.chosen & ~draws.is_word):
        traced = draws.trace(call)
        line, _ = draws.drawn_at(call, traced)
        says = f"input_ids[{place}] is chosen, but it is {draws.words.tokens[ids[place]]}"
        yield Fact("special", says, line or line_of(traced.labels, place))
    for call, place in _first(~draws.chosen & (masked != ids)):
        says = f"masked[{place}] is {masked[call, place]}, wanted {ids[place]}, as labels[{place}] is {IGNORED}"
        yield Fact("changed", says, line_of(draws.trace(call).masked, place))
    for call, place in _first(~np.isin(masked, [draws.words.mask_id, *draws.words.word_ids]) & draws.chosen):
        wanted = f"{draws.words.mask_id}, which is [MASK], or one of vocabulary.word_ids"
        line = line_of(draws.trace(call).masked, place)
        yield Fact("unknown", f"masked[{place}] is {masked[call, place]}, wanted {wanted}", line)


def facts_of_shares(draws: Draws) -> Iterator[Fact]:
    """Yield the shares that chance does not explain, for draws that are right in all else."""
    calls, is_word, words, number = len(draws.masked), draws.is_word, draws.words, draws.is_word.sum()
    other = 0.1 * (1 - 1 / len(words.word_ids))
    mix = np.array([np.sum(draws.kinds == kind) for kind in range(len(KINDS))]) / draws.chosen.sum()
    for (kind,), found, wanted in _far(mix, np.array([0.8, other, 0.2 - other]), draws.chosen.sum()):
        yield Fact("mix", f"{found} of the chosen words become {KINDS[kind]}, wanted {wanted}")

    both = np.outer(is_word, is_word) * (draws.count * (draws.count - 1) / (number * (number - 1)))
    np.fill_diagonal(both, is_word * draws.count / number)
    for places, found, wanted in _far(_together(draws.chosen), both, calls):
        line, _ = draws.drawn_at(0, draws.trace(0))
        yield Fact("chosen", f"{_named(places)} chosen in {found} of the calls, wanted {wanted}", line)
    both = 0.64 * both + 0.16 * np.diag(np.diag(both))
    for places, found, wanted in _far(_together(draws.kinds == 0), both, calls):
        yield Fact("together", f"{_named(places)} [MASK] in {found} of the calls, wanted {wanted}")

    others = draws.masked[draws.kinds == 1]
    # A random word that is the true one does not show.
    likely = 1 - np.array([np.mean(draws.ids[is_word] == word) for word in words.word_ids])
    drawn = np.array([np.mean(others == word) for word in words.word_ids])
    for (index,), found, wanted in _far(drawn, likely / likely.sum(), len(others)):
        token = words.tokens[words.word_ids[index]]
        yield Fact("random", f"{found} of the random words, except true ones, are {token!r}, wanted {wanted}")
    rows = [row[kinds == 1] for row, kinds in zip(draws.masked, draws.kinds, strict=True)]
    same = [row[0] == row[1] for row in rows if len(row) > 1]
    if len(words.word_ids) == 2 or not same:  # of two words, only the one that is not true shows
        return
    for _, found, wanted in _far(np.array([np.mean(same)]), np.array([1 / len(words.word_ids)]), len(same)):
        yield Fact("same", f"two random words of a call are the same in {found} of the cases, wanted {wanted}")


def _first(wrong: Array) -> list[tuple[int, ...]]:
    """Return the first place where it is True, if there is one."""
    return [tuple(map(int, place)) for place in np.argwhere(wrong)[:1]]


def _far(found: Array, wanted: Array, cases: int) -> Iterator[tuple[tuple[int, ...], str, str]]:
    """Yield the first share that chance does not explain, with its place and what is wanted, in percent."""
    by_chance = SIGMAS * np.sqrt(wanted * (1 - wanted) / cases) + 1e-9
    for place in _first(np.abs(found - wanted) > by_chance):
        yield place, f"{100 * found[place]:.1f} %", f"{100 * wanted[place]:.1f} %"


def _together(happens: Array) -> Array:
    """Return the share of calls in which both happen, for each two places; on the diagonal, for each place."""
    return happens.T.astype(float) @ happens / len(happens)


def _named(places: tuple[int, ...]) -> str:
    one, other = places
    return f"input_ids[{one}] is" if one == other else f"input_ids[{one}] and input_ids[{other}] are both"


class MaskingBlank(Blank):
    """mask_words, which draws: its facts are tested, and not its numbers."""

    def prove(self, thing: Any, node: ast.stmt | None = None) -> Verdict | None:
        """Return the verdict on the first fact that is not as wanted. Raises: as Sample.call."""
        for sample in SAMPLES:
            draws = Draws(sample, thing)
            for fact in itertools.chain(facts_of_calls(draws), facts_of_shares(draws)):
                where = f"Line {fact.line}" if fact.line else "The result"
                code = linecache.getline(file_of(thing), fact.line).strip()
                shown = f"{fact.line:>4}:  {code}" if code else ""
                return Verdict(f"{where}: {fact.says}.").because_of(shown, self.entries("reasons")[fact.reason])
        return None


BLANK = MaskingBlank(right=mask_words, given=5, seeds=())
