"""Identity and NoEmbedding: placeholders for a layer that a model leaves out."""

from typing import Any

from npbert.compute import Array
from npbert.core import NO_TAPE, Layer, Tape


class Identity(Layer):
    """y = x: ModernBERT's first layer has no LayerNorm before attention."""

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        return x

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dx = dy"""
        return dy


class NoEmbedding(Layer):
    """y = 0, for any ids: DistilBERT has no token types, and a model with rotary positions no table of positions."""

    def forward(self, ids: Array, tape: Tape = NO_TAPE) -> Any:
        return 0.0

    def backward(self, dy: Array, tape: Tape) -> None:
        """Do nothing: it has no parameters, and integers have no gradient."""
