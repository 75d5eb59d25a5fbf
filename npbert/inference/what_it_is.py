"""What a checkpoint holds, in words, for whoever has taken it for something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from npbert.files import FileError, read_json_object
from npbert.models import BertConfig, load_config
from npbert.models.hugging_face.checkpoint import find_weights
from npbert.models.hugging_face.config import CONFIG_FILE
from npbert.models.hugging_face.names import plain_name
from npbert.models.hugging_face.tensors import TensorFile


class _Kind(NamedTuple):
    """A head that npbert knows: what it is called, the tensors that it is made of, and what uses it."""

    name: str
    tensors: tuple[str, ...]
    use: str


_CLASSIFIER, _POOLER, _WORDS = "classifier.weight", "pooler.dense.weight", "cls.predictions.transform.dense.weight"
_USE = "to use it: npbert {0}, or npbert.{1} in Python"
_FINETUNE = "npbert finetune makes one from it"
_KINDS = {  # by the class; in this order the tensors of a file are looked at
    "BertForQuestionAnswering": _Kind(
        "a model that answers questions", ("qa_outputs.weight",), _USE.format("answer", "Answer")
    ),
    "BertForPreTraining": _Kind(
        "a pre-trained BERT that fills in masked words",
        (_WORDS, "cls.seq_relationship.weight"),
        _USE.format("fill-mask", "FillMask"),
    ),
    "BertForMaskedLM": _Kind("a model that fills in masked words", (_WORDS,), _USE.format("fill-mask", "FillMask")),
    "BertForSequenceClassification": _Kind(
        "a text classifier", (_CLASSIFIER, _POOLER), _USE.format("classify", "Classify")
    ),
    "BertForMultipleChoice": _Kind(
        "a model for multiple choice", (_CLASSIFIER, _POOLER), "to judge it: npbert evaluate --task multiple-choice"
    ),
    "BertForTokenClassification": _Kind("a tagger", (_CLASSIFIER,), _USE.format("tag", "Tag")),
}


def check_holds(folder: str | Path, wanted: str) -> None:
    """Raise FileError, which says what `folder` holds, when that is no model of the class called `wanted`.

    What it holds is what config.json says in `architectures`, if the file has the tensors for it, and else what the
    tensors look like. A class that is not npbert's is not looked at: its tensors are compared when they are loaded.

    Raises: what load_config, find_weights and TensorFile raise.
    """
    folder = Path(folder)
    if wanted not in _KINDS:
        return
    config = load_config(folder)
    tensors = {plain_name(name) for name in TensorFile(find_weights(folder)).shapes}
    architecture = _architecture(folder)
    is_all_there = tensors.issuperset(_KINDS[wanted].tensors)
    named = _KINDS.get(architecture or "")
    is_another = named is not None and tensors.issuperset(named.tensors) and not _serves(str(architecture), wanted)
    if is_all_there and not is_another:
        return
    held = (
        architecture
        if is_another
        else next((name for name, kind in _KINDS.items() if tensors >= {*kind.tensors}), None)
    )
    raise FileError(
        f"{folder} holds {_said(held, architecture, config)}, and not {_KINDS[wanted].name}; {_hint(held, wanted)}"
    )


def _serves(held: str, wanted: str) -> bool:
    """Whether a model of one class can be read as one of the other."""
    return held == wanted or (held, wanted) == ("BertForPreTraining", "BertForMaskedLM")


def _said(held: str | None, architecture: str | None, config: BertConfig) -> str:
    if held is None:
        is_other = architecture not in (None, "BertModel", *_KINDS)
        return f"a model of the class {architecture}" if is_other else "a BERT without a head"
    if held == "BertForSequenceClassification":
        return "a regression" if config.num_labels == 1 else f"a text classifier with {config.num_labels} labels"
    return f"a tagger with {config.num_labels} tags" if held == "BertForTokenClassification" else _KINDS[held].name


def _hint(held: str | None, wanted: str) -> str:
    is_bare = held in (None, "BertForPreTraining", "BertForMaskedLM")
    if is_bare and wanted not in ("BertForPreTraining", "BertForMaskedLM"):
        return _FINETUNE
    return "npbert pretrain makes one from it" if held is None else _KINDS[held].use


def _architecture(folder: Path) -> str | None:
    names: Any = read_json_object(folder / CONFIG_FILE).get("architectures")
    return str(names[0]) if isinstance(names, list) and names else None
