"""Exercise 12: masking. Facts of single calls, then shares of many; with the line that makes it, where one does.

What is wanted comes from the text of the exercise and from the library, and never from the answer.
"""

import ast
import itertools
import linecache
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data import SPECIAL_TOKENS, Vocabulary, load_dialogue, mask_words
from npbert.learn.blank import Blank
from npbert.learn.exercises.masking_calls import KINDS, Draws
from npbert.learn.failure import file_of
from npbert.learn.verdict import Verdict

SIGMAS = 6
"""The allowed deviation of a share by chance."""

SAMPLES: tuple[dict[str, Any], ...] = (
    {"vocabulary": load_dialogue(9).vocabulary, "calls": 1000, "probability": 0.4, "max_predictions": 9},
    {"vocabulary": Vocabulary([*SPECIAL_TOKENS, *"ab"]), "calls": 400, "probability": 1.0, "max_predictions": 99},
)
"""The words of the toy dialogue, and two letters, where a random word often is the true one."""

Fact = tuple[str, str, int]
"""Something that is not as wanted: the key of its reason, a sentence, and the line that makes it, or 0."""


def facts_of_calls(draws: Draws) -> Iterator[Fact]:
    """Yield what is wrong in single calls, each at the first place. What comes later may only follow from it."""
    ids, chosen, words = draws.ids, draws.chosen, draws.words
    for (call,) in _first(chosen.sum(axis=1) != draws.count):
        line, places = draws.choice(call)
        line = line or draws.line_of("labels", call, range(len(ids)))
        yield "count", f"{places}, wanted {draws.count}, which is count", line
    for call, place in _first(chosen & ~draws.is_word):
        line, _ = draws.choice(call)
        says = f"input_ids[{place}] is chosen, but it is {words.tokens[ids[place]]}"
        yield "special", says, line or draws.line_of("labels", call, [place])
    for reason, result, wrong, wanted in (
        ("label", "labels", chosen & (draws.labels != ids), f"{{}}, which is input_ids[{{}}], or {IGNORED}"),
        ("changed", "masked", ~chosen & (draws.masked != ids), f"{{}}, as labels[{{}}] is {IGNORED}"),
        (
            "unknown",
            "masked",
            chosen & ~np.isin(draws.masked, [words.mask_id, *words.word_ids]),
            f"{words.mask_id}, which is [MASK], or one of vocabulary.word_ids",
        ),
    ):
        for call, place in _first(wrong):
            found = getattr(draws, result)[call, place]
            says = f"{result}[{place}] is {found}, wanted {wanted.format(ids[place], place)}"
            yield reason, says, draws.line_of(result, call, [place])


def facts_of_shares(draws: Draws) -> Iterator[Fact]:
    """Yield the shares that chance does not explain, for draws that are right in all else."""
    is_word, words, count, number = draws.is_word, draws.words, draws.count, draws.is_word.sum()
    other = 0.1 * (1 - 1 / len(words.word_ids))
    mix = _shares(draws.kinds[draws.chosen], range(len(KINDS)))
    for (kind,), found, wanted in _far(mix, np.array([0.8, other, 0.2 - other]), draws.chosen.sum()):
        yield "mix", f"{found} of the chosen words become {KINDS[kind]}, wanted {wanted}", 0

    pairs = np.outer(is_word, is_word) * (count * (count - 1) / (number * (number - 1)))
    for reason, happens, share in (("chosen", draws.chosen, 1.0), ("[MASK]", draws.kinds == 0, 0.8)):
        expected = share**2 * pairs
        np.fill_diagonal(expected, share * is_word * count / number)  # each place
        together = happens.T.astype(float) @ happens / len(happens)
        for (one, two), found, wanted in _far(together, expected, len(happens)):
            places = f"input_ids[{one}] is" if one == two else f"input_ids[{one}] and input_ids[{two}] are both"
            line = draws.choice(0)[0] if reason == "chosen" else 0
            yield reason, f"{places} {reason} in {found} of the calls, wanted {wanted}", line

    is_random = draws.kinds == 1
    others, ((call, place),) = draws.masked[is_random], _first(is_random)
    line = draws.line_of("masked", call, [place])
    likely = 1 - _shares(draws.ids[is_word], words.word_ids)  # a random word that is the true one does not show
    for (index,), found, wanted in _far(_shares(others, words.word_ids), likely / likely.sum(), len(others)):
        token = words.tokens[words.word_ids[index]]
        yield "random", f"{found} of the random words, except true ones, are {token!r}, wanted {wanted}", line
    for _, found, wanted in _far(_shares(np.diff(others), [0]), 1 / np.array([len(words.word_ids)]), len(others) - 1):
        yield "random", f"a random word is the same as the one before in {found} of the cases, wanted {wanted}", line


def _shares(values: Array, kinds: Iterable[int]) -> Array:
    """Return the share of each kind."""
    return np.array([np.mean(values == kind) for kind in kinds])


def _first(wrong: Array) -> list[tuple[int, ...]]:
    """Return the first place where it is True, if there is one."""
    return [tuple(map(int, place)) for place in np.argwhere(wrong)[:1]]


def _far(found: Array, wanted: Array, cases: int) -> Iterator[tuple[tuple[int, ...], str, str]]:
    """Yield the first share that chance does not explain, with its place and what is wanted, in percent."""
    by_chance = SIGMAS * np.sqrt(wanted * (1 - wanted) / cases) + 1e-9
    for place in _first(np.abs(found - wanted) > by_chance):
        yield place, f"{100 * found[place]:.1f} %", f"{100 * wanted[place]:.1f} %"


class MaskingBlank(Blank):
    """mask_words, which draws: its facts are tested, and not its numbers."""

    def prove(self, thing: Any, node: ast.stmt | None = None) -> Verdict | None:
        """Return the verdict on the first fact that is not as wanted. Raises: as Draws."""
        for sample in SAMPLES:
            draws = Draws(thing, **sample)
            for reason, says, line in itertools.chain(facts_of_calls(draws), facts_of_shares(draws)):
                where = f"Line {line}" if line else "The result"
                code = linecache.getline(file_of(thing), line).strip()
                shown = f"{line:>4}:  {code}" if code else ""
                return Verdict(f"{where}: {says}.").because_of(shown, self.entries("reasons")[reason])
        return None


BLANK = MaskingBlank(right=mask_words, given=5, seeds=())
