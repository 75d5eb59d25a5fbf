"""Linear warm-up and decay."""

import pytest

from npbert import linear_warmup_decay


def test_up_from_0_then_down_to_0():
    rates = [linear_warmup_decay(step, lr=8.0, warmup_steps=4, total_steps=12) for step in range(15)]
    assert rates == [0, 2, 4, 6, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0]
    assert [linear_warmup_decay(step, lr=3.0, warmup_steps=0, total_steps=3) for step in (0, 2)] == [3, 1]
    for step, warmup, message in [(-1, 1, "step is -1"), (0, 5, "warmup_steps is 5, wanted from 0 up"), (0, -1, "-1")]:
        with pytest.raises(ValueError, match=message):
            linear_warmup_decay(step, lr=1.0, warmup_steps=warmup, total_steps=5)
