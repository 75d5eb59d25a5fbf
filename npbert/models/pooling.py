"""TextPooling: a vector for each text, from the vectors of its tokens."""

from npbert.blocks import MaxPooling, MeanPooling
from npbert.compute import Array
from npbert.core import NO_TAPE, Layer, Tape
from npbert.io import one_of
from npbert.layers import Gather
from npbert.models.packed_batch import PackedBatch

_LAYERS = {"mean": MeanPooling, "cls": None, "max": MaxPooling, "mean_sqrt_len_tokens": lambda: MeanPooling(0.5)}
POOLINGS = tuple(_LAYERS)


class TextPooling(Layer):
    """The `mean` of the token vectors of each text, the vector of [CLS] (`cls`), the largest value of each feature
    (`max`), or the sum / √(number of tokens) (`mean_sqrt_len_tokens`).

    h (M, D), the rows that are read   y (B, D), in the order of the batch

    Raises: InputError for another pooling.
    """

    def __init__(self, pooling: str) -> None:
        one_of(POOLINGS).check("pooling", pooling)
        make = _LAYERS[pooling]
        self.layer, self.gather = make() if make else None, Gather()

    def forward(self, h: Array, packed: PackedBatch, tape: Tape = NO_TAPE) -> Array:
        if self.layer is None:
            return self.gather(h, packed.first, tape)
        return self.gather(self.layer(h, packed.sequences, tape), packed.unsorted, tape)

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dh is 0 except for the first token of each text with `cls`; else each token has its share of dy."""
        dh = self.gather.backward(dy, tape)
        return self.layer.backward(dh, tape) if self.layer else dh
