"""Exercise 12: what is said of a wrong masking."""

from __future__ import annotations

from npbert.learn.exercise import Finding

CALLERS_LIST = Finding(
    "input_ids itself is changed: the next epoch begins with words that are hidden or replaced already.",
    "The list belongs to the caller. Write into a copy: masked = list(input_ids).",
)
NOTHING_RETURNED = Finding("Nothing is returned.", "Wanted two lists: does it end with `return masked, labels`?")
NOT_TWO_LISTS = Finding(
    "mask_words should return two lists, masked and labels, each as long as input_ids.",
    "It ends with `return masked, labels`.",
)
OTHER_GENERATOR = Finding(
    "The same generator gives another result the second time.",
    "Draw from rng alone, and not from np.random or a generator of your own: a run that can be repeated can be mended.",
)
NOTHING_DRAWN = Finding(
    "Whatever the generator, the result is the same.",
    "Draw from rng: in each epoch other words should be hidden.",
)
LABELS_EVERYWHERE = Finding(
    "Words that were not chosen have a label, too.",
    "The model would be asked for words that it can see. Only the chosen have a label; all others have IGNORED, −100.",
)
LABEL_OF_MASKED = Finding(
    "The labels hold what stands there now, [MASK] say, and should hold the true words.",
    "Keep the true id before it is replaced: labels[place] = input_ids[place].",
)
LABEL_IS_THE_PLACE = Finding(
    "Each label is the place of its word, and should be the id of the true word.",
    "`place` says where the word stands; which word it is, is input_ids[place].",
)
STAND_INS_AMONG_LABELS = Finding(
    "Nothing is replaced in masked: [MASK] and the random words stand among the labels.",
    "masked is what the model reads, and labels what it is asked for: masked[place] = mask_id, and labels[place] = "
    "input_ids[place], the true word.",
)
LABEL_NOT_TRUE = Finding(
    "Some labels are not the true word.", "labels[place] = input_ids[place], for each place that is chosen."
)
REPLACED_WITHOUT_LABEL = Finding(
    "Some words are replaced, and have no label.", "Set labels[place] = input_ids[place] for each."
)
LISTS_SWAPPED = Finding(
    "The two lists have changed places: IGNORED stands among the masked words.",
    "It is (masked, labels), in this order: first what the model reads, then what it is asked for.",
)
NO_LABEL = Finding(
    "Words that were chosen but stay as they are have no label.",
    "They are asked for like the others, and so the model learns that a word it can see may be the one that counts.",
)
PADDING_CHOSEN = Finding(
    "Padding is chosen for masking: the model would be asked to guess [PAD].",
    "Choose among `candidates`, which are the places of ordinary words.",
)
SPECIAL_CHOSEN = Finding(
    "[CLS] or [SEP] is chosen for masking.",
    "They stand in every sequence, so there is nothing to guess. Choose among `candidates`.",
)
FIRST_OF_EQUALS = Finding(
    "Where a word stands twice in the text, its second place is never chosen.",
    "As if a place was looked up by its word: list.index(word) gives the first place of it. What is drawn by "
    "rng.choice(candidates, size=count, replace=False) are places already.",
)
REPEATED = Finding(
    "Sometimes fewer words are chosen than `count`: the same one was drawn twice.",
    "rng.choice draws with replacement unless it is told otherwise: replace=False.",
)
COUNT = Finding(
    "How many words are chosen changes from call to call; it should be `count`, each time.",
    "Each word by itself with some probability gives now more and now fewer. Draw `count` different places: "
    "rng.choice(candidates, size=count, replace=False).",
)
NOT_EVENLY = Finding(
    "Not every word is chosen equally often.",
    "Each of the candidates should have the same chance: rng.choice(candidates, size=count, replace=False).",
)
SAME_PLACES = Finding(
    "The same words are chosen in every call.",
    "In each epoch other words should be hidden: rng.choice(candidates, size=count, replace=False).",
)
NUMBERS_FOR_PLACES = Finding(
    "[CLS] and [SEP] are chosen, and the last words never: as if the number of a candidate was taken for its place.",
    "candidates[0] is the place of the first word, which is 1, and not 0. rng.choice(candidates, size=count, "
    "replace=False) gives places.",
)
ONE_DRAW = Finding(
    "All words of a call are treated alike: one number is drawn for all of them.",
    "Draw anew for each chosen word: in one sequence some become [MASK], and others a random word.",
)
SPECIAL_RANDOM = Finding(
    "The random word may be a special token, [CLS] or [PAD] say.",
    "Draw it from vocabulary.word_ids, which are the ordinary words alone.",
)
NUMBERS_FOR_WORDS = Finding(
    "The random word may be a special token: the number of a word in word_ids is taken for its id.",
    "vocabulary.word_ids holds the ids: its first is 4, as [PAD], [CLS], [SEP] and [MASK] come before. Draw one of "
    "them, rng.choice(vocabulary.word_ids), and not a number below their count.",
)
SPECIAL_OF_THE_SENTENCE = Finding(
    "The random word is always one of this very sentence, and may be [CLS], [SEP] or [PAD].",
    "It should be any ordinary word of the vocabulary: rng.choice(vocabulary.word_ids).",
)
NEVER_THE_TRUE_ONE = Finding(
    "The random word is never the true one, and it may be.",
    "It is any word of the vocabulary, each with the same chance, whatever stood there: rng.choice(vocabulary.word_ids)"
    ". (In a large vocabulary that makes next to no difference. But where a word can be left out, what the model reads "
    "says something of what is right.)",
)
SAME_RANDOM = Finding(
    "The random word is always the same one.",
    "Draw it anew each time: rng.choice(vocabulary.word_ids).",
)
ALWAYS_MASK = Finding(
    "Every chosen word becomes [MASK]; none becomes a random word, and none stays.",
    "In use there is no [MASK] in a text. So that the model does not only learn to fill in masks, 10 % of the chosen "
    "become a random word and 10 % stay.",
)
NO_RANDOM = Finding(
    "No chosen word becomes a random one.",
    "Below 0.8 it is [MASK], from there to 0.9 a random word, and from 0.9 it stays.",
)
NO_SAME = Finding(
    "No chosen word stays as it is.",
    "Below 0.8 it is [MASK], from there to 0.9 a random word, and from 0.9 it stays.",
)
MASK_OVERWRITTEN = Finding(
    "No chosen word becomes [MASK], and 90 % become a random word.",
    "That is as if `if draw < 0.9` stood in place of `elif draw < 0.9`: below 0.8 both are true, and the second "
    "overwrites [MASK] with a random word.",
)
WORD_OVERWRITTEN = Finding(
    "90 % of the chosen become [MASK], none becomes a random word, and 10 % stay.",
    "Between 0.8 and 0.9 stands the random word. As if `draw < 0.9` made [MASK], too: because it is asked first, or in "
    "an `if` of its own.",
)
MASK_AND_WORD_SWAPPED = Finding(
    "The shares are swapped: 80 % become a random word, and 10 % become [MASK].",
    "Of the chosen, 80 % become [MASK], and 10 % a random word.",
)
MOST_STAY = Finding(
    "80 % of the chosen stay as they are, 10 % become [MASK], and 10 % a random word.",
    "Of the chosen, 80 % become [MASK]: it is `draw < 0.8`, and then, in an elif, `draw < 0.9`.",
)
SECOND_DRAW_OF_NINE_TENTHS = Finding(
    "18 % of the chosen become a random word, and only 2 % stay.",
    "That is nine tenths of the 20 % that are left: a second number was drawn. Draw one, and compare it with 0.8 and "
    "with 0.9.",
)
MASK_REPLACED = Finding(
    "Only 72 % of the chosen become [MASK], and 18 % stay.",
    "That is as if a second number was drawn for every chosen word, and for a tenth of them, [MASK] or not, a random "
    "word was put there. Draw one number, and compare it with 0.8 and, in an elif, with 0.9.",
)
DEALT_OUT = Finding(
    "In every call just as many of the chosen become [MASK]: the kinds are dealt out by number, and not drawn.",
    "Of a few words, 10 % is less than one word. So draw for each chosen word by itself: below 0.8 it is [MASK], from "
    "there to 0.9 a random word, and from 0.9 it stays.",
)
DEPENDS_ON_PLACE = Finding(
    "Which of the chosen become [MASK] depends on where they stand in the text.",
    "Draw one number for each chosen word, wherever it stands, and compare it with 0.8 and with 0.9.",
)
ONE_RUN = Finding(
    "In every call the chosen words stand next to one another, in one run.",
    "The words around a hidden one are what it is guessed from. Draw `count` places on their own: "
    "rng.choice(candidates, size=count, replace=False).",
)
NOT_ON_THEIR_OWN = Finding(
    "The places are not drawn on their own: some are chosen together too often, and others too seldom.",
    "Whether one place is chosen should say nothing of which others are: rng.choice(candidates, size=count, "
    "replace=False).",
)
FROM_THE_SENTENCE = Finding(
    "The random word is always one of the words of this very sentence.",
    "It should be any word of the vocabulary: rng.choice(vocabulary.word_ids).",
)
RANDOM_UNEVEN = Finding(
    "Some words are drawn as the random word more often than others.",
    "Each word of the vocabulary should have the same chance: rng.choice(vocabulary.word_ids).",
)
RANDOM_SHARED = Finding(
    "All random words of a call are the same one: it is drawn once for all of them.",
    "Draw it anew for each chosen word that becomes a random one: rng.choice(vocabulary.word_ids).",
)
SECOND_DRAW = Finding(
    "Only 2 % of the chosen become a random word, and 18 % stay.",
    "That is a tenth of the 20 % that are left: a second number was drawn. Draw one, and compare it with 0.8 and with "
    "0.9.",
)
