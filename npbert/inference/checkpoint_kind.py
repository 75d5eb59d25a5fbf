"""The kind of a checkpoint: which head it holds, in words, for somebody who has taken it for another."""

from pathlib import Path
from typing import Any, NamedTuple

from npbert.io.files import FileError, model_folder, read_json_object
from npbert.models import BertConfig, load_config
from npbert.models.hugging_face.checkpoint import find_weights
from npbert.models.hugging_face.config import CONFIG_FILE
from npbert.models.hugging_face.names import plain_name
from npbert.models.hugging_face.tensors import TensorFile


class _Kind(NamedTuple):
    """A head that npbert knows: its name, with its number of labels, the tensors that it is made of, and its use."""

    name: str
    tensors: tuple[str, ...]
    use: str


_CLASSIFIER, _POOLER, _WORDS = "classifier.weight", "pooler.dense.weight", "cls.predictions.transform.dense.weight"
_USE = "to use it: npbert {}, or npbert.{} in Python"
_FINETUNE = "npbert finetune makes one from it"
_KINDS = {  # by the class; in this order the tensors of a file are looked at
    "BertForQuestionAnswering": _Kind(
        "a question-answering model", ("qa_outputs.weight",), _USE.format("answer", "Answer")
    ),
    "BertForPreTraining": _Kind(
        "a pre-trained BERT with a masked-LM head", (_WORDS, "cls.seq_relationship.weight"), _FINETUNE
    ),
    "BertForMaskedLM": _Kind("a model with a masked-LM head", (_WORDS,), _FINETUNE),
    "BertForSequenceClassification": _Kind(
        "a text classifier with {} labels", (_CLASSIFIER, _POOLER), _USE.format("classify", "Classify")
    ),
    "BertForMultipleChoice": _Kind(
        "a model for multiple choice", (_CLASSIFIER, _POOLER), "to judge it: npbert evaluate --task multiple-choice"
    ),
    "BertForTokenClassification": _Kind("a tagger with {} tags", (_CLASSIFIER,), _USE.format("tag", "Tag")),
}


def check_holds(folder: str | Path, wanted: str) -> None:
    """Raise FileError, which says what `folder` holds, when that is not a model of the class called `wanted`.

    A checkpoint is of the class that config.json names in `architectures`, if the file has the tensors for it, and else
    of the first class that its tensors make. A class that is not npbert's is not looked at: its tensors are compared
    when they are loaded.

    Raises: FileNotFoundError or FileError for a configuration or weights that are missing or damaged.
    """
    folder = model_folder(folder)
    if wanted not in _KINDS:
        return
    config = load_config(folder)
    if config.architecture.model_type != "bert":  # what it lacks is said when it is loaded
        return
    tensors = {plain_name(name) for name in TensorFile(find_weights(folder)).shapes}
    complete = [name for name, kind in _KINDS.items() if tensors.issuperset(kind.tensors)]
    names: Any = read_json_object(folder / CONFIG_FILE).get("architectures")
    architecture = str(names[0]) if isinstance(names, list) and names else None
    fitting = {wanted, "BertForPreTraining"} if wanted == "BertForMaskedLM" else {wanted}
    if wanted in complete and (architecture not in complete or architecture in fitting):
        return
    held = architecture if architecture in complete else next(iter(complete), None)
    name = _KINDS[wanted].name.partition(" with {}")[0]
    raise FileError(f"{folder} has {_describe(held, architecture, config)}, wanted {name}; {_hint(held, wanted)}")


def _describe(held: str | None, architecture: str | None, config: BertConfig) -> str:
    if held == "BertForSequenceClassification" and config.num_labels == 1:
        return "a regression"
    if held:
        return _KINDS[held].name.format(config.num_labels)
    is_other = architecture not in (None, "BertModel", *_KINDS)
    return f"a model of the class {architecture}" if is_other else "a BERT without a head"


def _hint(held: str | None, wanted: str) -> str:
    if held is None:
        return "npbert pretrain makes one from it" if wanted == "BertForMaskedLM" else _FINETUNE
    return _KINDS[held].use
