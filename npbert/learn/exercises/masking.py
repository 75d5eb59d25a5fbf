"""Exercise 12: which words are hidden, and what stands in their place."""

from __future__ import annotations

from npbert.data.masking import mask_words
from npbert.learn.chapters import chapter
from npbert.learn.exercise import Exercise
from npbert.learn.exercises.masking_judge import MaskingPart
from npbert.learn.exercises.masking_mistakes import WRONG
from npbert.learn.source import exercise_file, function_source

TEXT = """
BERT learns from text alone: some words are hidden, and it has to guess them. This is not a backward, but much of what
BERT can do comes from how it is done.

Of the words that are chosen, 80 % become [MASK]. 10 % become a random word, and 10 % stay as they are: the model is
asked for them, too, and cannot know which words it will be asked for, so it keeps a good vector for every one. The
label of a chosen word is its true id; all other labels are −100 (IGNORED), and no loss is computed there.
"""
BLANK = """Return (masked, labels), two lists or arrays as long as input_ids, which stays as it is.

candidates: the places of ordinary words, which may be chosen (never [CLS], [SEP] or [PAD]).
count: how many to choose

For the random word: vocabulary.word_ids, an array of all ordinary words. For [MASK]: vocabulary.mask_id. Draw from
rng alone. whole_words may be left out: it is False here.
"""
HINTS = (
    "rng.choice(candidates, size=count, replace=False) gives `count` different places. Copy the ids first: "
    "masked = list(input_ids).",
    "For each chosen place, draw one number with rng.random(), and compare it twice: below 0.8 it is [MASK], below "
    "0.9 a random word, else the word stays.",
    "labels = [IGNORED] * len(input_ids); for place in chosen: labels[place] = input_ids[place]; draw = rng.random(); "
    "masked[place] = mask_id if draw < 0.8, int(rng.choice(vocabulary.word_ids)) if draw < 0.9.",
)

EXERCISE = Exercise(
    number=12,
    slug="masking",
    title="masking, 80/10/10",
    chapter=chapter(7),
    hints=HINTS,
    parts=(MaskingPart(WRONG),),
    source=lambda: exercise_file(
        12, "masking, 80/10/10", chapter(7), TEXT, [function_source(mask_words, BLANK, given=5)], uses=["IGNORED"]
    ),
    blanks=("mask_words",),
)
