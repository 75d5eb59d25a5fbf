"""What the tests draw: a generator for values, ragged sequences, and ids, drawn one by one, so they repeat."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from npbert.core import Sequences

seeds = st.integers(0, 2**32 - 1)
rngs = seeds.map(np.random.default_rng)


def ids(limit, *shape):
    """Integers below `limit`."""
    return arrays(np.int64, shape, elements=st.integers(0, limit - 1), fill=st.nothing())


@st.composite
def sequences(draw):
    """Some sequences, long and short in any order, of which neighbours may be equally long."""
    return Sequences(np.array(draw(st.lists(st.integers(1, 9), min_size=1, max_size=3))))


@st.composite
def read_of(draw, sequences):
    """Some of the rows of the sequences, in ascending order, some of them twice: none, one, or all of a sequence."""
    chosen = draw(st.lists(st.integers(0, sequences.num_rows - 1), max_size=sequences.num_rows))
    return np.sort(np.array(chosen, np.int64))
