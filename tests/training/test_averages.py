"""Means since the last line of the log: of every loss over its own targets."""

import pytest

from npbert.training.accumulate import StepLosses
from npbert.training.averages import Averages


def test_two_kinds_are_means_over_their_own_targets():
    averages = Averages()
    averages.add(("mlm", "nsp"), StepLosses((4.0, 1.0), (10, 2), (3, 1)))
    averages.add(("mlm", "nsp"), StepLosses((1.0, 0.5), (30, 2), (27, 2)))
    means = averages.means()
    assert list(means) == ["loss", "mlm_loss", "mlm_accuracy", "nsp_loss", "nsp_accuracy"]
    assert means["mlm_loss"] == pytest.approx((4.0 * 10 + 1.0 * 30) / 40)
    assert means["nsp_loss"] == pytest.approx(0.75)
    assert means["loss"] == pytest.approx(means["mlm_loss"] + means["nsp_loss"])
    assert (means["mlm_accuracy"], means["nsp_accuracy"]) == (30 / 40, 3 / 4)


def test_one_kind_is_a_mean_over_targets_not_over_batches():
    averages = Averages()
    averages.add(("",), StepLosses((4.0,), (1,), (0,)))
    averages.add(("",), StepLosses((1.0,), (3,), (3,)))
    assert averages.means() == {"loss": pytest.approx(7 / 4), "accuracy": 3 / 4}


def test_a_regression_has_no_accuracy():
    averages = Averages()
    averages.add(("",), StepLosses((4.0,), (2,), None))
    assert averages.means() == {"loss": 4.0}


def test_nothing_yet():
    assert Averages().means() == {}


def test_each_has_its_own_sums():
    Averages().add(("",), StepLosses((4.0,), (2,), (1,)))
    assert Averages().means() == {}
