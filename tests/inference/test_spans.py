"""best_spans against two plain loops."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from npbert.inference import Span, best_spans

# Quarters, so that scores tie and sums are exact.
pairs = st.tuples(*[st.integers(-12, 12).map(lambda number: number / 4)] * 2)


@given(st.lists(pairs, min_size=1, max_size=9), st.integers(1, 11), st.integers(1, 60))
@example([(0.0, 0.0), (800.0, 800.0)], 2, 1)  # too large for exp
@example([(-800.0, -800.0), (-800.0, -900.0)], 2, 9)
def test_against_loops(pairs, max_length, n_best):
    """The legal spans, best first; of equal ones that with the earlier start, and then the earlier end."""
    starts, ends = np.array(pairs).T
    before = starts.copy(), ends.copy()
    spans, log_total = best_spans(starts, ends, max_length=max_length, n_best=n_best)
    wanted = [
        Span(start, end, starts[start] + ends[end])
        for start in range(len(pairs))
        for end in range(start, min(start + max_length, len(pairs)))
    ]
    wanted.sort(key=lambda span: -span.score)
    assert spans == wanted[:n_best]
    assert all(type(value) in (int, float) for span in spans for value in span)
    largest = wanted[0].score
    total = sum(math.exp(span.score - largest) for span in wanted)
    assert log_total == pytest.approx(largest + math.log(total), rel=1e-12, abs=1e-12)
    np.testing.assert_array_equal((starts, ends), before)


@pytest.mark.parametrize(("count", "max_length", "n_best"), [(0, 1, 1), (2, 0, 1), (2, 1, 0)])
def test_errors(count, max_length, n_best):
    message = f"{count} tokens, max_length {max_length}, n_best {n_best}: wanted at least 1 of each"
    with pytest.raises(ValueError, match=message):
        best_spans(np.zeros(count), np.zeros(count), max_length=max_length, n_best=n_best)
