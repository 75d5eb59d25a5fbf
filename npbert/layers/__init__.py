"""One file a layer: its forward, its backward, and why. `__all__` is the order to read them in."""

from npbert.layers.activations import ACTIVATIONS, make_activation
from npbert.layers.add_norm import AddNorm
from npbert.layers.attention import MultiHeadAttention
from npbert.layers.bert_embeddings import POSITION_KINDS, BertEmbeddings
from npbert.layers.checks import IGNORED
from npbert.layers.cross_entropy import SoftmaxCrossEntropy
from npbert.layers.dot_product_attention import DotProductAttention
from npbert.layers.dropout import Dropout
from npbert.layers.embedding import Embedding
from npbert.layers.encoder import Encoder
from npbert.layers.encoder_layer import EncoderLayer
from npbert.layers.feed_forward import FeedForward
from npbert.layers.gather import Gather
from npbert.layers.gelu import GELU
from npbert.layers.layer_norm import LayerNorm
from npbert.layers.linear import Linear
from npbert.layers.masked_lm_head import MaskedLMHead
from npbert.layers.mean_pooling import MeanPooling
from npbert.layers.mean_squared_error import MeanSquaredError
from npbert.layers.next_sentence_head import NextSentenceHead
from npbert.layers.parameter import Array, Cache, Layer, Parameter, named_parameters, rows
from npbert.layers.pooler import Pooler
from npbert.layers.positions import SinusoidalPositions
from npbert.layers.relu import ReLU
from npbert.layers.softmax import Softmax
from npbert.layers.special import erf
from npbert.layers.tanh import Tanh
from npbert.layers.tanh_gelu import TanhGELU

__all__ = [
    "Array",
    "Cache",
    "Parameter",
    "Layer",
    "named_parameters",
    "rows",
    "Linear",
    "Tanh",
    "ReLU",
    "GELU",
    "erf",
    "TanhGELU",
    "ACTIVATIONS",
    "make_activation",
    "Softmax",
    "LayerNorm",
    "DotProductAttention",
    "AddNorm",
    "Dropout",
    "Embedding",
    "Gather",
    "SoftmaxCrossEntropy",
    "IGNORED",
    "MeanSquaredError",
    "FeedForward",
    "MultiHeadAttention",
    "EncoderLayer",
    "Encoder",
    "SinusoidalPositions",
    "BertEmbeddings",
    "POSITION_KINDS",
    "Pooler",
    "MeanPooling",
    "NextSentenceHead",
    "MaskedLMHead",
]
