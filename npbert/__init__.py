"""npbert: BERT in NumPy, with every derivative written by hand and proved.

Dimension names, everywhere:

    B batch                    D hidden size           V vocabulary
    T tokens in a sequence     H attention heads       M masked positions in the batch
    L layers                   F feed-forward size     C classes

`dx` is ∂loss/∂x and has the shape of x.

Reading order: layers/parameter.py, layers/linear.py, layers/gelu.py, layers/softmax.py, layers/layer_norm.py,
layers/dot_product_attention.py, layers/attention.py, layers/encoder_layer.py,
models/bert.py, models/pretraining.py, optim/adam.py; then
gradcheck/check.py and proof.py, which prove them all.
A finished model at work: inference/task.py, then one file a use.
"""

from npbert.data import Batch, Tokenizer
from npbert.gradcheck import check_directions, check_gradients
from npbert.inference import Answer, Classify, Embed, FillMask
from npbert.layers import (
    GELU,
    AddNorm,
    BertEmbeddings,
    DotProductAttention,
    Dropout,
    Embedding,
    Encoder,
    EncoderLayer,
    FeedForward,
    Gather,
    Layer,
    LayerNorm,
    Linear,
    MaskedLMHead,
    MeanPooling,
    MeanSquaredError,
    MultiHeadAttention,
    NextSentenceHead,
    Parameter,
    Pooler,
    ReLU,
    SinusoidalPositions,
    Softmax,
    SoftmaxCrossEntropy,
    Tanh,
    TanhGELU,
)
from npbert.memory import keep_freed_memory
from npbert.models import (
    BertConfig,
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
)
from npbert.optim import Adadelta, Adam, AdamW, clip_by_global_norm, clip_factor, global_norm, linear_warmup_decay
from npbert.threads import num_threads, set_num_threads
from npbert.version import __version__

__all__ = [
    "__version__",
    "Parameter",
    "Layer",
    "Linear",
    "Tanh",
    "ReLU",
    "GELU",
    "TanhGELU",
    "Softmax",
    "LayerNorm",
    "AddNorm",
    "Dropout",
    "Embedding",
    "Gather",
    "SoftmaxCrossEntropy",
    "MeanSquaredError",
    "FeedForward",
    "DotProductAttention",
    "MultiHeadAttention",
    "EncoderLayer",
    "Encoder",
    "SinusoidalPositions",
    "BertEmbeddings",
    "Pooler",
    "MeanPooling",
    "NextSentenceHead",
    "MaskedLMHead",
    "BertConfig",
    "BertModel",
    "BertForPreTraining",
    "BertForMaskedLM",
    "BertForSequenceClassification",
    "BertForMultipleChoice",
    "BertForTokenClassification",
    "BertForQuestionAnswering",
    "Batch",
    "Tokenizer",
    "FillMask",
    "Embed",
    "Classify",
    "Answer",
    "Adam",
    "AdamW",
    "Adadelta",
    "linear_warmup_decay",
    "clip_by_global_norm",
    "clip_factor",
    "global_norm",
    "check_gradients",
    "check_directions",
    "num_threads",
    "set_num_threads",
]

keep_freed_memory()
