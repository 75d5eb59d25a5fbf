"""One equation a file, with its forward, its backward, and the reason. `__all__` is in reading order."""

from npbert.layers.binary_cross_entropy import BinaryCrossEntropy
from npbert.layers.cosine_loss import CoSENT, CosineLoss
from npbert.layers.cross_entropy import SoftmaxCrossEntropy
from npbert.layers.distance_attention import DistanceAttention
from npbert.layers.dot_product_attention import DotProductAttention
from npbert.layers.dropout import Dropout
from npbert.layers.elementwise import Elementwise
from npbert.layers.embedding import Embedding
from npbert.layers.gather import Gather
from npbert.layers.gelu import GELU
from npbert.layers.identity import Identity, NoEmbedding
from npbert.layers.in_batch_negatives import InBatchNegatives
from npbert.layers.layer_norm import LayerNorm
from npbert.layers.linear import Linear
from npbert.layers.loss import Loss
from npbert.layers.mean_squared_error import MeanSquaredError
from npbert.layers.positions import SinusoidalPositions
from npbert.layers.relative_bias import RelativeBias
from npbert.layers.relu import ReLU
from npbert.layers.rotary import Rotary
from npbert.layers.silu import SiLU
from npbert.layers.softmax import Softmax
from npbert.layers.tanh import Tanh
from npbert.layers.tanh_gelu import TanhGELU
from npbert.layers.triplet_loss import TripletLoss
from npbert.layers.unit_length import UnitLength
from npbert.layers.unpack import Unpack
from npbert.layers.weighted_cross_entropy import WeightedCrossEntropy

__all__ = [
    "Linear",
    "Elementwise",
    "Tanh",
    "ReLU",
    "GELU",
    "TanhGELU",
    "Softmax",
    "Loss",
    "SoftmaxCrossEntropy",
    "WeightedCrossEntropy",
    "MeanSquaredError",
    "LayerNorm",
    "DotProductAttention",
    "Dropout",
    "Embedding",
    "SinusoidalPositions",
    "Gather",
    "Unpack",
    "SiLU",
    "Identity",
    "NoEmbedding",
    "Rotary",
    "RelativeBias",
    "DistanceAttention",
    "BinaryCrossEntropy",
    "UnitLength",
    "InBatchNegatives",
    "CosineLoss",
    "CoSENT",
    "TripletLoss",
]
