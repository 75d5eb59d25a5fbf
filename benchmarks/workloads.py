"""The workloads: what is measured, each with its model and its batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import real_text
from task import Array, Arrays, Task

from npbert import BertConfig
from npbert.models import load_config


@dataclass(frozen=True)
class Workload:
    """kind: as in Task. make: the configuration and the batches, from the checkpoint and the data.

    needs: which of `checkpoint` and `data` must be given. passes: how many are timed.
    sides: those that take part, if not all of the kind.
    """

    title: str
    kind: str
    make: Callable[[str, Path], tuple[dict[str, Any], list[Arrays]]]
    needs: tuple[str, ...] = ()
    passes: int = 5
    sides: tuple[str, ...] = ()

    def save_task(self, folder: Path, checkpoint: str, data: Path) -> Task:
        """The task that all sides get, written into `folder`."""
        config, batches = self.make(checkpoint, data)
        task = Task(str(folder), self.kind, config, checkpoint, passes=self.passes)
        task.save(batches)
        return task


def sizes(preset: str, **changes: Any) -> dict[str, Any]:
    """A preset by Hugging Face's names; what only npbert knows is left out."""
    config = asdict(BertConfig.preset(preset, **changes))
    for name in ("classifier_dropout", "num_labels", "id2label", "architecture"):
        del config[name]
    return config


def synthetic(
    preset: str, batch_size: int, length: int, _checkpoint: str, _data: Path, **changes: Any
) -> tuple[dict[str, Any], list[Arrays]]:
    """A batch without padding, its ids and its masked words drawn from a seed: 15 % of all words, as in the paper."""
    config = sizes(preset, **changes)
    rng = np.random.default_rng(0)
    ids = rng.integers(1, config["vocab_size"], (batch_size, length))  # 0 is [PAD]
    masked = rng.permuted(np.tile(np.arange(length) < round(0.15 * length), (batch_size, 1)), axis=1)
    second = np.arange(length) >= rng.integers(1, length, (batch_size, 1))
    batch = {
        "input_ids": ids,
        "token_type_ids": second.astype(np.int64),
        "attention_mask": np.ones_like(ids),
        "labels": np.where(masked, rng.integers(1, config["vocab_size"], ids.shape), -100),
        "next_sentence_label": rng.integers(0, 2, batch_size),
    }
    return config, [batch]


def documents_dialogue(_checkpoint: str, _data: Path) -> tuple[dict[str, Any], list[Arrays]]:
    return sizes("seed", vocab_size=29), real_text.dialogue_padded_to_30()


def from_books(
    make: Callable[[Path], list[Arrays]], _checkpoint: str, data: Path
) -> tuple[dict[str, Any], list[Arrays]]:
    return sizes("bert-mini"), make(data)


def sentences(
    choose: Callable[[list[Array]], list[Arrays]], checkpoint: str, data: Path
) -> tuple[dict[str, Any], list[Arrays]]:
    """STS-B's sentences as the checkpoint's tokens, those that `choose` takes, in its batches."""
    return asdict(load_config(Path(checkpoint))), choose(real_text.stsb_ids(checkpoint, data))


def grown(**grows: int) -> Workload:
    """A training step of the size from which growth is measured, with something grown."""
    size = {"B": 8, "T": 128, "L": 4, "D": 256} | grows
    title = "growth, " + ", ".join(f"{name} = {value}" for name, value in size.items())
    shape = {"hidden_size": size["D"], "intermediate_size": 4 * size["D"], "num_attention_heads": size["D"] // 64}
    changes: dict[str, Any] = {"vocab_size": 1000, "num_hidden_layers": size["L"], **shape}
    make = partial(synthetic, "bert-mini", size["B"], size["T"], **changes)
    return Workload(title, "train", make, sides=("npbert", "torch"))


GROWTH = {"T": (32, 64, 128, 256, 512), "B": (1, 4, 16), "L": (2, 4, 8), "D": (128, 256, 512)}

WORKLOADS: dict[str, Workload] = {
    "a": Workload("documents' size, 6 × 30", "train", partial(synthetic, "seed", 6, 30, vocab_size=29), passes=10),
    "a2": Workload("the documents' dialogue, padded to 30", "train", documents_dialogue, passes=10),
    "b": Workload("BERT-mini, 32 × 128", "train", partial(synthetic, "bert-mini", 32, 128), passes=6),
    "c": Workload("BERT-base, 8 × 128", "train", partial(synthetic, "bert-base", 8, 128), passes=4),
    "d1": Workload("BERT-mini, books, packed", "train", partial(from_books, real_text.packed), ("data",), 3),
    "d2": Workload("BERT-mini, books, a pair each", "train", partial(from_books, real_text.pairs), ("data",), 3),
    "e1": Workload(
        "1 sentence of 16 tokens", "encode", partial(sentences, real_text.one_of_16), ("checkpoint", "data"), 200
    ),
    "e2": Workload("32 sentences", "encode", partial(sentences, real_text.first_32), ("checkpoint", "data"), 20),
    "e3": Workload(
        "STS-B's 3,000 sentences", "encode", partial(sentences, real_text.all_by_length), ("checkpoint", "data"), 1
    ),
    "f": Workload("import to first vector", "start", lambda checkpoint, data: ({}, []), ("checkpoint",), 1),
    **{f"g-{name}{size}": grown(**{name: size}) for name, values in GROWTH.items() for size in values},
}


def chosen(names: list[str]) -> list[str]:
    """The workloads of these names; a name that is none stands for those that begin so. All of them for no names.

    Raises: ValueError for a name that fits none.
    """
    taken: set[str] = set() if names else set(WORKLOADS)
    for name in names:
        fitting = {name} & set(WORKLOADS) or {known for known in WORKLOADS if known.startswith(name)}
        if not fitting:
            raise ValueError(f"there is no workload {name!r}, wanted {', '.join(WORKLOADS)}, or how some begin")
        taken |= fitting
    return [known for known in WORKLOADS if known in taken]
