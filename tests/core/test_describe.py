"""Layers and tapes as text: paths, settings, shapes and counts."""

import re
from types import SimpleNamespace

import numpy as np

from npbert import Dropout, EncoderLayer, Init, Layer, Linear, Parameter, SinusoidalPositions as Positions, Tape
from npbert.core import named_parameters
from tests.models.small import each_class, small_config

DOUBLE = Init(None, dtype=np.float64)


class Bare:
    """A layer of one's own, which inherits from nothing."""

    def __init__(self):
        self.w = Parameter(np.zeros(1))

    def forward(self, x):
        return x


class Own(Layer):
    """A layer as a user writes one, with all that it may hold."""

    def __init__(self):
        self.alpha, self.sizes, self.name, self.nothing, self._hidden = 0.5, [1, 2], "own", None, 3
        self.tower = [Linear(2, 3, DOUBLE) for _ in range(3)]
        self.mixed = [Linear(2, 3, DOUBLE), Dropout(0.5)]
        self.heads = Bare(), {"a": Linear(2, 2, DOUBLE), "none": 5}
        self.weight, self.again, self.parent = Parameter(np.zeros(4)), self.heads[1]["a"], self


OWN = """\
Own(alpha=0.5, name='own')  47 parameters of float64  weight (4,)
  tower.*: 3 × Linear  9 parameters  weight (2, 3), bias (3,)
  mixed.*: Linear  9 parameters  weight (2, 3), bias (3,)
  mixed.*: Dropout(p=0.5)
  heads.*: Bare  1 parameters  w (1,)
  heads.*.a: Linear  6 parameters  weight (2, 2), bias (2,)"""


def test_a_layer_is_its_parts_and_settings_and_shapes():
    assert repr(Own()) == OWN
    assert repr(Positions(5, 4, Init(None))) == "SinusoidalPositions  weight (5, 4)"


def test_parameters_are_found_wherever_they_are_by_dotted_names_in_order_and_once():
    own = Own()
    layers = ["tower.0", "tower.1", "tower.2", "mixed.0", "heads.1.a"]
    names = [f"{layer}.{name}" for layer in layers for name in ("weight", "bias")]
    names.insert(8, "heads.0.w")
    assert [name for name, _ in own.named_parameters()] == [*names, "weight"]
    assert [parameter for _, parameter in own.named_parameters()] == own.parameters()
    anything = SimpleNamespace(theta=Parameter(np.zeros(2)), own=own, no_layer={"what": object()})
    assert [name for name, _ in named_parameters(anything)] == ["theta", *(f"own.{n}" for n in names), "own.weight"]


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
