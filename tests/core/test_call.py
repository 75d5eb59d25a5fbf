"""Layer.__call__: one way into forward, with a tape or without, and what a watcher of the tape sees."""

import numpy as np

from npbert import NO_TAPE, EncoderLayer, Init, Layer, LayerNorm, Linear, Tape

INIT = Init(np.random.default_rng(0), 1.0, np.float64)
X = np.random.default_rng(1).standard_normal((5, 4))


class Own(Layer):
    """A layer as users write one."""

    def __init__(self):
        self.linear, self.output_norm = Linear(4, 4, INIT), LayerNorm(4, INIT)

    def forward(self, x, tape=NO_TAPE):
        return self.output_norm(x + self.linear(x, tape), tape)


def test_a_tape_prints_the_path_of_each_layer_in_the_outermost_that_was_called():
    tape, own, attention = Tape(), Own(), EncoderLayer(4, 2, 8, INIT).attention
    own(X, tape)
    attention(X, X, tape=tape)
    Linear(4, 4, INIT)(X, tape)
    paths = [line.partition(":")[0] for line in repr(tape).splitlines()]
    assert paths == ["Linear", "output", "dot_product", "value", "key", "query", "output_norm", "linear"]


def test_a_watcher_sees_every_call_when_it_is_over_the_innermost_first():
    seen, own = [], Own()
    y = own(X, Tape(keeps=False, watcher=lambda *call: seen.append(call)))
    assert [layer for layer, _, _ in seen] == [own.linear, own.output_norm, own]
    (_, (x,), _), _, (_, (outer_x,), output) = seen
    assert x is X
    assert outer_x is X
    assert output is y
