"""The kind of a checkpoint: describes its head in an error, if another one is needed."""

from pathlib import Path
from typing import Any, NamedTuple

from npbert.io.files import FileError, model_folder, read_json_object
from npbert.models import BertConfig, load_config
from npbert.models.hugging_face.checkpoint import find_weights
from npbert.models.hugging_face.config import CONFIG_FILE
from npbert.models.hugging_face.names import plain_name
from npbert.models.hugging_face.tensors import TensorFile


class _Kind(NamedTuple):
    """A known head: its name with the number of labels, its tensors, and its use."""

    name: str
    tensors: tuple[str, ...]
    use: str


_CLASSIFIER, _POOLER, _WORDS = "classifier.weight", "pooler.dense.weight", "cls.predictions.transform.dense.weight"
_USE = "to use it: npbert {}, or npbert.{} in Python"
_FINETUNE = "npbert finetune makes one from it"
_KINDS = {  # by the class, in the order of the test for their tensors
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
    """Raise FileError, with the kind of the checkpoint in `folder`, unless it is a model of the class called `wanted`.

    Its class is the one in `architectures` of config.json, if the file has the tensors for it, and otherwise the first
    class that has its tensors. A class outside npbert is not tested: loading compares the tensors.

    Raises: FileNotFoundError or FileError for a missing or damaged configuration or weights.
    """
    folder = model_folder(folder)
    if wanted not in _KINDS:
        return
    config = load_config(folder)
    if config.architecture.model_type != "bert":  # loading reports what it lacks
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
