"""Exercise 12: which words are hidden, and what stands in their place; judged by what comes out of many draws."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data import Vocabulary, load_dialogue
from npbert.data.masking import mask_words
from npbert.learn.exercise import CHAPTERS, Exercise, Message, Section
from npbert.learn.source import Blank

TEXT = """
BERT learns from text alone: some words are hidden, and it has to guess them. This is not a backward, but much of what
BERT can do comes from how it is done.

Of the words that are chosen, 80 % become [MASK]. 10 % become a random word, and 10 % stay as they are: the model is
asked for them, too, and cannot know which words it will be asked for, so it keeps a good vector for every one. The
label of a chosen word is its true id; all other labels are −100 (IGNORED), and no loss is computed there.
"""
BLANK = Blank(
    "mask_words",
    """Return (masked, labels), two lists or arrays as long as input_ids, which stays as it is.

    candidates: the places of ordinary words, which may be chosen (never [CLS], [SEP] or [PAD]).
    count: how many to choose

    For the random word: vocabulary.word_ids, an array of all ordinary words. For [MASK]: vocabulary.mask_id. Draw from
    rng alone. whole_words may be left out: it is False here.
    """,
    given=5,
)
HINTS = (
    "rng.choice(candidates, size=count, replace=False) gives `count` different places. Copy the ids first: "
    "masked = list(input_ids).",
    "For each chosen place, draw one number with rng.random(), and compare it twice: below 0.8 it is [MASK], below "
    "0.9 a random word, else the word stays.",
    "labels = [IGNORED] * len(input_ids); for place in chosen: labels[place] = input_ids[place]; draw = rng.random(); "
    "masked[place] = mask_id if draw < 0.8, int(rng.choice(vocabulary.word_ids)) if draw < 0.9.",
)
CALLS, SIGMAS = 1500, 6
"""So many calls, and so far a share of them may be off by chance."""

_COUNTED = ((0.4, 9, 9), (0.4, 20, 11), (0.2, 20, 6), (1.0, 99, 21))
"""probability, max_predictions and `count` of calls."""
_CHOICE = "rng.choice(candidates, size=count, replace=False) gives `count` different places, all with the same chance."
_LABELS = "The label of a word that is chosen is its true id, input_ids[place]; all others are IGNORED, −100."
_SHARES = (
    "Draw one number for each chosen word: below 0.8 it is [MASK], from there to 0.9 a random word, else it stays."
)
_WORDS = "It is any ordinary word, drawn anew for each place, all equally likely: rng.choice(vocabulary.word_ids)."


@dataclass(frozen=True)
class Draws:
    """The results of many calls, (calls, T) each: the ids, the labels, and which places have a label."""

    vocabulary: Vocabulary
    ids: Array
    masked: Array
    labels: Array
    chosen: Array

    def shares(self) -> Array:
        """Of the chosen, how many are [MASK], another word, and the word itself."""
        is_mask, stays = self.masked == self.vocabulary.mask_id, self.masked == self.ids
        return np.array([(of & self.chosen).sum() for of in (is_mask, ~is_mask & ~stays, stays)]) / self.chosen.sum()


class MaskingPart(Section):
    """mask_words, judged by its draws."""

    def judge(self, thing: Any) -> Message | None:
        """The first promise of mask_words that is broken, measured beside what is wanted."""
        words = load_dialogue(9).vocabulary
        ids = [int(word) for word in words.word_ids]
        ids = [words.cls_id, *ids[:12], words.sep_id, *ids[5:14], words.sep_id, *[words.pad_id] * 4]
        ask = _Asked(thing, words, ids)
        found = _wrong_form(ask) or _wrong_count(ask)
        if found:
            return found
        draws = ask.draws(CALLS, *_COUNTED[0][:2])
        found = _wrong_labels(draws) or _wrong_choice(draws) or _wrong_words(draws) or _wrong_shares(draws)
        few = Vocabulary("ab")  # of two words, a random one is now and then the true one
        two = _Asked(thing, few, [few.cls_id, *few.word_ids.tolist() * 6, few.sep_id])
        return found or _wrong_shares(two.draws(600, 1.0, 99))


@dataclass(frozen=True)
class _Asked:
    """mask_words and what it is given."""

    thing: Any
    vocabulary: Vocabulary
    ids: list[int]

    def __call__(self, seed: int, probability: float, most: int) -> tuple[Any, list[int]]:
        """The returned values, and the contents of the given list after the call."""
        given, rng = list(self.ids), np.random.default_rng(seed)
        return self.thing(given, self.vocabulary, rng, probability=probability, max_predictions=most), given

    def draws(self, calls: int, probability: float, most: int) -> Draws:
        results = [self(seed, probability, most)[0] for seed in range(calls)]
        masked, labels = (np.array([list(map(int, result[part])) for result in results]) for part in (0, 1))
        return Draws(self.vocabulary, np.array(self.ids), masked, labels, labels != IGNORED)


def _wrong_form(ask: _Asked) -> Message | None:
    """Judge the shape and types of the result; and that nothing but rng is drawn from."""
    (probability, most, _), length = _COUNTED[0], len(ask.ids)
    result, given = ask(0, probability, most)
    if result is None:
        return Message("Nothing is returned.", "Wanted two lists: does it end with `return masked, labels`?")
    lengths = [np.shape(part) for part in result] if isinstance(result, tuple | list) else []
    if lengths != [(length,)] * 2:
        return Message(
            "mask_words should return two lists, masked and labels, each as long as input_ids.",
            f"Found the shapes {lengths}, wanted twice {(length,)}. What is not chosen has an entry, too.",
        )
    for name, part in zip(("masked", "labels"), result, strict=True):
        if np.asarray(part).dtype.kind not in "iu":
            return Message(
                f"{name} holds {np.asarray(part).dtype}, wanted whole numbers: an id is one.",
                "np.zeros and np.full make floats, unless they are given whole numbers or dtype=int.",
            )
    if given != ask.ids:
        return Message(
            "input_ids itself is changed: the next epoch begins with words that are hidden or replaced already.",
            "The list belongs to the caller. Write into a copy: masked = list(input_ids).",
        )
    other = [[list(part) for part in ask(seed, probability, most)[0]] for seed in range(9)]
    if other[0] != [list(part) for part in result]:
        says = "The same generator gives another result the second time."
        return Message(says, "Draw from rng alone, and not from np.random or a generator of your own.")
    if all(each == other[0] for each in other):
        return Message("Whatever the generator, the result is the same.", "Draw from rng: it is another in each call.")
    return None


def _wrong_count(ask: _Asked) -> Message | None:
    """Judge how many places have a label."""
    for probability, most, wanted in _COUNTED:
        found = {int(np.sum(np.asarray(ask(seed, probability, most)[0][1]) != IGNORED)) for seed in range(60)}
        if found != {wanted}:
            shown = f"from {min(found)} to {max(found)}" if len(found) > 1 else str(min(found))
            says = f"In some calls {shown} of the {len(ask.ids)} places have a label, wanted {wanted} each time."
            each = "Each of them has a label, even where its word stays as it is."
            return Message(says, f"`count` is {wanted} there. {_CHOICE} {each} {_LABELS}")
    return None


def _wrong_labels(draws: Draws) -> Message | None:
    """Judge that each label is the true word, and that nothing is replaced without one."""
    for wrong, says in (
        (draws.chosen & (draws.labels != draws.ids), "Some labels are not the true word."),
        (~draws.chosen & (draws.masked != draws.ids), "Some words are replaced, and have no label."),
    ):
        if wrong.any():
            call, place = np.argwhere(wrong)[0]
            stands, label, true = draws.masked[call, place], draws.labels[call, place], draws.ids[place]
            example = f"At place {place}, where {true} stood, masked has {stands}, and the label is {label}."
            return Message(says, f"{example} {_LABELS}")
    return None


def _wrong_choice(draws: Draws) -> Message | None:
    """Judge that the candidates are chosen equally often, each on its own, and nothing else is."""
    is_word, calls = draws.vocabulary.is_word[draws.ids], len(draws.chosen)
    if draws.chosen[:, ~is_word].any():
        return Message("[CLS], [SEP] or [PAD] is chosen for masking.", f"There is nothing to guess. {_CHOICE}")
    among = draws.chosen[:, is_word]
    number, wanted = among.shape[1], int(among[0].sum())
    share = wanted / number
    each = among.mean(axis=0)
    if _is_off(each, share, calls).any():
        found = f"from {each.min():.0%} of the calls to {each.max():.0%}, wanted {share:.0%} for each"
        return Message("Not every candidate is chosen equally often.", f"They are chosen in {found}. {_CHOICE}")
    together = (among.T.astype(float) @ among / calls)[~np.eye(number, dtype=bool)]
    share *= (wanted - 1) / (number - 1)
    if _is_off(together, share, calls).any():
        found = f"Two are chosen together in {together.min():.0%} to {together.max():.0%} of the calls"
        return Message("The words are not chosen on their own.", f"{found}, wanted {share:.0%}. {_CHOICE}")
    return None


def _wrong_words(draws: Draws) -> Message | None:
    """Judge that the random words are ordinary ones, all of them, drawn anew for each place."""
    words = draws.vocabulary.word_ids
    drawn = draws.chosen & (draws.masked != draws.vocabulary.mask_id) & (draws.masked != draws.ids)
    found = draws.masked[drawn]
    if not np.isin(found, words).all():
        return Message("What is put in the place of a word may be no ordinary word, but [CLS] or [PAD], say.", _WORDS)
    if len(found) < CALLS / 3:
        return None
    times = np.bincount(found, minlength=int(words.max()) + 1)[words] / len(found)
    true = np.bincount(draws.labels[draws.chosen], minlength=int(words.max()) + 1)[words] / draws.chosen.sum()
    wanted = (1 - true) / (1 - true).sum()  # a word that is the true one does not show
    if _is_off(times, wanted, len(found)).any():
        says = f"Of {len(words)} words {np.count_nonzero(times)} are ever drawn as the random word"
        often = f"in {times.min():.1%} to {times.max():.1%} of all cases, wanted about {1 / len(words):.1%}"
        return Message(f"{says}, and not all equally often.", f"They are drawn {often}. {_WORDS}")
    several = [set(row[at]) for row, at in zip(draws.masked, drawn, strict=True) if at.sum() > 1]
    if len(several) > 50 and all(len(each) == 1 for each in several):
        return Message("All random words of a call are the same one.", _WORDS)
    return None


def _wrong_shares(draws: Draws) -> Message | None:
    """Judge that 80, 10 and 10 % are [MASK], a random word, and the word itself, by chance at each place."""
    number, chosen, found = len(draws.vocabulary.word_ids), int(draws.chosen.sum()), draws.shares()
    others = 0.1 * (1 - 1 / number)
    wanted = np.array([0.8, others, 0.2 - others])
    if _is_off(found, wanted, chosen).any():
        names = ("[MASK]", "another word", "the word itself")
        rows = [f"{name} {one:.1%}, wanted {of:.1%}" for name, one, of in zip(names, found, wanted, strict=True)]
        why = f"With {number} words in all, a random one is the true one in {1 / number:.0%} of all cases."
        return Message("The shares are not 80, 10 and 10 %.", f"{'; '.join(rows)}. {why} {_SHARES}")
    is_mask = (draws.masked == draws.vocabulary.mask_id) & draws.chosen
    masks, wanted_spread = is_mask.sum(axis=1), 0.8 * 0.2 * draws.chosen[0].sum()
    if not 0.7 < masks.var() / wanted_spread < 1.4:
        says = f"Of the words of a call {masks.min()} to {masks.max()} become [MASK], which is not as chance has it."
        return Message(says, f"The variance is {masks.var():.2f}, wanted {wanted_spread:.2f}. {_SHARES}")
    times = draws.chosen.sum(axis=0)
    of_place = is_mask.sum(axis=0)[times > 0] / times[times > 0]
    if _is_off(of_place, 0.8, times[times > 0]).any():
        found_there = f"{of_place.min():.0%} to {of_place.max():.0%}"
        return Message("Whether a word becomes [MASK] depends on its place.", f"It does in {found_there}. {_SHARES}")
    return None


def _is_off(found: Array, wanted: Any, count: Any) -> Array:
    """True if a share is farther from the wanted one than chance allows. count: the cases it is a share of."""
    return np.abs(found - wanted) > SIGMAS * np.sqrt(wanted * (1 - np.asarray(wanted)) / count) + 1e-9


PART = MaskingPart(right=mask_words, blank=BLANK)
EXERCISE = Exercise("masking, 80/10/10", CHAPTERS[7], TEXT, HINTS, (PART,), uses=("IGNORED",))
