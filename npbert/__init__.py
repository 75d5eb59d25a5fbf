"""npbert: BERT in NumPy, with every derivative written by hand and checked.

Dimension names, everywhere:

    B batch                                    D hidden size             V vocabulary
    T tokens in a sequence                     H attention heads         C classes
    R of them are queries: all, or those read  d = D / H                 L layers
    N, M rows: all T, and all R, of a batch    F feed-forward size       n targets of a loss

`dx` is ∂loss/∂x and has the shape of x. `__all__` is in reading order, as is docs/map.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:  # for editors and mypy; at run time, each name of `__all__` is imported at its first use
    from npbert import blocks as blocks
    from npbert import compute as compute
    from npbert import core as core
    from npbert import data as data
    from npbert import gradcheck as gradcheck
    from npbert import inference as inference
    from npbert import layers as layers
    from npbert import learn as learn
    from npbert import models as models
    from npbert import optim as optim
    from npbert import plots as plots
    from npbert import sklearn as sklearn
    from npbert import training as training
    from npbert.blocks import *
    from npbert.compute import num_threads, set_num_threads
    from npbert.core import *
    from npbert.data import Batch, Tokenizer, collate
    from npbert.gradcheck import assert_proved, check_directions, check_gradients, prove, randomize
    from npbert.inference import Answer, Classify, Embed, FillMask, Tag
    from npbert.layers import *
    from npbert.models import *
    from npbert.optim import Adam, AdamW, clip_by_global_norm, global_norm, linear_warmup_decay
    from npbert.training import Finetuning, Pretraining, Trainer
    from npbert.training.from_lists import finetune

__all__ = ["__version__", "Parameter", "Init", "Layer", "Tape", "NO_TAPE", "TapeError", "Sequences", "IGNORED"]
__all__ += ["Linear", "Elementwise", "Tanh", "ReLU", "GELU", "TanhGELU"]
__all__ += ["Softmax", "Loss", "SoftmaxCrossEntropy", "WeightedCrossEntropy", "MeanSquaredError"]
__all__ += ["LayerNorm", "DotProductAttention", "Dropout"]
__all__ += ["Embedding", "SinusoidalPositions", "Gather"]
__all__ += ["SiLU", "Identity", "NoEmbedding", "Rotary", "RelativeBias", "DistanceAttention"]
__all__ += ["BinaryCrossEntropy"]
__all__ += ["UnitLength", "InBatchNegatives", "CosineLoss", "CoSENT", "TripletLoss"]
__all__ += ["FeedForward", "MultiHeadAttention", "EncoderLayer", "Checkpointed", "Encoder", "BertEmbeddings"]
__all__ += ["Pooler", "MeanPooling", "MaxPooling", "MaskedLMHead", "NextSentenceHead"]
__all__ += ["RotaryAttention", "GatedFeedForward", "PreNormEncoderLayer", "ReplacedTokenHead"]
__all__ += ["BertConfig", "Reads", "PackedBatch", "BertModel", "PreTrainedModel", "TaskModel"]
__all__ += ["BertForMaskedLM", "BertForPreTraining", "BertForSequenceClassification"]
__all__ += ["BertForMultipleChoice", "BertForTokenClassification", "BertForQuestionAnswering", "BertForSentenceVectors"]
__all__ += ["ElectraForPreTraining", "ReplacedTokenDetection"]
__all__ += ["AutoConfig", "AutoModel", "AutoModelForMaskedLM", "AutoModelForPreTraining"]
__all__ += ["AutoModelForSequenceClassification", "AutoModelForTokenClassification"]
__all__ += ["AutoModelForQuestionAnswering", "AutoModelForMultipleChoice"]
__all__ += ["Adam", "AdamW", "linear_warmup_decay", "clip_by_global_norm", "global_norm"]
__all__ += ["check_gradients", "check_directions", "randomize", "assert_proved", "prove"]
__all__ += ["Tokenizer", "Batch", "collate", "FillMask", "Embed", "Classify", "Tag", "Answer"]
__all__ += ["Trainer", "Pretraining", "Finetuning", "finetune", "num_threads", "set_num_threads"]

_ROOMS = ["core", "compute", "layers", "blocks", "optim", "data", "models", "gradcheck", "inference", "training"]
_ROOMS += ["plots", "sklearn", "learn"]

if not TYPE_CHECKING:  # otherwise mypy would accept any name

    def __getattr__(name: str) -> Any:
        """Import a subpackage or a public name at its first use, which keeps `import npbert` quick."""
        if name in _ROOMS:
            return import_module(f"npbert.{name}")
        if name == "finetune":  # npbert.training has a module of that name
            return import_module("npbert.training.from_lists").finetune
        for room in _ROOMS if name in __all__ else []:
            module = import_module(f"npbert.{room}")
            if name in module.__all__:
                globals()[name] = getattr(module, name)
                return globals()[name]
        raise AttributeError(f"module 'npbert' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return [*__all__, *_ROOMS]
