"""Packing: sentences as full sequences, none lost but to truncation, and no label false.

A token is an integer that says of which document, sentence and place it is, so that any label can be checked.
"""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert.data.packing import pack
from npbert.data.sentence_pairs import IS_NEXT, NOT_NEXT
from tests.strategies import rngs


def document(number, lengths):
    """Sentences of these lengths; their tokens count up from number · 10⁶."""
    ends = np.cumsum([0, *lengths]) + number * 10**6
    return [list(range(start, end)) for start, end in pairwise(ends.tolist())]


def joined(sentences):
    return [token for sentence in sentences for token in sentence]


def is_stretch(tokens):
    return list(tokens) == list(range(tokens[0], tokens[0] + len(tokens)))


def packed(sentences, objective, rng, max_length=20, other=None):
    draw_other = (lambda: other[int(rng.integers(len(other))) :]) if other else list
    return list(pack(sentences, max_length=max_length, objective=objective, draw_other=draw_other, rng=rng))


OTHER = document(7, [3] * 40)
lengths = st.lists(st.integers(1, 30), min_size=1, max_size=30)
objectives = st.sampled_from(["nsp", "sop", "none"])


@given(lengths, objectives, rngs, st.integers(8, 40))
def test_sequences_fit_and_are_stretches_of_the_document(lengths, objective, rng, max_length):
    for first, second, label in packed(document(0, lengths), objective, rng, max_length, OTHER):
        assert len(first) > 0
        assert is_stretch(first)
        assert first[0] < 10**6 or (objective == "sop" and label == NOT_NEXT)
        if objective == "none":
            assert second is None
            assert label == IS_NEXT
            assert len(first) + 2 <= max_length
        else:
            assert len(second) > 0
            assert is_stretch(second)
            assert len(first) + len(second) + 3 <= max_length
            assert (second[0] >= 10**6) == (objective == "nsp" and label == NOT_NEXT)


@given(lengths, rngs, st.integers(8, 40))
def test_labels_are_true(lengths, rng, max_length):
    """What lies between two texts that follow each other was cut: then the pair fills the sequence."""
    sentences = document(0, lengths)
    for objective in ("nsp", "sop"):
        for first, second, label in packed(sentences, objective, rng, max_length, OTHER):
            if label == NOT_NEXT and objective == "nsp":
                continue
            before, after = (second, first) if label == NOT_NEXT else (first, second)
            assert before[-1] < after[0]
            is_full = len(first) + len(second) + 3 == max_length
            assert is_full or (before[-1] + 1 == after[0] and after[0] in {sentence[0] for sentence in sentences})


@given(lengths, rngs)
def test_nothing_is_lost_but_what_is_cut(lengths, rng):
    """With room for all, each token is there once: what a drawn text displaced is used again."""
    sentences = document(0, lengths)
    everything = joined(sentences)
    assert joined(first for first, *_ in packed(sentences, "none", rng, 10**5)) == everything
    if len(sentences) > 1:
        used = Counter()
        for first, second, label in packed(sentences, "nsp", rng, 10**5, OTHER):
            used.update(first + (second if label == IS_NEXT else []))
        assert used == Counter(everything)
        used = Counter(token for first, second, _ in packed(sentences, "sop", rng, 10**5) for token in first + second)
        left = [token for token in everything if token not in used]
        assert left in ([], sentences[-1]), "a last sentence that is alone has no order"
        assert set(used.values()) == {1}


def test_sentences_longer_than_a_sequence():
    rng = np.random.default_rng(0)
    sentences = document(0, [100] * 200)
    for objective, counts in (("none", [200]), ("nsp", range(120, 150)), ("sop", [100])):
        sequences = packed(sentences, objective, rng, 20, OTHER)
        assert len(sequences) in counts, "of a pair's two sentences, nsp uses one again half of the time"
        used = {token // 100 for first, second, _ in sequences for token in first + (second or []) if token < 10**6}
        assert used == set(range(200)), "each sentence is there in part"
        full = [len(first) + len(second or []) for first, second, _ in sequences]
        assert np.mean(np.array(full) == (18 if objective == "none" else 17)) > 0.8
    starts = {first[0] % 100 for first, *_ in packed(sentences, "none", rng, 20)}
    assert len(starts) > 10, "cut at a random end"


@given(st.integers(1, 60), st.integers(1, 60), st.integers(8, 50), rngs)
def test_the_longer_text_is_cut(first_length, second_length, max_length, rng):
    """As the paper's code: while both are too long together, the longer loses a token; the second in doubt."""
    wanted = [first_length, second_length]
    while sum(wanted) > max_length - 3:
        wanted[0 if wanted[0] > wanted[1] else 1] -= 1
    sentences = document(0, [first_length, second_length])
    other = document(5, [second_length])
    for first, second, _ in packed(sentences, "nsp", rng, max_length, other)[:1]:
        if second[0] // 10**6 == 5 or len(first) + len(second) == first_length + second_length:
            assert [len(first), len(second)] == wanted


def test_half_is_not_next():
    rng = np.random.default_rng(0)
    sentences = document(0, rng.integers(2, 9, size=6000))
    for objective in ("nsp", "sop"):
        labels = [label for *_, label in packed(sentences, objective, rng, 40, OTHER)]
        assert len(labels) > 500
        assert abs(np.mean(labels) - 0.5) < 0.06


def test_a_tenth_is_short():
    """Alone, with sentences of one token, the length is what was aimed at: all, or in 1 of 10 any from 2 tokens on."""
    rng = np.random.default_rng(0)
    sizes = Counter(len(first) for first, *_ in packed(document(0, [1] * 100_000), "none", rng, 22))
    total = sizes.total()
    assert set(sizes) == set(range(2, 21))
    assert abs(sizes[20] / total - (0.9 + 0.1 / 19)) < 0.012
    assert max(sizes[size] for size in range(2, 20)) < 3 * total * 0.1 / 19


def test_a_pair_is_cut_at_any_sentence():
    rng = np.random.default_rng(0)
    pairs = packed(document(0, [1] * 20_000), "sop", rng, 13)
    ends = Counter(len(first) for first, second, _ in pairs if len(first) + len(second) == 10)
    assert set(ends) == set(range(1, 10))
    assert max(ends.values()) < 2 * min(ends.values())


@given(st.lists(st.integers(1, 6), min_size=1, max_size=25), st.floats(0.5, 1), rngs)
def test_a_drawn_text_never_begins_as_the_true_one(lengths, share, rng):
    """draw_other gives mostly the true continuations. What is then told apart by its label must differ."""
    sentences = document(0, lengths)

    def draw_other():
        return sentences[int(rng.integers(len(sentences))) :] if rng.random() < share else OTHER

    for first, second, label in pack(sentences, max_length=500, objective="nsp", draw_other=draw_other, rng=rng):
        if label == NOT_NEXT:
            assert second[0] != first[-1] + 1
        else:
            assert second[0] == first[-1] + 1


def test_nor_where_one_sentence_fills_the_sequence():
    sentences = document(0, [100] * 3)
    drawn = set()
    for seed in range(40):
        for first, second, label in packed(sentences, "nsp", np.random.default_rng(seed), 20, sentences):
            drawn.add((first[0] // 100, second[0] // 100, label))
    true = {(0, 1, IS_NEXT), (1, 2, IS_NEXT)}
    assert drawn == true | {(a, b, NOT_NEXT) for a in range(3) for b in range(3) if b != a + 1}


@pytest.mark.parametrize("drawn", [[[4, 5, 6, 7]], [[4]], [[4, 5, 6, 7], [9]], [[]], []])
def test_where_only_the_true_text_can_be_drawn_it_stays(drawn):
    """The drawn text may be shorter than the true one, or longer: one begins as the other does."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        (pair,) = pack([[3], [4, 5]], max_length=10, objective="nsp", draw_other=lambda: drawn, rng=rng)
        assert pair == ([3], [4, 5], IS_NEXT)


def test_what_is_drawn_fills_the_sequence():
    """As many sentences of 3 tokens as the room wants, 24 − 6 as a rule, and always one."""
    drawn = [packed(document(0, [6]), "nsp", np.random.default_rng(seed), 27, OTHER)[0].second for seed in range(99)]
    sizes = Counter(map(len, drawn))
    assert {second[0] % 3 for second in drawn} == {OTHER[0][0] % 3}, "there is nothing to cut"
    assert set(sizes) <= set(range(3, 19, 3))
    assert sizes[18] > 80


@pytest.mark.parametrize(
    ("objective", "other", "count"), [("none", [], 1), ("nsp", OTHER, 1), ("nsp", [], 0), ("sop", OTHER, 0)]
)
def test_a_document_of_one_sentence(objective, other, count):
    """Without another text there is no pair."""
    sequences = packed([[1, 2, 3]], objective, np.random.default_rng(0), 20, other)
    assert len(sequences) == count
    for first, second, label in sequences:
        assert first == [1, 2, 3]
        assert label == (NOT_NEXT if second else IS_NEXT)


def test_no_sentence():
    for objective in ("nsp", "sop", "none"):
        assert packed([], objective, np.random.default_rng(0), 20, OTHER) == []
