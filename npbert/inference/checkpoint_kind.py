"""The kind of a checkpoint: describes its head in an error, if another one is needed."""

from pathlib import Path
from typing import Any

from npbert.io import FileError, model_folder, read_json_object
from npbert.models.config import CONFIG_FILE

_FINETUNE = "; npbert finetune makes one from it"
_KINDS = {
    "BertModel": "a BERT without a head",
    "BertForPreTraining": "a pre-trained BERT with a masked-LM head",
    "BertForMaskedLM": "a pre-trained BERT with a masked-LM head",
    "BertForSequenceClassification": "a text classifier",
    "BertForTokenClassification": "a tagger",
    "BertForQuestionAnswering": "a question-answering model",
    "BertForMultipleChoice": "a model for multiple choice",
}
_PRETRAINED = ("BertModel", "BertForPreTraining", "BertForMaskedLM")


def check_holds(folder: str | Path, wanted: str) -> None:
    """Raise FileError, with the kind of the checkpoint in `folder`, if its config.json names another class of npbert's
    in `architectures` than the one called `wanted`.

    BertModel reads every checkpoint. Loading compares the tensors.

    Raises: also FileError for a config.json that is not JSON.
    """
    folder = model_folder(folder)
    names: Any = read_json_object(folder / CONFIG_FILE, may_lack=True).get("architectures")
    held = str(names[0]) if isinstance(names, list) and names else wanted
    has, wants = _KINDS.get(held), _KINDS.get(wanted)
    if has and wants and has != wants and wanted != "BertModel":
        hint = _FINETUNE if held in _PRETRAINED else ""
        raise FileError(f"{folder} has {has}, wanted {wants}{hint}")
