"""BERT and its heads, built from the layers as in the paper, with Hugging Face's files."""

from pathlib import Path
from typing import Any

from npbert.models.architecture import Architecture
from npbert.models.bert import POOLINGS, BertModel, BertOutput, TextPooling
from npbert.models.config import PRESETS, BertConfig, load_config
from npbert.models.electra import ElectraForPreTraining, ReplacedTokenDetection
from npbert.models.heads import (
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    QuestionAnsweringOutput,
    TaskLoss,
    TaskModel,
)
from npbert.models.packed_batch import AnyBatch, PackedBatch, Reads
from npbert.models.parameters import neither_size_nor_folder, parameter_table, parameters_by_layer, size_table
from npbert.models.pretrained import PreTrainedModel
from npbert.models.pretraining import BertForMaskedLM, BertForPreTraining, PreTrainingLosses, PreTrainingOutput
from npbert.models.sentence_vectors import LOSSES, BertForSentenceVectors

AutoConfig, AutoModel, AutoModelForMaskedLM = BertConfig, BertModel, BertForMaskedLM
AutoModelForSequenceClassification, AutoModelForTokenClassification = (
    BertForSequenceClassification,
    BertForTokenClassification,
)
AutoModelForQuestionAnswering, AutoModelForMultipleChoice = BertForQuestionAnswering, BertForMultipleChoice
"""One class for BERT and its descendants, by the folder. These are the usual names."""


class AutoModelForPreTraining:
    """`from_pretrained(folder, …)` reads a BertForPreTraining, or, of an ELECTRA, an ElectraForPreTraining."""

    @staticmethod
    def from_pretrained(folder: str | Path, **options: Any) -> BertForPreTraining | ElectraForPreTraining:
        """As PreTrainedModel.from_pretrained."""
        is_electra = load_config(folder).architecture.model_type == "electra"
        return (ElectraForPreTraining if is_electra else BertForPreTraining).from_pretrained(folder, **options)


__all__ = [
    "BertConfig",
    "Architecture",
    "PRESETS",
    "load_config",
    "Reads",
    "PackedBatch",
    "BertModel",
    "BertOutput",
    "PreTrainedModel",
    "TaskModel",
    "TaskLoss",
    "BertForMaskedLM",
    "BertForPreTraining",
    "PreTrainingOutput",
    "PreTrainingLosses",
    "BertForSequenceClassification",
    "BertForMultipleChoice",
    "BertForTokenClassification",
    "BertForQuestionAnswering",
    "BertForSentenceVectors",
    "QuestionAnsweringOutput",
    "ElectraForPreTraining",
    "ReplacedTokenDetection",
    "AutoConfig",
    "AutoModel",
    "AutoModelForMaskedLM",
    "AutoModelForPreTraining",
    "AutoModelForSequenceClassification",
    "AutoModelForTokenClassification",
    "AutoModelForQuestionAnswering",
    "AutoModelForMultipleChoice",
    "parameter_table",
    "parameters_by_layer",
    "size_table",
    "neither_size_nor_folder",
    "AnyBatch",
    "LOSSES",
    "POOLINGS",
    "TextPooling",
]
