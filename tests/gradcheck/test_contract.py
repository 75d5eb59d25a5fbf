"""The promises of a layer, each broken alone.

(Those that published code broke are planted: tests/planted.)
"""

import numpy as np
import pytest

from npbert import Init, LayerNorm, Parameter
from npbert.data import Batch
from npbert.gradcheck import GradientError, PromiseError, ScalarFunction, check_gradients, promised_gradients, randomize
from npbert.gradcheck.inputs import different
from tests.gradcheck.small import Scale, X, broken


class Shift:
    """y = x + b + c, with a b and a c for each element: the gradient of all three is dy."""

    def __init__(self, memory_of_db):
        self.b, self.c, self.memory_of_db = Parameter(np.ones(X.shape)), Parameter(np.ones(X.shape)), memory_of_db

    def forward(self, x, tape):
        y = x + self.b.value + self.c.value
        tape.keep(self, y=y)
        return y

    def backward(self, dy, tape):
        memory = {"y": tape.take(self), "dy": dy, "dx": dy.copy(), "the gradient of c": dy.copy()}
        memory["y"][...] = dy
        self.b.add_grad(memory[self.memory_of_db])
        self.c.add_grad(memory["the gradient of c"])
        return memory["dx"]


@pytest.mark.parametrize("whose", ["y", "dy", "dx", "the gradient of c"])
def test_a_gradient_in_memory_that_is_somebody_elses_is_seen(whose):
    with pytest.raises(PromiseError, match=f"the gradient of b shares memory with {whose}: give add_grad an array"):
        promised_gradients(ScalarFunction(Shift(whose), (X,), None, 0))


def test_what_a_wrong_layer_changed_is_mended():
    def backward(self, dy, tape):
        self.s.value -= 0.1 * dy.sum(axis=0)
        return Scale.backward(self, dy, tape)

    layer = broken(backward=backward)
    with pytest.raises(GradientError, match="backward changes the value of s: only an optimizer may"):
        check_gradients(layer, X)
    np.testing.assert_array_equal(layer.s.value, [1, 2, 3])
    np.testing.assert_array_equal(layer.s.grad, 0)


def test_another_call_has_the_sequences_of_a_batch_in_another_order():
    other = different(Batch([[1, 2], [3, 0]], attention_mask=[[1, 1], [1, 0]]))
    np.testing.assert_array_equal(other.input_ids, [[3, 0], [1, 2]])
    np.testing.assert_array_equal(other.attention_mask, [[1, 0], [1, 1]])


def test_randomize_leaves_no_blind_spot():
    norm = LayerNorm(1000, Init(None))
    randomize(norm, np.random.default_rng(0))
    for parameter in norm.parameters():
        assert parameter.value.dtype == np.float32
        assert parameter.value.min() < -0.99 < 0.99 < parameter.value.max()
        assert abs(parameter.value.mean()) < 0.1
