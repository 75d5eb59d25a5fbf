"""BertConfig: the sizes and choices of a BERT, with Hugging Face's field names, and the published sizes by name."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from npbert.blocks import ACTIVATIONS, POSITION_KINDS
from npbert.suggest import did_you_mean

_SIZES = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "type_vocab_size",
    "num_labels",
)
LARGEST = 2**24
"""Of each size: the largest that floats count exactly, and far beyond any BERT. A table of 2⁶⁰ rows is a mistake."""
_RATES = ("hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout")
_SCALES = ("initializer_range", "layer_norm_eps")
_CHOICES = {"hidden_act": tuple(ACTIVATIONS), "position_embedding_type": POSITION_KINDS}


@dataclass(frozen=True)
class BertConfig:
    """The configuration of a BERT; the defaults are BERT-base. (Devlin et al. 2018, section 3 and appendix A.2.)

    vocab_size V, hidden_size D, num_hidden_layers L, num_attention_heads H, intermediate_size F.
    max_position_embeddings: the longest sequence, in tokens. type_vocab_size: how many kinds of sentence there are.
    hidden_act: `gelu`, `gelu_new` (the tanh form) or `relu`. position_embedding_type: `absolute` or `sinusoidal`.
    hidden_dropout_prob, attention_probs_dropout_prob: rates from 0 up to, but not including, 1. classifier_dropout: the
    rate before the head of a classification; None means hidden_dropout_prob.
    initializer_range: the standard deviation of the initial weights. layer_norm_eps: added to the variance.
    num_labels C: how many labels a classification chooses from; 1 makes it a regression. id2label: their C names; None
    means LABEL_0, LABEL_1 and so on.

    Raises: TypeError or ValueError that names the field, its value and what was wanted.
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

    def __post_init__(self) -> None:
        for name in _SIZES:
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool):
                raise TypeError(f"{name} is {value!r}, wanted an integer")
            if value < 1:
                raise ValueError(f"{name} is {value}, wanted at least 1")
            if int(value) > LARGEST:
                raise ValueError(f"{name} is {value}, wanted at most {LARGEST}")
        rates = [name for name in _RATES if name != "classifier_dropout" or self.classifier_dropout is not None]
        for name in (*rates, *_SCALES):
            value = getattr(self, name)
            if not isinstance(value, Real) or isinstance(value, bool):
                raise TypeError(f"{name} is {value!r}, wanted a number")
        for name in rates:
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}, wanted a rate from 0 up to, but not including, 1")
        for name in _SCALES:
            if not 0 < getattr(self, name) < float("inf"):
                raise ValueError(f"{name} is {getattr(self, name)}, wanted a positive number")
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} is {getattr(self, name)!r}, wanted one of {', '.join(choices)}")
        if self.hidden_size % self.num_attention_heads:
            raise ValueError(
                f"hidden_size {self.hidden_size} is not divisible by num_attention_heads {self.num_attention_heads}"
            )

        if self.id2label is not None:
            object.__setattr__(self, "id2label", tuple(self.id2label))  # a list is taken too, but it could be changed
            twice = [name for index, name in enumerate(self.id2label) if name in self.id2label[:index]]
            if twice:
                raise ValueError(f"id2label has the name {twice[0]!r} twice")
            if len(self.id2label) != self.num_labels:
                raise ValueError(f"id2label has {len(self.id2label)} names, but num_labels is {self.num_labels}")

    @property
    def head_dropout(self) -> float:
        """The rate of the dropout before the head of a classification."""
        return self.hidden_dropout_prob if self.classifier_dropout is None else self.classifier_dropout

    @property
    def label_names(self) -> tuple[str, ...]:
        """The name of each of the C labels."""
        return self.id2label or tuple(f"LABEL_{index}" for index in range(self.num_labels))

    @classmethod
    def preset(cls, name: str, **changes: Any) -> BertConfig:
        """The configuration called `name` in PRESETS, with `changes` made to it.

        Raises: ValueError for a name that is not in PRESETS, and what the constructor raises.
        """
        if name not in PRESETS:
            raise ValueError(
                f"there is no preset {name!r}, wanted one of {', '.join(PRESETS)}{did_you_mean(name, PRESETS)}"
            )
        return cls(**{**PRESETS[name], **changes})


def _published(num_hidden_layers: int, hidden_size: int) -> dict[str, Any]:
    """Google's sizes: heads of 64 features, and a feed-forward layer four times as wide as the rest."""
    return {
        "num_hidden_layers": num_hidden_layers,
        "hidden_size": hidden_size,
        "num_attention_heads": hidden_size // 64,
        "intermediate_size": 4 * hidden_size,
    }


# tiny to medium: Turc et al. 2019, table 1 and code; base and large: Devlin et al. 2018, section 3. "seed" is the size
# that the tutorials with the toy dialogue give it: as wide as base, and half as deep.
PRESETS: dict[str, dict[str, Any]] = {
    "bert-tiny": _published(2, 128),
    "bert-mini": _published(4, 256),
    "bert-small": _published(4, 512),
    "bert-medium": _published(8, 512),
    "bert-base-uncased": _published(12, 768),
    "bert-large-uncased": _published(24, 1024),
    "seed": {**_published(6, 768), "max_position_embeddings": 30},
}
PRESETS["bert-base"] = PRESETS["bert-base-uncased"]
PRESETS["bert-large"] = PRESETS["bert-large-uncased"]
