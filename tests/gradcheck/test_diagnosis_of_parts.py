"""Of a layer that is made of others: which of them is wrong, or what the layer does with them."""

import numpy as np
import pytest

from npbert import NO_TAPE, Init, LayerNorm, Linear
from npbert.catalogue import CATALOGUE
from npbert.gradcheck import check_directions, check_gradients

N, D = 5, 7


class AddAndNorm:
    """y = LayerNorm(x + Linear(x)), whose backward joins what comes back past Linear and through it."""

    def __init__(self, join):
        init = Init(np.random.default_rng(0), 1.0, np.float64)
        self.linear, self.norm, self.join = Linear(D, D, init), LayerNorm(D, init, eps=0.1), join

    def forward(self, x, tape=NO_TAPE):
        return self.norm.forward(x + self.linear.forward(x, tape), tape)

    def backward(self, dy, tape):
        ds = self.norm.backward(dy, tape)
        return self.join(ds, self.linear.backward(ds, tape))


@pytest.mark.parametrize(
    ("join", "says"),
    [
        (lambda past, through: through, 'dx = 1 · through linear + 0 · past linear: "past linear" is missing'),
        (lambda past, through: past, 'dx = 0 · through linear + 1 · past linear: "through linear" is missing'),
        (
            lambda past, through: past - through,
            'dx = −1 · through linear + 1 · past linear: "through linear" has the wrong s',
        ),
        (lambda past, through: (past + through) / 2, "dx is 2.000 times too small, everywhere"),
    ],
)
def test_roads_past_a_part_and_through_it_are_counted(join, says):
    report = check_gradients(AddAndNorm(join), np.random.default_rng(1).standard_normal((N, D)))
    first, last = report.diagnosis
    assert says in first.text
    assert last.text == "right by themselves: linear, norm; so look at what AddAndNorm does with them"


def test_along_directions_a_part_is_found_and_what_is_wrong_in_it():
    layer, inputs, rng = CATALOGUE["FeedForward, gelu"].make()
    layer.output = type("Halved", (Linear,), {"backward": lambda self, dy, tape: Linear.backward(self, dy, tape) / 2})(
        7, 6, Init(np.random.default_rng(0), 1.0, np.float64)
    )
    first, others = check_directions(layer, *inputs, rng=rng).diagnosis
    assert (first.what, first.where) == ("factor", "output.x")
    assert first.text.startswith("in output (Halved), dx is 2.000 times too small, everywhere: as if a 2 was left out")
    assert others.text == "right by themselves: intermediate, activation"


def test_a_backward_that_is_never_called_is_named():
    layer, inputs, _ = CATALOGUE["FeedForward, gelu"].make()

    def backward(self, dy, tape):
        dh = self.output.backward(dy, tape)
        tape.take(self.activation)
        return self.intermediate.backward(dh, tape)

    layer.__class__ = type("Short", (type(layer),), {"backward": backward})
    first = check_gradients(layer, *inputs).diagnosis[0]
    assert first.what == "never called"
    assert first.text.startswith("activation.backward is never called, though the loss moves with what activation")
