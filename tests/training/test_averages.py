"""Means since the last line of the log: of every loss over its own targets."""

import pytest

from npbert.training.accumulate import StepLosses
from npbert.training.averages import Averages


def means(kinds, *steps):
    averages = Averages()
    for step in steps:
        averages.add(kinds, StepLosses(*step))
    return averages.means()


def test_two_kinds_are_means_over_their_own_targets():
    got = means(("mlm", "nsp"), ((4.0, 1.0), (10, 2), (3, 1)), ((1.0, 0.5), (30, 2), (27, 2)))
    mlm, nsp = (4.0 * 10 + 1.0 * 30) / 40, 0.75
    assert got == pytest.approx(
        {"loss": mlm + nsp, "mlm_loss": mlm, "mlm_accuracy": 30 / 40, "nsp_loss": nsp, "nsp_accuracy": 3 / 4}
    )
    assert list(got) == ["loss", "mlm_loss", "mlm_accuracy", "nsp_loss", "nsp_accuracy"]


def test_one_kind_is_a_mean_over_targets_not_over_batches():
    got = means(("",), ((4.0,), (1,), (0,)), ((1.0,), (3,), (3,)))
    assert got == {"loss": pytest.approx(7 / 4), "accuracy": 3 / 4}


def test_a_regression_has_no_accuracy_and_no_step_no_means():
    assert means(("",), ((4.0,), (2,), None)) == {"loss": 4.0}
    assert means(("",)) == {}, "each Averages has sums of its own"
