"""BERT and its heads, put together from the layers as in the paper, and Hugging Face's files for them."""

from npbert.models.bert import BertModel, BertOutput
from npbert.models.classification import (
    BertForMultipleChoice,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from npbert.models.config import PRESETS, BertConfig, load_config, neither_size_nor_folder, size_table
from npbert.models.packed_batch import PackedBatch, Reads
from npbert.models.parameters import ParameterRow, parameter_rows, parameter_table, parameters_by_layer
from npbert.models.pretrained import PreTrainedModel
from npbert.models.pretraining import BertForMaskedLM, BertForPreTraining, PreTrainingLosses, PreTrainingOutput
from npbert.models.question_answering import BertForQuestionAnswering, QuestionAnsweringOutput
from npbert.models.task_model import TaskModel

__all__ = ["BertConfig", "PRESETS", "load_config", "Reads", "PackedBatch"]
__all__ += ["BertModel", "BertOutput", "PreTrainedModel", "TaskModel"]
__all__ += ["BertForMaskedLM", "BertForPreTraining", "PreTrainingOutput", "PreTrainingLosses"]
__all__ += ["BertForSequenceClassification", "BertForMultipleChoice", "BertForTokenClassification"]
__all__ += ["BertForQuestionAnswering", "QuestionAnsweringOutput"]
__all__ += ["ParameterRow", "parameter_rows", "parameter_table", "parameters_by_layer"]
__all__ += ["size_table", "neither_size_nor_folder"]
