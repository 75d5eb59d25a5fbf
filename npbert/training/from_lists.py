"""finetune: teach a BERT to label texts from lists instead of files."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from npbert.data import Text
from npbert.inference import Classify, Embed
from npbert.io import FileError, InputError, Place, read_text, worded_by, write_text
from npbert.io.lines import finite_or_null
from npbert.training.finetune import FinetuneSettings, Finetuning
from npbert.training.settings import check_names
from npbert.training.tasks import SentenceVectors, task_named

Rows = list[dict[str, object]]
"""The columns of each example by name: text, perhaps text_pair, negative_2 …, label and sample_weight."""


@overload
def finetune(
    texts: Sequence[Text],
    labels: Sequence[object] | None = None,
    *,
    task: Literal["vectors"],
    model: str | Path,
    folder: str | Path,
    **settings: Any,
) -> Embed: ...


@overload
def finetune(
    texts: Sequence[Text], labels: Sequence[object], *, model: str | Path, folder: str | Path, **settings: Any
) -> Classify: ...


def finetune(
    texts: Sequence[Text],
    labels: Sequence[object] | None = None,
    *,
    model: str | Path,
    folder: str | Path,
    held_out: tuple[Sequence[Text], Sequence[object] | None] | Sequence[Text] | float | None = None,
    sample_weight: Sequence[float] | None = None,
    overwrite: bool = False,
    **settings: Any,
) -> Classify | Embed:
    """Fine-tune the BERT in the folder `model` on these texts and labels; return the best model, ready for texts: a
    Classify, or with task="vectors" an Embed.

    texts: each a text, or a pair. labels: one for each text; floats are learned as numbers, in a regression. With
    task="vectors" the model learns vectors, and texts are pairs that belong together, or tuples of a query, its text
    and other texts; labels are scores of pairs, or None. held_out: other texts with their labels, or a list of pairs,
    to evaluate the model; or the share of these kept for it, as 0.2. sample_weight: for a classification, the weight of
    each text in the loss. overwrite: replace a run in the folder. settings: of FinetuneSettings, as `epochs` or
    `learning_rate`; class_weight may be "balanced", or a dict of weights by label. The run is kept in `folder`, with
    its examples, for `npbert report`; a stopped run continues. (Extra: train.)

    Raises: TypeError for an unknown setting, or a string instead of a list; ValueError for empty lists and different
    lengths; InputError for labels that cannot be learned, with the number of the row, from 0; FileError if `folder` has
    a run with other examples; the errors of FinetuneSettings and Finetuning.
    """
    check_names(FinetuneSettings, settings)
    labels = None if labels is None else list(labels)
    are_floats = bool(labels) and all(isinstance(label, float) for label in labels or ())
    kind = task_named(settings.setdefault("task", "regression" if are_floats else "classification"))
    is_of_vectors = issubclass(kind, SentenceVectors)
    if not is_of_vectors and not issubclass(kind, Classify):
        raise InputError("task", settings["task"], "classification, regression or vectors")
    if labels is None and not is_of_vectors:
        raise TypeError("labels is missing, wanted one for each text")
    weights = settings.get("class_weight", ())
    if isinstance(weights, dict):
        settings["class_weight"] = [f"{label}={weight}" for label, weight in weights.items()]
    elif isinstance(weights, str):
        settings["class_weight"] = [weights]
    train, dev = Path(folder) / "train.jsonl", Path(folder) / "held_out.jsonl"
    with worded_by(partial(_in_words, {str(train): "the training list", str(dev): "the held-out list"})):
        rows = {train: _rows(train, texts, label=labels, sample_weight=sample_weight)}
        if isinstance(held_out, int | float):
            rows[train], rows[dev] = _split(rows[train], held_out, settings.get("seed", 0))
        elif held_out is not None:
            pair: Any = held_out if isinstance(held_out, tuple) and len(held_out) == 2 else (held_out, None)
            rows[dev] = _rows(dev, pair[0], label=pair[1])
        names = next(iter(rows[train]), {})
        columns: dict[str, Any] = {name: name for name in names if not name.startswith("negative")}
        columns["negatives"] = [name for name in names if name not in columns]
        files: dict[str, Any] = {"model": model, **{path.stem: path for path in rows}}
        chosen = FinetuneSettings(**files, **columns, **settings)
        with ExitStack() as undoing:  # after an error, new files are gone; NaN is null
            for path, examples in rows.items():
                text = "".join(json.dumps(finite_or_null(row), default=str) + "\n" for row in examples)
                if overwrite or not path.exists():
                    undoing.callback(path.unlink, missing_ok=True)
                    write_text(path, text)
                elif read_text(path) != text:
                    raise FileError(f"{path} has other examples; for a new run, choose another folder")
            run = Finetuning(chosen, folder)
            undoing.pop_all()
    run.trainer.train(overwrite=overwrite)
    return (Embed if is_of_vectors else Classify).from_pretrained(folder)


def _rows(path: Path, texts: Sequence[Text], **columns: Any) -> Rows:
    """Return a row for each text, with its values in the columns. Raises: as finetune."""
    given = {name: values for name, values in columns.items() if values is not None}
    if isinstance(texts, str):
        raise TypeError(f"texts is one string, wanted a list of them: [{texts!r:.40}]")
    rows: Rows = []
    for number, (text, *values) in enumerate(zip(texts, *given.values(), strict=True), start=1):
        parts = text if isinstance(text, tuple | list) else (text,)
        names = "text", "text_pair", *(f"negative_{place}" for place in range(2, len(parts)))
        row = dict(zip((*given, *names), (*values, *parts), strict=False))
        if not all(isinstance(part, str) for part in parts) or (rows and row.keys() != rows[0].keys()):
            says = f"{text!r:.60}, wanted a text, or as many as in the first row"
            raise InputError(f"{Place(str(path), number)}: {says}")
        rows.append(row)
    return rows


def _split(rows: Rows, share: float, seed: int) -> tuple[Rows, Rows]:
    """Return the rows to train on, and a random share of all to evaluate the model on."""
    count = round(share * len(rows)) if 0 < share < 1 else 0
    if not 0 < count < len(rows):
        wanted = f"a share of the {len(rows)} texts that leaves some for both, as 0.2, or texts with their labels"
        raise InputError("held_out", share, wanted)
    shuffled = [rows[number] for number in np.random.default_rng(seed).permutation(len(rows))]
    return shuffled[count:], shuffled[:count]


def _in_words(lists: dict[str, str], named: Any) -> str:
    """Return the list and the row, from 0, instead of the file and the line."""
    name = lists.get(getattr(named, "path", ""), "")
    return f"{name}, row {named.line - 1}" if name and named.line else name
