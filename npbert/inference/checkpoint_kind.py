"""The kind of a checkpoint: describes its head in an error, if another one is needed."""

from pathlib import Path
from typing import Any

from npbert.io.files import FileError, model_folder, read_json_object
from npbert.models.hugging_face.config import CONFIG_FILE

_FINETUNE = "npbert finetune makes one from it"
_KINDS = {  # by the class: what it is, and its use
    "BertModel": ("a BERT without a head", _FINETUNE),
    "BertForPreTraining": ("a pre-trained BERT with a masked-LM head", _FINETUNE),
    "BertForMaskedLM": ("a model with a masked-LM head", _FINETUNE),
    "BertForSequenceClassification": (
        "a text classifier",
        "to use it: npbert classify, or npbert.Classify in Python",
    ),
    "BertForTokenClassification": ("a tagger", "to use it: npbert tag, or npbert.Tag in Python"),
    "BertForQuestionAnswering": ("a question-answering model", "to use it: npbert answer, or npbert.Answer in Python"),
    "BertForMultipleChoice": ("a model for multiple choice", "to judge it: npbert evaluate --task multiple-choice"),
}
_FITTING = {("BertForPreTraining", "BertForMaskedLM"), ("BertForMaskedLM", "BertForPreTraining")}


def check_holds(folder: str | Path, wanted: str) -> None:
    """Raise FileError, with the kind of the checkpoint in `folder`, if its config.json names another class of npbert's
    in `architectures` than the one called `wanted`.

    BertModel reads every checkpoint. Loading compares the tensors.

    Raises: also FileError for a config.json that is not JSON.
    """
    folder = model_folder(folder)
    path = folder / CONFIG_FILE
    names: Any = read_json_object(path, may_lack=True).get("architectures")
    held = str(names[0]) if isinstance(names, list) and names else wanted
    if held == wanted or wanted == "BertModel" or (held, wanted) in _FITTING:
        return
    if held in _KINDS and wanted in _KINDS:
        name, use = _KINDS[held]
        raise FileError(f"{folder} has {name}, wanted {_KINDS[wanted][0]}; {use}")
