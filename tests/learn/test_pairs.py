"""Two known mistakes in one answer: both are named, each with its reason."""

import itertools

import pytest

from npbert.learn.exercises import EXERCISES

LIKE_OTHERS = [
    f"residual_around_attention_lost and {name}" for name in ("residual_to_z", "residual_to_both", "swapped")
]
PAIRS = [
    pytest.param(part, pair, id=f"{number}: {pair.name}")
    for number, every in ((3, 2), (5, 12), (9, 9))
    for part in EXERCISES[number].parts
    for pair in itertools.islice(part.pairs(), 0, None, every)
    if pair.name not in LIKE_OTHERS
]


@pytest.mark.parametrize(("part", "pair"), PAIRS)
def test_both_of_two_mistakes_are_named(part, pair):
    finding = part.judge(pair.thing)
    one, other = pair.findings
    assert finding == (one.says, f"{one.because}\n\n2. {other.says}\n\n{other.because}")
