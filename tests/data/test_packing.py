"""Packing: sentences as full sequences, none lost but to truncation, and no label false.

A token is an integer that says of which document, sentence and place it is, so that any label can be checked.
"""

from collections import Counter
from itertools import count, pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from npbert.data.example import IS_NEXT, NOT_NEXT
from npbert.data.training_data import pack
from tests.strategies import rngs


def document(number, lengths):
    """Sentences of these lengths; their tokens count up from number · 10⁶."""
    ends = np.cumsum([0, *lengths]) + number * 10**6
    return [list(range(start, end)) for start, end in pairwise(ends.tolist())]


def joined(sentences):
    return [token for sentence in sentences for token in sentence]


def is_stretch(tokens):
    return len(tokens) > 0 and list(tokens) == list(range(tokens[0], tokens[0] + len(tokens)))


def packed(sentences, objective, rng, max_length=20, other=None):
    drawn = (other[int(rng.integers(len(other))) :] for _ in (count() if other else ()))
    return list(pack(sentences, max_length=max_length, objective=objective, drawn=drawn, rng=rng))


OTHER = document(7, [3] * 40)
lengths = st.lists(st.integers(1, 30), min_size=1, max_size=30)


@given(lengths, st.sampled_from(["nsp", "sop", "none"]), rngs, st.integers(8, 40))
def test_sequences_fit_and_their_labels_are_true(lengths, objective, rng, max_length):
    """Where something lies between two texts that follow each other, it was cut: then the pair fills the sequence."""
    sentences = document(0, lengths)
    for first, second, label in packed(sentences, objective, rng, max_length, OTHER):
        texts = [first] if objective == "none" else [first, second]
        assert all(map(is_stretch, texts))
        size = sum(map(len, texts)) + len(texts) + 1
        assert size <= max_length
        is_drawn = objective == "nsp" and label == NOT_NEXT
        assert [text[0] >= 10**6 for text in texts] == [False, is_drawn][: len(texts)]
        if objective != "none" and not is_drawn:
            before, after = (second, first) if label == NOT_NEXT else (first, second)
            assert before[-1] < after[0]
            follows = before[-1] + 1 == after[0] and after[0] in {sentence[0] for sentence in sentences}
            assert follows or size == max_length


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


@given(st.integers(1, 60), st.integers(1, 60), st.integers(8, 50), rngs)
def test_the_longer_text_is_cut(first_length, second_length, max_length, rng):
    """As the paper's code: while both are too long together, the longer loses a token; the second in doubt."""
    (first, second, label), *_ = packed(document(0, [first_length, second_length]), "sop", rng, max_length)
    wanted = [first_length, second_length] if label == IS_NEXT else [second_length, first_length]
    while sum(wanted) > max_length - 3:
        wanted[0 if wanted[0] > wanted[1] else 1] -= 1
    assert [len(first), len(second)] == wanted


@pytest.mark.parametrize("objective", ["nsp", "sop"])
def test_shares(objective):
    """With sentences of one token: 9 in 10 full, else any size; half not next; and cut at any sentence."""
    sequences = packed(document(0, [1] * 20_000), objective, np.random.default_rng(0), 13, document(7, [1] * 1000))
    sizes = Counter(len(first) + len(second) for first, second, _ in sequences)
    assert set(sizes) >= set(range(2, 11))
    assert sizes[10] / sizes.total() == pytest.approx(0.9 + 0.1 / 9, abs=0.02)
    assert np.mean([label for *_, label in sequences]) == pytest.approx(0.5, abs=0.04)
    ends = Counter(len(first) for first, second, _ in sequences if len(first) + len(second) == 10)
    assert set(ends) == set(range(1, 10)) and max(ends.values()) < 2 * min(ends.values())


@given(st.lists(st.integers(1, 6), min_size=1, max_size=25), st.floats(0.5, 1), rngs)
def test_a_drawn_text_never_begins_as_the_true_one(lengths, share, rng):
    """Mostly the true continuations are drawn. What is then told apart by its label must differ."""
    sentences = document(0, lengths)
    drawn = (sentences[int(rng.integers(len(sentences))) :] if rng.random() < share else OTHER for _ in count())
    for first, second, label in pack(sentences, max_length=500, objective="nsp", drawn=drawn, rng=rng):
        assert (second[0] == first[-1] + 1) == (label == IS_NEXT)


def test_without_another_text_there_is_no_pair():
    rng = np.random.default_rng(0)
    assert packed([[1, 2, 3]], "nsp", rng) == packed([[1, 2, 3]], "sop", rng, other=OTHER) == []
