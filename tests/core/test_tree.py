"""repr of a layer: a tree with settings, shapes and counts."""

import re
from textwrap import dedent

import numpy as np
import pytest

from npbert import (
    BertConfig,
    BertForPreTraining,
    BertModel,
    Dropout,
    Init,
    Layer,
    Linear,
    Parameter,
    SinusoidalPositions,
)
from npbert.catalogue import CATALOGUE
from tests.models.small import each_class, small_config

DOUBLE = Init(None, dtype=np.float64)


class Own(Layer):
    """A layer as a user writes one, with all that it may hold."""

    def __init__(self):
        self.alpha, self.sizes, self.name, self.nothing = np.float32(0.5), [1, 2], "own", None
        self.left_out = "as there is no room"
        self.tower = [Linear(2, 3, DOUBLE) for _ in range(3)]
        self.mixed = [Linear(2, 3, DOUBLE), Linear(2, 3, DOUBLE), Linear(3, 3, DOUBLE), Dropout(0.5)]
        self.heads = {"a": Linear(2, 2, DOUBLE), "b": Linear(2, 2, DOUBLE), "none": 5}
        self.pairs = [(Linear(1, 1, DOUBLE), Linear(1, 1, DOUBLE))]
        self.weights = (Parameter(np.zeros(4)), Parameter(np.zeros(4)))
        self.again = [self.heads["a"], self.heads["a"]]
        self._kept = self.weights[1]
        self.parent = self


OWN = """\
Own(alpha=0.5, sizes=(1, 2), name='own', nothing=No…) of float64  81 parameters
  tower: 3 × Linear  weight (2, 3), bias (3,)                      9 each
  mixed.0 to 1: 2 × Linear  weight (2, 3), bias (3,)               9 each
  mixed.2: Linear  weight (3, 3), bias (3,)                       12
  mixed.3: Dropout(p=0.5)
  heads.a: Linear  weight (2, 2), bias (2,)                        6
  heads.b: Linear  weight (2, 2), bias (2,)                        6
  pairs.0: 2 × Linear  weight (1, 1), bias (1,)                    2 each
  weights: 2 × Parameter (4,)                                      4 each
  again: 2 × Linear, the same as heads.a
  _kept: Parameter (4,), the same as weights.1
  parent: Own, the same as Own
"""


def test_a_layer_of_ones_own():
    assert repr(Own()) == OWN.rstrip()
    assert sum(parameter.value.size for parameter in Own().parameters()) == 81


def test_settings_are_plain_values_and_shapes_of_arrays():
    class Settings(Layer):
        def __init__(self):
            self.array, self.number, self.pair = np.zeros((2, 3)), np.array(7), ("a", np.float64(1))
            self.function, self.kind, self.words, self._hidden, self.tower = len, Linear, {"a": 1}, 3, [1, len]

    assert repr(Settings()) == "Settings(array=float64 (2, 3), number=7, pair=('a', 1.0))"


ENCODER_LAYERS = """\
    encoder: Encoder(gradient_checkpointing=False)                         396,544
      layers: 2 × EncoderLayer                                             198,272 each
        attention: MultiHeadAttention                                       66,048
          query: Linear  weight (128, 128), bias (128,)                     16,512
"""
TABLE = "    table: Parameter (30522, 128), the same as bert.embeddings.word_embeddings.weight\n"


def test_a_bert():
    text = f"{BertForPreTraining(BertConfig.preset('bert-tiny'), rng=None)!r}\n"
    first = text.splitlines()[0]
    assert re.fullmatch(r"BertForPreTraining of float32 +4,433,468 parameters", first)
    assert ENCODER_LAYERS in text
    assert TABLE in text
    assert "attention_norm: LayerNorm(eps=1e-12)  gamma (128,), beta (128,)        256\n" in text
    assert "          dot_product: DotProductAttention(num_heads=2)\n            dropout: Dropout(p=0.1)\n" in text


@pytest.mark.parametrize("preset", ["bert-tiny", "bert-large"])
@each_class
def test_it_fits_a_screen(cls, preset):
    lines = repr(cls(BertConfig.preset(preset), rng=None)).splitlines()
    assert len(lines) < 50
    assert max(map(len, lines)) <= 100


def counted(lines, depth=0):
    """The sum of the counts in the lines of this depth."""
    pattern = re.compile(rf"^ {{{2 * depth}}}\S(?:.*: (?:(\d+) × )?)?.*?  +([\d,]+)(?: each| parameters)?$")
    found = [match.groups() for match in map(pattern.match, lines) if match]
    return sum(int(times or 1) * int(count.replace(",", "")) for times, count in found)


@each_class
def test_the_counts_add_up_and_a_shared_table_counts_once(cls):
    model = cls(small_config(), rng=None)
    lines = repr(model).splitlines()
    assert counted(lines) == counted(lines, 1) == sum(parameter.value.size for parameter in model.parameters())


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_block_has_one_and_it_changes_nothing(name):
    layer, _, _ = CATALOGUE[name].make()
    before = list(layer.named_parameters())
    assert repr(layer).startswith(type(layer).__name__)
    assert list(layer.named_parameters()) == before


LINES = {
    "GELU": CATALOGUE["GELU"].make()[0],
    "Dropout(p=0.1)": Dropout(0.1),
    "Linear of float32  weight (3, 4), bias (4,)  16 parameters": Linear(3, 4, Init(None)),
    "SinusoidalPositions(table=float32 (5, 4))": SinusoidalPositions(5, 4, Init(None)),
}


@pytest.mark.parametrize(("line", "layer"), LINES.items(), ids=LINES)
def test_one_line(line, layer):
    assert repr(layer) == line


def test_parameters_that_do_not_fit_beside_their_layer_stand_below_it():
    class Long(Layer):
        def __init__(self):
            for letter in "abc":
                setattr(self, letter * 20, Parameter(np.zeros(2)))

    assert repr(Long()) == dedent(
        f"""\
        Long of float64                         6 parameters
          {"a" * 20}: Parameter (2,)  2
          {"b" * 20}: Parameter (2,)  2
          {"c" * 20}: Parameter (2,)  2"""
    )


def test_layers_that_share_a_parameter_of_theirs_are_told_apart():
    model = BertModel(small_config(), rng=None, add_pooling_layer=False)
    first, second = model.encoder.layers
    second.attention_norm.gamma = first.attention_norm.gamma
    text = repr(model)
    assert "layers.0: EncoderLayer" in text and "layers.1: EncoderLayer" in text
    assert "gamma: Parameter (6,), the same as encoder.layers.0.attention_norm.gamma" in text
