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
    from npbert import (
        blocks as blocks,
        compute as compute,
        core as core,
        data as data,
        gradcheck as gradcheck,
        inference as inference,
        layers as layers,
        learn as learn,
        models as models,
        optim as optim,
        plots as plots,
        sklearn as sklearn,
        training as training,
    )
    from npbert.blocks import *
    from npbert.compute import num_threads as num_threads, set_num_threads as set_num_threads
    from npbert.core import *
    from npbert.data import Batch as Batch, Tokenizer as Tokenizer, collate as collate
    from npbert.gradcheck import (
        assert_proved as assert_proved,
        check_directions as check_directions,
        check_gradients as check_gradients,
        prove as prove,
        randomize as randomize,
    )
    from npbert.inference import (
        Answer as Answer,
        Classify as Classify,
        Embed as Embed,
        FillMask as FillMask,
        Tag as Tag,
    )
    from npbert.layers import *
    from npbert.models import *
    from npbert.optim import (
        Adam as Adam,
        AdamW as AdamW,
        clip_by_global_norm as clip_by_global_norm,
        global_norm as global_norm,
        linear_warmup_decay as linear_warmup_decay,
    )
    from npbert.training import Finetuning as Finetuning, Pretraining as Pretraining, Trainer as Trainer
    from npbert.training.from_lists import finetune as finetune

_ROOMS = {
    "core": "Parameter Init Layer Tape NO_TAPE TapeError Sequences IGNORED",
    "layers": "Linear Elementwise Tanh ReLU GELU TanhGELU Softmax Loss SoftmaxCrossEntropy WeightedCrossEntropy "
    "MeanSquaredError LayerNorm DotProductAttention Dropout Embedding SinusoidalPositions Gather Unpack SiLU "
    "Identity NoEmbedding Rotary RelativeBias DistanceAttention BinaryCrossEntropy UnitLength "
    "InBatchNegatives CosineLoss CoSENT TripletLoss",
    "blocks": "FeedForward MultiHeadAttention EncoderLayer Checkpointed Encoder BertEmbeddings Pooler MeanPooling "
    "MaxPooling MaskedLMHead NextSentenceHead RotaryAttention GatedFeedForward PreNormEncoderLayer "
    "ReplacedTokenHead",
    "models": "BertConfig Reads PackedBatch BertModel PreTrainedModel TaskModel BertForMaskedLM BertForPreTraining "
    "BertForSequenceClassification BertForMultipleChoice BertForTokenClassification "
    "BertForQuestionAnswering BertForSentenceVectors ElectraForPreTraining ReplacedTokenDetection "
    "AutoConfig AutoModel AutoModelForMaskedLM AutoModelForPreTraining AutoModelForSequenceClassification "
    "AutoModelForTokenClassification AutoModelForQuestionAnswering AutoModelForMultipleChoice",
    "optim": "Adam AdamW linear_warmup_decay clip_by_global_norm global_norm",
    "gradcheck": "check_gradients check_directions randomize assert_proved prove",
    "data": "Tokenizer Batch collate",
    "inference": "FillMask Embed Classify Tag Answer",
    "training": "Trainer Pretraining Finetuning",
    "training.from_lists": "finetune",
    "compute": "num_threads set_num_threads",
    "plots": "",
    "sklearn": "",
    "learn": "",
}
"""The public names of each room, in reading order; each room is public, too."""

if not TYPE_CHECKING:  # otherwise mypy would accept any name
    __all__ = ["__version__", *" ".join(_ROOMS.values()).split()]

    def __getattr__(name: str) -> Any:
        """Import a subpackage or a public name at its first use, which keeps `import npbert` quick."""
        if name in _ROOMS:
            return import_module(f"npbert.{name}")
        for room, names in _ROOMS.items():
            if name in names.split():
                globals()[name] = getattr(import_module(f"npbert.{room}"), name)
                return globals()[name]
        raise AttributeError(f"module 'npbert' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return [*__all__, *filter(str.isidentifier, _ROOMS)]
