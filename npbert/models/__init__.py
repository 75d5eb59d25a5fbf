"""What the paper puts together from the layers."""

from npbert.models.bert import BertModel, BertOutput
from npbert.models.config import PRESETS, BertConfig
from npbert.models.parameter_table import parameter_table
from npbert.models.pretraining import BertForPreTraining, PreTrainingLosses, PreTrainingOutput

__all__ = [
    "BertConfig",
    "PRESETS",
    "BertModel",
    "BertOutput",
    "BertForPreTraining",
    "PreTrainingOutput",
    "PreTrainingLosses",
    "parameter_table",
]
