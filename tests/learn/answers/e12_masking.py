"""Exercise 12: masking, 80/10/10."""

RIGHT = {
    "mask_words": """
masked = list(input_ids)
labels = [IGNORED] * len(input_ids)
chosen = rng.choice(candidates, size=count, replace=False)
for place in chosen:
    labels[place] = input_ids[place]
    draw = rng.random()
    if draw < 0.8:
        masked[place] = vocabulary.mask_id
    elif draw < 0.9:
        masked[place] = int(rng.choice(vocabulary.word_ids))
return masked, labels
""",
}
B, CHOSEN, LOOP, WORDS = (
    "mask_words",
    "rng.choice(candidates, size=count, replace=False)",
    "for place in",
    "vocabulary.word_ids",
)
CHOSEN_LINE, LABEL, DRAW = f"chosen = {CHOSEN}", "    labels[place] = input_ids[place]\n", "    draw = rng.random()\n"
RANDOM, RETURN = "int(rng.choice(vocabulary.word_ids))", "return masked, labels"
WRONG = [
    ("padding_is_chosen", B, "rng.choice(candidates", "rng.choice(len(input_ids)"),
    ("special_tokens_are_chosen", B, "(candidates", "(np.flatnonzero(np.array(input_ids) != vocabulary.pad_id)"),
    ("chosen_with_replacement", B, ", replace=False", ""),
    ("each_by_itself", B, CHOSEN, "candidates[rng.random(len(candidates)) < count / len(candidates)]"),
    ("always_the_first", B, CHOSEN, "candidates[:count]"),
    (
        "more_of_the_first",
        B,
        CHOSEN_LINE,
        "weights = 1 / (1 + np.arange(len(candidates)))\n"
        "chosen = rng.choice(candidates, size=count, replace=False, p=weights / weights.sum())",
    ),
    (
        "one_run",
        B,
        CHOSEN_LINE,
        "first = rng.integers(len(candidates) - count + 1)\nchosen = candidates[first : first + count]",
    ),
    (
        "every_other_place",
        B,
        CHOSEN,
        "candidates[(rng.integers(len(candidates)) + 2 * np.arange(count)) % len(candidates)]",
    ),
    ("numbers_for_places", B, "rng.choice(candidates", "rng.choice(len(candidates)"),
    ("always_the_mask", B, "draw < 0.8", "draw < 1"),
    ("never_a_random_word", B, f"    elif draw < 0.9:\n        masked[place] = {RANDOM}\n", ""),
    ("never_left_as_it_is", B, "elif draw < 0.9:", "else:"),
    ("second_draw", B, "elif draw < 0.9", "elif rng.random() < 0.1"),
    ("masks_replaced", B, "elif draw < 0.9", "if rng.random() < 0.1"),
    ("words_uneven", B, WORDS, "np.append(vocabulary.word_ids, [vocabulary.word_ids[20]] * 30)"),
    ("special_tokens_as_random_words", B, RANDOM, "int(rng.integers(len(vocabulary.is_word)))"),
    ("always_the_same_random_word", B, RANDOM, "int(vocabulary.word_ids[7])"),
    ("labels_of_what_stands_there", B, LABEL, "", RETURN, f"    labels[place] = masked[place]\n{RETURN}"),
    ("labels_everywhere", B, "[IGNORED] * len(input_ids)", "list(input_ids)"),
    (
        "no_label_where_it_stays",
        B,
        LABEL,
        "",
        RETURN,
        f"    if masked[place] != input_ids[place]:\n    {LABEL}{RETURN}",
    ),
    ("callers_list_changed", B, "list(input_ids)", "input_ids"),
    ("one_draw_for_all", B, DRAW, "", LOOP, f"draw = rng.random()\n{LOOP}"),
    ("another_generator", B, CHOSEN_LINE, f"rng = np.random.default_rng()\n{CHOSEN_LINE}"),
    ("nothing_is_drawn", B, CHOSEN_LINE, f"rng = np.random.default_rng(0)\n{CHOSEN_LINE}"),
    ("random_words_of_the_sentence", B, WORDS, "np.array(input_ids)[candidates]"),
    (
        "one_random_word_for_all",
        B,
        LOOP,
        f"word = {RANDOM}\n{LOOP}",
        f"masked[place] = {RANDOM}",
        "masked[place] = word",
    ),
    ("dealt_out", B, "for place in chosen", "for number, place in enumerate(chosen)", "rng.random()", "number / count"),
    ("masked_by_place", B, "draw < 0.8", "draw < (0.9 if place % 2 else 7.8 / 11)"),
]
