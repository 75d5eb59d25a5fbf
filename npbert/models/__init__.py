"""What the paper puts together from the layers, and its way in and out of Hugging Face's files."""

from npbert.models.bert import BertModel, BertOutput
from npbert.models.config import PRESETS, BertConfig
from npbert.models.hugging_face.config import load_config
from npbert.models.masked_lm import BertForMaskedLM
from npbert.models.multiple_choice import BertForMultipleChoice
from npbert.models.packed_batch import PackedBatch
from npbert.models.parameter_table import ParameterRow, parameter_rows, parameter_table
from npbert.models.pretrained import PreTrainedModel
from npbert.models.pretraining import BertForPreTraining, PreTrainingLosses, PreTrainingOutput
from npbert.models.question_answering import BertForQuestionAnswering, QuestionAnsweringOutput
from npbert.models.sequence_classification import BertForSequenceClassification
from npbert.models.sizes import neither_size_nor_folder, size_table
from npbert.models.task_model import TaskModel, labels_of
from npbert.models.token_classification import BertForTokenClassification

__all__ = [
    "BertConfig",
    "PRESETS",
    "load_config",
    "PackedBatch",
    "BertModel",
    "BertOutput",
    "PreTrainedModel",
    "BertForPreTraining",
    "PreTrainingOutput",
    "PreTrainingLosses",
    "TaskModel",
    "labels_of",
    "BertForMaskedLM",
    "BertForSequenceClassification",
    "BertForMultipleChoice",
    "BertForTokenClassification",
    "BertForQuestionAnswering",
    "QuestionAnsweringOutput",
    "ParameterRow",
    "parameter_rows",
    "parameter_table",
    "size_table",
    "neither_size_nor_folder",
]
