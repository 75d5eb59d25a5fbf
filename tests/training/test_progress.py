"""How far a run is, read back from a file that anybody may have written to; and its means, over targets."""

import json

import pytest

from npbert.data.task_data import Place
from npbert.training.accumulate import StepLosses
from npbert.training.progress import Averages, Progress

RIGHT = Progress(2, 7, Place(1, 3), 0.5, 4, {"f1": 0.5}, 1, {"loss": 1.25}, Averages({"loss": 2.5}, {"loss": 4}))


def test_there_and_back():
    assert Progress.from_stored(json.loads(json.dumps(RIGHT.stored()))) == RIGHT
    assert Progress.from_stored(Progress(0, 1).stored()) == Progress(0, 1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[(name, wrong) for name in ("epoch", "epoch_seed", "best_step") for wrong in (-1, 1.5, "1", None, True)],
        *[("best", wrong) for wrong in ("1", [], True)],
        *[(name, wrong) for name in ("evaluation", "best_evaluation") for wrong in (None, [], {"f1": "high"})],
        *[("place", wrong) for wrong in ([1], [1, -2], [1, 2, 3], {"group": 0}, None, ["a", 1])],
        *[("averages", wrong) for wrong in ({}, {"sums": {}, "counts": {"loss": 1}}, {"sums": [], "counts": {}})],
        ("averages", {"sums": {"loss": 1.0}, "counts": {"loss": -1}}),
    ],
)
def test_what_is_of_another_type_is_named(name, value):
    with pytest.raises(ValueError, match=f"^{name} is "):
        Progress.from_stored({**RIGHT.stored(), name: value})


def test_what_is_missing_or_unknown_is_named():
    """But total_steps, of which an earlier version said nothing."""
    stored = RIGHT.stored()
    with pytest.raises(ValueError, match=r"^spirit is unknown$"):
        Progress.from_stored({**stored, "spirit": 1})
    del stored["total_steps"]
    assert Progress.from_stored(stored) == RIGHT
    del stored["place"]
    with pytest.raises(ValueError, match=r"^place is missing$"):
        Progress.from_stored(stored)


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
