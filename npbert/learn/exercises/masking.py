"""Exercise 12: which words are hidden, and what takes their place; judged by what comes out of many draws."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data import Vocabulary, load_dialogue
from npbert.data.masking import mask_words
from npbert.learn.exercise import CHAPTERS, Exercise, Message, Part

TEXT = """
BERT learns from text alone: some words are hidden, and it has to guess them. This is not a backward, but much of what
BERT can do comes from how it is done.

Of the words that are chosen, 80 % become [MASK]. 10 % become a random word, and 10 % stay as they are: the model is
asked for them, too, and cannot know which words it will be asked for, so it keeps a good vector for every one. The
label of a chosen word is its true id; all other labels are −100 (IGNORED), and no loss is computed there.
"""
ASKED = """
Return (masked, labels), two lists or arrays as long as input_ids, which stays as it is.

candidates: the places of ordinary words, which may be chosen (never [CLS], [SEP] or [PAD]).
count: how many to choose

For the random word: vocabulary.word_ids, an array of all ordinary words. For [MASK]: vocabulary.mask_id. Draw from
rng alone. whole_words may be left out: it is False here.
"""
HINTS = """
rng.choice(candidates, size=count, replace=False) gives `count` different places. Copy the ids first: masked =
list(input_ids).

For each chosen place, draw one number with rng.random(), and compare it twice: below 0.8 it is [MASK], below 0.9 a
random word, else the word stays.

labels = [IGNORED] * len(input_ids); for place in chosen: labels[place] = input_ids[place]; draw = rng.random();
masked[place] = mask_id if draw < 0.8, int(rng.choice(vocabulary.word_ids)) if draw < 0.9.
"""
CALLS, SIGMAS = 1500, 6
"""So many calls, and so far a share of them may be off by chance."""

COUNTED = ((0.4, 9, 9), (0.4, 20, 11), (0.2, 20, 6), (1.0, 99, 21))
"""probability, max_predictions and `count` of calls."""
CHOICE = "rng.choice(candidates, size=count, replace=False) gives `count` different places, all with the same chance."
LABELS = "The label of a word that is chosen is its true id, input_ids[place]; all others are IGNORED, −100."
SHARES = "Draw one number for each chosen word: below 0.8 it is [MASK], from there to 0.9 a random word, else it stays."
WORDS = "It is any ordinary word, drawn anew for each place, all equally likely: rng.choice(vocabulary.word_ids)."


@dataclass(frozen=True)
class Asked:
    """mask_words and what it is given."""

    thing: Any
    vocabulary: Vocabulary
    ids: list[int]

    def __call__(self, seed: int, probability: float, most: int) -> tuple[Any, list[int]]:
        """What is returned, and the list that was given, after the call."""
        given, rng = list(self.ids), np.random.default_rng(seed)
        return self.thing(given, self.vocabulary, rng, probability=probability, max_predictions=most), given

    def drawn(self, calls: int, probability: float, most: int) -> tuple[Array, Array]:
        """masked and labels of so many calls, (calls, T)."""
        results = [self(seed, probability, most)[0] for seed in range(calls)]
        masked, labels = (np.array([list(map(int, result[part])) for result in results]) for part in (0, 1))
        return masked, labels


def judge(thing: Any) -> Message | None:
    """The first promise of mask_words that is broken, measured beside what is wanted."""
    words = load_dialogue(9).vocabulary
    ids = [int(word) for word in words.word_ids]
    ids = [words.cls_id, *ids[:12], words.sep_id, *ids[5:14], words.sep_id, *[words.pad_id] * 4]
    ask = Asked(thing, words, ids)
    few = Vocabulary("ab")  # of two words, a random one is now and then the true one
    two = Asked(thing, few, [few.cls_id, *few.word_ids.tolist() * 6, few.sep_id])
    found = wrong_form(ask) or wrong_count(ask)
    if found:
        return found
    masked, labels = ask.drawn(CALLS, *COUNTED[0][:2])
    found = wrong_labels(np.array(ids), masked, labels) or next(wrong_choice(words, np.array(ids), labels), None)
    for each, calls, options in ((ask, CALLS, COUNTED[0][:2]), (two, 600, (1.0, 99))):
        found = found or next(wrong_words(each.vocabulary, np.array(each.ids), *each.drawn(calls, *options)), None)
    return found


def wrong_form(ask: Asked) -> Message | None:
    """The message on the shape and types of the result; and on what is drawn, if not from rng."""
    (probability, most, _), length = COUNTED[0], len(ask.ids)
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
    again, *others = ([list(part) for part in ask(seed, probability, most)[0]] for seed in range(9))
    if again != [list(part) for part in result]:
        says = "The same generator gives another result the second time."
        return Message(says, "Draw from rng alone, and not from np.random or a generator of your own.")
    if all(other == again for other in others):
        return Message("Whatever the generator, the result is the same.", "Draw from rng: it is another in each call.")
    return None


def wrong_count(ask: Asked) -> Message | None:
    """The message on how many places have a label."""
    for probability, most, wanted in COUNTED:
        found = {int(np.sum(np.asarray(ask(seed, probability, most)[0][1]) != IGNORED)) for seed in range(60)}
        if found != {wanted}:
            shown = f"from {min(found)} to {max(found)}" if len(found) > 1 else str(min(found))
            says = f"In some calls {shown} of the {len(ask.ids)} places have a label, wanted {wanted} each time."
            each = "Each of them has a label, even where its word stays as it is."
            return Message(says, f"`count` is {wanted} there. {CHOICE} {each} {LABELS}")
    return None


def wrong_labels(ids: Array, masked: Array, labels: Array) -> Message | None:
    """The message where a label is not the true word, or where something is replaced without one."""
    chosen = labels != IGNORED
    for wrong, says in (
        (chosen & (labels != ids), "Some labels are not the true word."),
        (~chosen & (masked != ids), "Some words are replaced, and have no label."),
    ):
        if wrong.any():
            call, place = np.argwhere(wrong)[0]
            now, label, true = masked[call, place], labels[call, place], ids[place]
            example = f"At place {place}, where {true} was, masked has {now}, and the label is {label}."
            return Message(says, f"{example} {LABELS}")
    return None


def wrong_choice(vocabulary: Vocabulary, ids: Array, labels: Array) -> Iterator[Message]:
    """Messages where the candidates are not chosen equally often, each on its own, or where something else is."""
    is_word, chosen = vocabulary.is_word[ids], labels != IGNORED
    if chosen[:, ~is_word].any():
        yield Message("[CLS], [SEP] or [PAD] is chosen for masking.", f"There is nothing to guess. {CHOICE}")
    among = chosen[:, is_word].astype(float)
    (calls, number), count = among.shape, among[0].sum()
    share = count / number
    yield from off("Not every candidate is chosen equally often.", among.mean(axis=0), share, calls, CHOICE)
    together = (among.T @ among / calls)[~np.eye(number, dtype=bool)]
    share *= (count - 1) / (number - 1)
    yield from off("The words are not chosen on their own, but two of them together.", together, share, calls, CHOICE)


def wrong_words(vocabulary: Vocabulary, ids: Array, masked: Array, labels: Array) -> Iterator[Message]:
    """Messages on what takes the place of a word: [MASK], any ordinary word or the word itself, by chance each."""
    words, chosen = vocabulary.word_ids, labels != IGNORED
    is_mask = chosen & (masked == vocabulary.mask_id)
    is_other = chosen & ~is_mask & (masked != ids)
    others = masked[is_other]
    if not np.isin(others, words).all():
        yield Message("What is put in the place of a word may be no ordinary word, but [CLS] or [PAD], say.", WORDS)
    size = int(words.max()) + 1
    of_label = np.bincount(labels[chosen], minlength=size)[words] / chosen.sum()
    wanted = (1 - of_label) / (1 - of_label).sum()  # a word that is the true one does not show
    shares = np.array([np.mean(part[chosen]) for part in (is_mask, is_other, masked == ids)])
    other = 0.1 * (1 - 1 / len(words))
    if len(others) > len(chosen) / 3:
        times = np.bincount(others, minlength=size)[words] / len(others)
        yield from off("As the random word, not all words are drawn equally often.", times, wanted, len(others), WORDS)
        several = [set(row[at]) for row, at in zip(masked, is_other, strict=True) if at.sum() > 1]
        if len(several) > 50 and all(len(each) == 1 for each in several):
            yield Message("All random words of a call are the same one.", WORDS)
    says = "The shares of [MASK], another word and the word itself are not 80, 10 and 10 %."
    by_chance = f"With {len(words)} words in all, a random one is the true one in {1 / len(words):.0%} of all cases."
    yield from off(says, shares, np.array([0.8, other, 0.2 - other]), chosen.sum(), f"{by_chance} {SHARES}")
    masks = is_mask.sum(axis=1)
    if not 0.7 < masks.var() / (0.8 * 0.2 * chosen[0].sum()) < 1.4:
        says = f"Of the words of a call {masks.min()} to {masks.max()} become [MASK], which is not as chance has it."
        yield Message(says, SHARES)
    times = chosen.sum(axis=0)
    of_place = is_mask.sum(axis=0)[times > 0] / times[times > 0]
    yield from off("Whether a word becomes [MASK] depends on its place.", of_place, 0.8, times[times > 0], SHARES)


def off(says: str, found: Array, wanted: Any, count: Any, because: str) -> Iterator[Message]:
    """The message, if a share is farther from the wanted one than chance allows. count: the cases it is a share of."""
    wanted = np.broadcast_to(wanted, found.shape)
    if (np.abs(found - wanted) <= SIGMAS * np.sqrt(wanted * (1 - wanted) / count) + 1e-9).all():
        return
    pairs = [f"{one:.1%}, wanted {of:.1%}" for one, of in zip(found, wanted, strict=True)]
    among = f"from {found.min():.1%} to {found.max():.1%}, wanted about {wanted.mean():.1%} for each"
    yield Message(says, f"Found {'; '.join(pairs) if len(pairs) < 4 else among}. {because}")


PART = Part(right=mask_words, asked=ASKED, given=5, seeds=(), prove=judge)
EXERCISE = Exercise("masking, 80/10/10", CHAPTERS[7], TEXT, HINTS, (PART,), uses=("IGNORED",))
