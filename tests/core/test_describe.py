"""Layers and tapes as text: paths, settings, shapes and counts."""

import re

import numpy as np

from npbert import Dropout, EncoderLayer, Init, Layer, Linear, Parameter, Tape
from npbert import SinusoidalPositions as Positions
from tests.models.small import each_class, small_config

DOUBLE = Init(None, dtype=np.float64)


class Own(Layer):
    """A layer as a user writes one, with all that it may hold."""

    def __init__(self):
        self.alpha, self.sizes, self.name, self.nothing, self._hidden = 0.5, [1, 2], "own", None, 3
        self.tower = [Linear(2, 3, DOUBLE) for _ in range(3)]
        self.mixed = [Linear(2, 3, DOUBLE), Dropout(0.5)]
        self.heads = {"a": Linear(2, 2, DOUBLE), "none": 5}
        self.weight, self.again, self.parent = Parameter(np.zeros(4)), self.heads["a"], self


OWN = """\
Own(alpha=0.5, name='own')  46 parameters of float64  weight (4,)
  tower.*: 3 × Linear  9 parameters  weight (2, 3), bias (3,)
  mixed.*: Linear  9 parameters  weight (2, 3), bias (3,)
  mixed.*: Dropout(p=0.5)
  heads.a: Linear  6 parameters  weight (2, 2), bias (2,)"""


def test_a_layer_is_its_parts_and_settings_and_shapes():
    assert repr(Own()) == OWN
    assert repr(Positions(5, 4, Init(None))) == "SinusoidalPositions(table=(5, 4))"


@each_class
def test_a_model_fits_a_screen_and_a_shared_table_counts_once(cls):
    model = cls(small_config(num_hidden_layers=24), rng=None)
    lines = repr(model).splitlines()
    assert len(lines) < 50
    assert max(map(len, lines)) <= 120
    count = sum(parameter.value.size for parameter in model.parameters())
    title = lines[0].replace("(pooling_name='mean')", "")  # a setting
    assert title == f"{cls.__name__}  {count:,} parameters of float32"


def test_the_tape_of_an_encoder_layer_is_as_its_docstring_shows_it():
    layer, tape, x = EncoderLayer(8, 2, 16, Init(None)), Tape(), np.zeros((5, 8), np.float32)
    layer(x, x, tape=tape)
    shown = re.search(r"print\(tape\).*?\n\n(.*?)\n\n", EncoderLayer.__doc__, re.DOTALL)[1]
    assert [line.strip() for line in shown.splitlines()] == repr(tape).splitlines()
