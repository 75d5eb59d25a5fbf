"""Means since the last line of the log: of every loss over its own targets."""

import pytest

from npbert.training.accumulate import StepLosses
from npbert.training.averages import Averages

BOTH = {"loss": 1.75 + 0.75, "mlm_loss": 1.75, "mlm_accuracy": 30 / 40, "nsp_loss": 0.75, "nsp_accuracy": 3 / 4}


@pytest.mark.parametrize(
    ("kinds", "steps", "wanted"),
    [
        (("mlm", "nsp"), [((4.0, 1.0), (10, 2), (3, 1)), ((1.0, 0.5), (30, 2), (27, 2))], BOTH),
        (("",), [((4.0,), (1,), (0,)), ((1.0,), (3,), (3,))], {"loss": 7 / 4, "accuracy": 3 / 4}),
        (("",), [((4.0,), (2,), None)], {"loss": 4.0}),  # in a regression nothing is right
        (("",), [], {}),
    ],
)
def test_means_are_over_targets_not_over_batches(kinds, steps, wanted):
    averages = Averages()
    for step in steps:
        averages.add(kinds, StepLosses(*step))
    assert averages.means() == pytest.approx(wanted)
    assert list(averages.means()) == list(wanted)
