"""npbert: BERT in NumPy, with every derivative written by hand and checked.

Dimension names, everywhere:

    B batch                                    D hidden size             V vocabulary
    T tokens in a sequence                     H attention heads         C classes
    N rows: the real tokens of the batch       d = D / H                 L layers
    M rows that a head reads                   F feed-forward size

`dx` is ∂loss/∂x and has the shape of x. `__all__` is the order to read things in, as in the README.
"""

from npbert.blocks import (
    BertEmbeddings,
    Checkpointed,
    Encoder,
    EncoderLayer,
    FeedForward,
    MaskedLMHead,
    MeanPooling,
    MultiHeadAttention,
    NextSentenceHead,
    Pooler,
)
from npbert.compute import num_threads, set_num_threads
from npbert.core import IGNORED, NO_TAPE, Init, Layer, Parameter, Sequences, Tape, TapeError
from npbert.data import Batch, Tokenizer
from npbert.gradcheck import check_directions, check_gradients, randomize
from npbert.inference import Answer, Classify, Embed, FillMask, Tag
from npbert.layers import (
    GELU,
    DotProductAttention,
    Dropout,
    Elementwise,
    Embedding,
    Gather,
    LayerNorm,
    Linear,
    MeanSquaredError,
    ReLU,
    SinusoidalPositions,
    Softmax,
    SoftmaxCrossEntropy,
    Tanh,
    TanhGELU,
    Unpack,
)
from npbert.models import (
    BertConfig,
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
    PackedBatch,
    PreTrainedModel,
    TaskModel,
)
from npbert.optim import Adadelta, Adam, AdamW, clip_by_global_norm, clip_factor, global_norm, linear_warmup_decay
from npbert.version import __version__

__all__ = [
    "__version__",
    "Parameter",
    "Init",
    "Layer",
    "Tape",
    "NO_TAPE",
    "TapeError",
    "Sequences",
    "IGNORED",
    "Linear",
    "Elementwise",
    "Tanh",
    "ReLU",
    "GELU",
    "TanhGELU",
    "Softmax",
    "SoftmaxCrossEntropy",
    "MeanSquaredError",
    "LayerNorm",
    "DotProductAttention",
    "Dropout",
    "Embedding",
    "SinusoidalPositions",
    "Gather",
    "Unpack",
    "FeedForward",
    "MultiHeadAttention",
    "EncoderLayer",
    "Checkpointed",
    "Encoder",
    "BertEmbeddings",
    "Pooler",
    "MeanPooling",
    "MaskedLMHead",
    "NextSentenceHead",
    "BertConfig",
    "PackedBatch",
    "BertModel",
    "PreTrainedModel",
    "BertForPreTraining",
    "TaskModel",
    "BertForMaskedLM",
    "BertForSequenceClassification",
    "BertForMultipleChoice",
    "BertForTokenClassification",
    "BertForQuestionAnswering",
    "Adam",
    "AdamW",
    "Adadelta",
    "linear_warmup_decay",
    "clip_by_global_norm",
    "clip_factor",
    "global_norm",
    "check_gradients",
    "check_directions",
    "randomize",
    "Tokenizer",
    "Batch",
    "FillMask",
    "Embed",
    "Classify",
    "Tag",
    "Answer",
    "num_threads",
    "set_num_threads",
]
