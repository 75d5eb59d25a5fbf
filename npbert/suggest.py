"""What a misspelt name was probably meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_MEANT = {  # names that other programs have for the same thing, with underscores
    "bs": "batch_size",
    "check": "gradcheck",
    "clip": "max_grad_norm",
    "dev": "held_out",
    "encode": "embed",
    "eval": "held_out evaluate",
    "gradient_accumulation_steps": "parts",
    "grad_accum": "parts",
    "k": "top_k",
    "lr": "learning_rate",
    "max_seq_length": "max_length",
    "max_steps": "steps",
    "mlm_probability": "mask_probability",
    "ner": "tag",
    "num_train_epochs": "epochs",
    "per_device_train_batch_size": "batch_size",
    "predict": "classify",
    "qa": "answer",
    "seq_length": "max_length",
    "test": "held_out evaluate",
    "tokenizer": "vocabulary vocab",
    "train": "finetune",
    "valid": "held_out",
    "validation": "held_out",
    "vocab_size": "size",
    "wd": "weight_decay",
}


def closest(name: str, known: Iterable[str]) -> str | None:
    """The one of the known names that `name` was most probably meant to be; None where none is like it.

    Case, and whether words are joined by - or by _, do not matter.
    """
    by_key = {_key(other): other for other in known}
    key = _key(name)
    meant = [other for other in _MEANT.get(key, "").split() if other in by_key]
    begun = [other for other in by_key if key in other.split("_")]
    found = meant or difflib.get_close_matches(key, by_key, n=1) or begun
    return by_key[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an error: "; did you mean …?", or nothing where no known name is like it."""
    found = closest(name, known)
    return f"; did you mean {found}?" if found else ""


def _key(name: str) -> str:
    return name.lower().lstrip("-").replace("-", "_")
