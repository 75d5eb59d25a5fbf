"""What the tests draw: shapes whose sizes differ, values ordinary and awkward, ragged sequences, repeated ids.

Hypothesis draws sizes, masks, ids and a seed; NumPy draws the values of large arrays from the seed. Sizes start where a
check can see: one row or one feature would hide a transposition, or a gradient summed over the wrong axis. Tests that
want those shapes name them.
"""

import numpy as np
from hypothesis import strategies as st

from npbert.core import Sequences

seeds = st.integers(0, 2**32 - 1)
rngs = seeds.map(np.random.default_rng)
sizes = st.integers(2, 5)


@st.composite
def values(draw, *shape):
    """Normal numbers in float64, stretched and shifted by drawn amounts."""
    scale, shift = draw(st.sampled_from([0.3, 1.0, 3.0])), draw(st.sampled_from([-1.0, 0.0, 2.0]))
    return draw(rngs).normal(shift, scale, shape)


@st.composite
def awkward(draw, *shape, largest=1e6):
    """Numbers in float64 that are hard on a formula: huge beside tiny, subnormal, constant rows, ties, zeros.

    The first row is ordinary, and sets the scale of a derivative that is 0 in the others.
    """
    special = [0.0, -0.0, 5e-324, -1e-310, 1e-30, -1e-8, 1.0, 1.0, -1.0, np.nextafter(1, 2), largest, -largest]
    x = draw(values(*shape))
    for n in range(1, len(x)):
        kind = draw(st.sampled_from(["ordinary", "constant", "nearly constant", "special", "ties"]))
        if kind == "constant":
            x[n] = draw(st.sampled_from(special))
        elif kind == "nearly constant":
            x[n] = draw(st.sampled_from(special)) + 1e-6 * x[n]
        elif kind == "special":
            x[n] = draw(rngs).choice(special, x[n].shape)
        elif kind == "ties":
            x[n] = np.round(x[n])
    return x


def ids(limit, *shape):
    """Integers below `limit`; drawn one by one, so they repeat."""
    count = int(np.prod(shape))
    return st.lists(st.integers(0, limit - 1), min_size=count, max_size=count).map(
        lambda numbers: np.array(numbers, np.int64).reshape(shape)
    )


@st.composite
def sequences(draw, most=4, longest=5):
    """Some sequences, long and short in any order, of which neighbours may be equally long."""
    return Sequences(np.array(draw(st.lists(st.integers(1, longest), min_size=1, max_size=most))))


def rows_of(sequences):
    """The numbers of the rows of each sequence."""
    return np.split(np.arange(sequences.num_rows), sequences.offsets[1:-1])


@st.composite
def read_of(draw, sequences):
    """Some of the rows of the sequences, in ascending order, some of them twice: none, one, or all of a sequence."""
    chosen = draw(st.lists(st.integers(0, sequences.num_rows - 1), max_size=sequences.num_rows))
    return np.sort(np.array(chosen, np.int64))
