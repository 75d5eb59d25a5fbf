"""BertConfig: the sizes and settings of a BERT, with Hugging Face's field names, and the published sizes by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from npbert.blocks import ACTIVATIONS, POSITION_KINDS
from npbert.compute import DTypeLike
from npbert.display import shown_in_short
from npbert.io import (
    POSITIVE,
    RATE,
    FileError,
    InputError,
    Wanted,
    as_file_error,
    model_file,
    one_of,
    read_json,
    write_json,
)
from npbert.models.architecture import OF_BERT, Architecture
from npbert.models.hugging_face.families import FAMILIES, read_settings

CONFIG_FILE = "config.json"

LARGEST = 2**24
"""The largest allowed size: the largest exact integer of a float, far beyond any BERT."""


@shown_in_short
@dataclass(frozen=True, repr=False)
class BertConfig:
    """The configuration of a BERT; the defaults are BERT-base. (Devlin et al. 2018, section 3 and appendix A.2; the
    initializer_range and layer_norm_eps: Google's code.)

    vocab_size V, hidden_size D, num_hidden_layers L, num_attention_heads H, intermediate_size F.
    max_position_embeddings: the longest sequence, in tokens. type_vocab_size: the number of token types.
    hidden_act: `gelu`, `gelu_new` or `gelu_pytorch_tanh` (the tanh form), `relu`, `silu` or `tanh`.
    position_embedding_type: `absolute`, `sinusoidal`, or `rotary`, with the angles of the architecture.
    hidden_dropout_prob, attention_probs_dropout_prob: rates from 0 up to, but not including, 1. classifier_dropout: the
    rate before the head of a classification; None means hidden_dropout_prob.
    initializer_range: the standard deviation of the initial weights. layer_norm_eps: added to the variance.
    num_labels C: the number of labels of a classification; 1: a regression.
    id2label: the C names, in a list, or by number as in transformers, {0: "neg", 1: "pos"}, which then sets C; None:
    LABEL_0, LABEL_1 and so on.
    architecture: the changes of a descendant of BERT; from_pretrained reads it.

    Raises: InputError, a ValueError, with the field, its value and the expected one.
    """

    vocab_size: int = 30522
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    hidden_act: str = "gelu"
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    position_embedding_type: str = "absolute"
    classifier_dropout: float | None = None
    num_labels: int = 2
    id2label: tuple[str, ...] | None = None
    architecture: Architecture = OF_BERT

    def __post_init__(self) -> None:
        self._take_labels()
        for name, possible in _WANTED.items():
            possible.check(name, getattr(self, name))
        RATE.check("classifier_dropout", self.head_dropout)
        if self.hidden_size % self.num_attention_heads:
            divisor = f"a divisor of hidden_size, {self.hidden_size}"
            raise InputError("num_attention_heads", self.num_attention_heads, divisor)
        if self.id2label is not None and len({*self.id2label}) != self.num_labels:
            wanted = f"{self.num_labels} different names, as num_labels"
            raise InputError("id2label", self.id2label, wanted)

    def _take_labels(self) -> None:
        """Turn the names into a tuple, or default names in a dict into None, and set num_labels if it is missing."""
        names = self.id2label
        if isinstance(names, Mapping):
            by_number = {str(number): name for number, name in names.items()}
            names = [by_number.get(str(number)) for number in range(len(by_number))]
            if None in names:
                raise InputError("id2label", self.id2label, f"the keys 0 to {len(names) - 1}, without gaps")
            if self.num_labels == type(self).num_labels:
                object.__setattr__(self, "num_labels", len(names))
            if names == [f"LABEL_{index}" for index in range(self.num_labels)]:
                names = None
        elif isinstance(names, str):
            wanted = 'a name for each label: a list, or a dict such as {0: "neg", 1: "pos"}'
            raise InputError("id2label", names, wanted)
        object.__setattr__(self, "id2label", names and tuple(map(str, names)))

    @property
    def head_dropout(self) -> float:
        """The dropout rate before the head of a classification."""
        return self.hidden_dropout_prob if self.classifier_dropout is None else self.classifier_dropout

    @property
    def label_names(self) -> tuple[str, ...]:
        """The name of each of the C labels."""
        return self.id2label or tuple(f"LABEL_{index}" for index in range(self.num_labels))

    @property
    def label2id(self) -> dict[str, int]:
        """The number of each label, by its name."""
        return {name: number for number, name in enumerate(self.label_names)}

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> BertConfig:
        """Return the configuration in `folder`/config.json; a missing field has its default.

        Raises: FileError for a field of a wrong type or value, another architecture (`model_type`), or an unsupported
        setting (a decoder, untied weights, several labels at once), and for invalid JSON; FileNotFoundError for a
        missing folder or file.
        """
        path = model_file(folder, CONFIG_FILE)
        stored = read_json(path)
        with as_file_error(path):
            values = {name: value for name, value in read_settings(stored).items() if name in cls.__match_args__}
            if values.get("id2label") is not None:
                values.pop("num_labels", None)
            config = cls(**values)
        kind = stored.get("problem_type")
        if kind == "multi_label_classification" or (kind == "regression" and config.num_labels > 1):
            says = f"{kind} with {config.num_labels} labels, wanted one label or one number for each text"
            raise FileError(f"{path}: {says}")
        return config

    def write(self, path: Path, *, model: str, dtype: DTypeLike) -> None:
        """Write a config.json for a model of npbert's class `model` with parameters of `dtype`.

        Entries of the original config.json stay, except those that npbert sets. Hugging Face has no sinusoidal
        positions: they are written as absolute ones.
        """
        architecture = self.architecture
        family, stored = FAMILIES[architecture.model_type], dict(architecture.file)
        left_out = ["num_labels", "position_embedding_type", "architecture"]  # or written in Hugging Face's terms
        if not architecture.has_types:
            left_out.append("type_vocab_size")
        stored |= {family["fields"].get(name, name): each for name, each in vars(self).items() if name not in left_out}
        stored["max_position_embeddings"] += architecture.first_position
        if self.position_embedding_type == "sinusoidal":
            stored["position_embedding_type"] = "absolute"
        is_regression = model == "BertForSequenceClassification" and self.num_labels == 1
        stored["problem_type"] = "regression" if is_regression else None  # or transformers makes a probability of it
        stored["id2label"] = dict(enumerate(self.label_names))
        stored["label2id"] = self.label2id
        name = family["classes"] + model.removeprefix("Bert").removeprefix(family["classes"])
        stored |= {"model_type": architecture.model_type, "architectures": [name], "dtype": np.dtype(dtype).name}
        write_json(path, stored)

    @classmethod
    def preset(cls, name: str, **changes: Any) -> BertConfig:
        """Return the configuration called `name` in PRESETS, with `changes`.

        Raises: InputError for a name that is not in PRESETS; the constructor's errors.
        """
        one_of(PRESETS).check("name", name)
        return replace(PRESETS[name], **changes)


load_config = BertConfig.from_pretrained
"""Returns the configuration in a folder."""

_SIZE = Wanted(
    f"a whole number from 1 to {LARGEST}",
    lambda value: isinstance(value, Integral) and not isinstance(value, bool) and 1 <= int(value) <= LARGEST,
)
_WANTED = {
    **{field.name: _SIZE for field in fields(BertConfig) if field.type == "int"},
    **dict.fromkeys(("hidden_dropout_prob", "attention_probs_dropout_prob"), RATE),
    **dict.fromkeys(("initializer_range", "layer_norm_eps"), POSITIVE),
    "hidden_act": one_of(ACTIVATIONS),
    "position_embedding_type": one_of(POSITION_KINDS),
}


def _published(num_hidden_layers: int, hidden_size: int, **more: Any) -> BertConfig:
    """Return one of Google's sizes: heads of 64 features, and a feed-forward layer four times as wide as the rest."""
    return BertConfig(
        num_hidden_layers=num_hidden_layers,
        hidden_size=hidden_size,
        num_attention_heads=hidden_size // 64,
        intermediate_size=4 * hidden_size,
        **more,
    )


# tiny to medium: Turc et al. 2019, table 1 and code; base and large: Devlin et al. 2018, section 3. "seed" is the size
# that the tutorials with the toy dialogue give it: as wide as base, and half as deep.
PRESETS = {
    "bert-tiny": _published(2, 128),
    "bert-mini": _published(4, 256),
    "bert-small": _published(4, 512),
    "bert-medium": _published(8, 512),
    "seed": _published(6, 768, max_position_embeddings=30),
    "bert-base": _published(12, 768),
    "bert-base-uncased": _published(12, 768),
    "bert-large": _published(24, 1024),
    "bert-large-uncased": _published(24, 1024),
}
