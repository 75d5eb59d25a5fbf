"""best_spans against two plain loops."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert.inference import Span, best_spans

# Quarters, so that scores tie and sums are exact.
logits = st.integers(1, 9).flatmap(
    lambda count: st.tuples(
        *[st.lists(st.integers(-12, 12).map(lambda number: number / 4), min_size=count, max_size=count)] * 2
    )
)


def all_spans(start_logits, end_logits, max_length):
    """The legal spans, best first; of equal ones that with the earlier start, and then the earlier end."""
    spans = [
        Span(start, end, start_logits[start] + end_logits[end])
        for start in range(len(start_logits))
        for end in range(start, min(start + max_length, len(end_logits)))
    ]
    return sorted(spans, key=lambda span: -span.score)


@given(logits, st.integers(1, 11), st.integers(1, 60))
def test_against_loops(scores, max_length, n_best):
    start_logits, end_logits = scores
    spans, log_total = best_spans(np.array(start_logits), np.array(end_logits), max_length=max_length, n_best=n_best)
    wanted = all_spans(start_logits, end_logits, max_length)
    assert spans == wanted[:n_best]
    assert log_total == pytest.approx(math.log(sum(math.exp(span.score) for span in wanted)), rel=1e-12, abs=1e-12)
    assert all(type(value) in (int, float) for span in spans for value in span)


@given(logits, st.integers(1, 11))
def test_probabilities_sum_to_1(scores, max_length):
    spans, log_total = best_spans(*map(np.array, scores), max_length=max_length, n_best=10**6)
    assert sum(math.exp(span.score - log_total) for span in spans) == pytest.approx(1)


def test_logits_too_large_for_exp():
    (span,), log_total = best_spans(np.array([0, 800.0]), np.array([0, 800.0]), max_length=2, n_best=1)
    assert span == (1, 1, 1600)
    assert log_total == pytest.approx(1600)


def test_the_arguments_stay():
    start_logits, end_logits = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    best_spans(start_logits, end_logits, max_length=1, n_best=1)
    np.testing.assert_array_equal([start_logits, end_logits], [[1, 2], [3, 4]])


@pytest.mark.parametrize(("count", "max_length", "n_best"), [(0, 1, 1), (2, 0, 1), (2, 1, 0)])
def test_errors(count, max_length, n_best):
    message = f"{count} tokens, max_length {max_length}, n_best {n_best}: wanted at least 1 of each"
    with pytest.raises(ValueError, match=message):
        best_spans(np.zeros(count), np.zeros(count), max_length=max_length, n_best=n_best)
