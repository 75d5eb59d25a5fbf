"""finetune: teach a BERT to label texts from lists instead of files."""

import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from numbers import Real
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from npbert.data.tokenizer import Text
from npbert.inference import Classify, Embed
from npbert.io.errors import Fields, InputError, Place, Setting
from npbert.io.files import FileError, atomic_write
from npbert.io.messages import did_you_mean, warn
from npbert.training.finetune import FinetuneSettings, Finetuning
from npbert.training.tasks import SentenceVectors, TextTask, task_named

__all__ = ["finetune"]

_Examples = tuple[Sequence[Text], Sequence[object] | None]
Lists = dict[str, list[Any]]
"""texts, and perhaps labels and sample_weight, by name."""
_OF_FILES = ("model", "train", "held_out", "text", "label", "sample_weight")
"""The settings of files: finetune has arguments for them, or writes the file itself."""


@overload
def finetune(
    texts: Sequence[Text],
    labels: Sequence[object],
    *,
    model: str | Path,
    folder: str | Path,
    held_out: _Examples | float | None = None,
    sample_weight: Sequence[float] | None = None,
    overwrite: bool = False,
    **settings: Any,
) -> Classify: ...


@overload
def finetune(
    texts: Sequence[Text],
    labels: Sequence[object] | None = None,
    *,
    task: Literal["vectors"],
    model: str | Path,
    folder: str | Path,
    held_out: _Examples | Sequence[Text] | float | None = None,
    overwrite: bool = False,
    **settings: Any,
) -> Embed: ...


def finetune(
    texts: Sequence[Text],
    labels: Sequence[object] | None = None,
    *,
    model: str | Path,
    folder: str | Path,
    held_out: _Examples | Sequence[Text] | float | None = None,
    sample_weight: Sequence[float] | None = None,
    overwrite: bool = False,
    **settings: Any,
) -> Classify | Embed:
    """Fine-tune the BERT in the folder `model` on these texts and labels; return the best model, ready for texts.

    texts: each a text, or a pair. labels: one for each text; floats are learned as numbers, in a regression. With
    task="vectors" the model learns vectors, and texts are pairs that belong together, or tuples of a query, its text
    and other texts; labels are scores of pairs, or None. held_out: other texts with their labels, or a list of pairs,
    to evaluate the model; or the share of these kept for it, as 0.2. sample_weight: for a classification, the weight of
    each text in the loss. overwrite: replace a run in the folder. settings: of FinetuneSettings, as `epochs` or
    `learning_rate`; class_weight may be "balanced", or a dict of weights by label. The run is kept in `folder`, with
    its examples, for `npbert report`; a stopped run continues. (Extra: train.)

    Raises: TypeError for an unknown setting, or a string instead of a list; InputError for empty lists, different
    lengths, and labels that cannot be learned, with the number of the row, from 0; FileError if `folder` has a run with
    other examples; the errors of FinetuneSettings and Finetuning.
    """
    known = {field.name for field in fields(FinetuneSettings)}.difference(_OF_FILES)
    for name in settings.keys() - known:
        hint = did_you_mean(name, known | {"held_out", "sample_weight"})
        raise TypeError(f"unknown setting {name}{hint}; wanted one of {', '.join(sorted(known))}")
    for name, given in (("texts", texts), ("labels", labels)):
        if isinstance(given, str):
            raise TypeError(f"{name} is one string, wanted a list of them: [{given!r:.40}]")
    kind = task_named(str(settings.get("task", "classification")))
    is_of_vectors = issubclass(kind, SentenceVectors)
    if labels is None and not is_of_vectors:
        raise TypeError("labels is missing, wanted one for each text")
    columns: dict[str, Any] = {"texts": texts, "labels": labels, "sample_weight": sample_weight}
    lists = {name: list(column) for name, column in columns.items() if column is not None}
    first = lists["texts"][:1]
    if is_of_vectors and first and len(_columns(first[0])) == 1:
        wanted = "a pair: a query, and its matching text"
        raise InputError(f"the training list, row 0: {first[0]!r:.60}", wanted=wanted)
    examples = _split(lists, held_out, settings.get("seed", 0))
    files = {name: Path(folder) / f"{name}.jsonl" for name in examples}
    with _said_of_lists(files):
        lines = {files[name]: _lines(files[name], **part) for name, part in examples.items()}
        if not issubclass(kind, TextTask | SentenceVectors):
            raise InputError(what="task", got=settings["task"], wanted="classification, regression or vectors")
        chosen = FinetuneSettings(**{**_as_settings(lists, settings), **files, "model": model})
        with ExitStack() as undone:
            for path, text in lines.items():
                _write(path, text, undone, overwrite=overwrite)
            run = Finetuning(chosen, folder)
            undone.pop_all()
    run.trainer.train(overwrite=overwrite)
    return (Embed if is_of_vectors else Classify).from_pretrained(folder)


def _columns(text: Text) -> tuple[str, ...]:
    """Return the names of the columns for a text, a pair, or a pair with other texts."""
    count = len(text) if isinstance(text, tuple | list) else 1
    return "text", *(["text_pair"] if count > 1 else []), *(f"negative_{number}" for number in range(2, count))


def _as_settings(lists: Lists, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a file with these lists in its columns."""
    text, *others = _columns(lists["texts"][0])
    known: dict[str, Any] = {"text_pair": others[0], "negatives": tuple(others[1:])} if others else {}
    columns = {"text": text, "label": "label" if "labels" in lists else ""}
    if "sample_weight" in lists:
        columns["sample_weight"] = "sample_weight"
    if "labels" in lists and all(isinstance(label, float) for label in lists["labels"]):
        known["task"] = "regression"
    weight = settings.get("class_weight", ())
    if isinstance(weight, dict):
        weight = tuple(f"{label}={each}" for label, each in weight.items())
    weights = (weight,) if isinstance(weight, str) else weight
    return {**known, **settings, "class_weight": weights, **columns}


@contextmanager
def _said_of_lists(files: dict[str, Path]) -> Iterator[None]:
    """Let errors and warnings name the lists instead of their files, with rows from 0, and no settings of files."""
    names = {"train": "the training list", "held_out": "the held-out list"}
    lists = {str(path): names[name] for name, path in files.items()}

    def words(named: Setting | Place) -> str:
        if isinstance(named, Setting):
            return "" if named.name in _OF_FILES else str(named)
        row = f", row {named.line - 1}" if named.line else ""
        return f"{lists[named.path]}{row}" if named.path in lists else str(named)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except InputError as error:
            error.words = words
            raise
    for warning in caught:
        said = warning.message
        if isinstance(said, Fields):
            said.words = words
        warn(said, warning.category)


def _lines(
    path: Path, texts: list[Text], labels: list[object] | None = None, sample_weight: list[float] | None = None
) -> str:
    """Yield a line of JSON for each text, its label and its weight. Raises: InputError."""
    labels = [""] * len(texts) if labels is None else labels
    weights = [{}] * len(texts) if sample_weight is None else [{"sample_weight": str(each)} for each in sample_weight]
    for name, others in (("labels", labels), ("weights", weights)):
        if len(texts) != len(others) or not texts:
            says = f"{len(texts)} texts and {len(others)} {name}"
            raise InputError(says, wanted="one for each, and at least one", where=Place(str(path)))
    lines, columns = [], _columns(texts[0])
    like_the_first = {1: "a text", 2: "a pair of texts"}.get(len(columns), f"{len(columns)} texts")
    for number, (text, label, weight) in enumerate(zip(texts, labels, weights, strict=True), start=1):
        parts = tuple(text) if isinstance(text, tuple | list) else (text,)
        if len(parts) != len(columns) or not all(isinstance(part, str) for part in parts):
            wanted = like_the_first + ", as the first is" * (number > 1 or len(columns) > 1)
            raise InputError(f"{text!r:.60}", wanted=wanted, where=Place(str(path), number))
        if label is None or label != label:  # pandas' missing value
            raise InputError(f"the label is {label}", wanted="one for each text", where=Place(str(path), number))
        named = dict(zip(columns, parts, strict=False))
        lines.append(json.dumps({**named, "label": str(label), **weight}) + "\n")
    return "".join(lines)


def _split(lists: Lists, held_out: _Examples | Sequence[Text] | float | None, seed: Any) -> dict[str, Lists]:
    """Return the lists "train" and "held_out" by name. For a share, the examples are drawn at random."""
    if held_out is None:
        return {"train": lists}
    if "labels" not in lists and isinstance(held_out, list):
        return {"train": lists, "held_out": {"texts": list(held_out)}}
    if isinstance(held_out, tuple | list) and len(held_out) == 2:
        named: dict[str, Any] = dict(zip(("texts", "labels"), held_out, strict=True))
        return {"train": lists, "held_out": {name: list(each) for name, each in named.items() if each is not None}}
    total = len(lists["texts"])
    share = float(held_out) if isinstance(held_out, Real) else 0.0
    count = round(share * total) if 0 < share < 1 else 0
    if not 0 < count < total or any(len(each) != total for each in lists.values()):
        wanted = f"a share of the {total} texts that leaves some for both, as 0.2, or texts with their labels"
        raise InputError(what="held_out", got=held_out, wanted=wanted)
    order = np.random.default_rng(seed).permutation(total).tolist()
    chosen = {"train": sorted(order[count:]), "held_out": sorted(order[:count])}
    return {
        part: {name: [each[number] for number in numbers] for name, each in lists.items()}
        for part, numbers in chosen.items()
    }


def _write(path: Path, text: str, undone: ExitStack, *, overwrite: bool) -> None:
    """Write the file, unless it exists. undone: removes it again."""
    if path.exists() and not overwrite:
        if path.read_text(encoding="utf-8") != text:
            raise FileError(f"{path} has other examples; for a new run, choose another folder")
        return
    for folder in [each for each in (path.parent, *path.parent.parents) if not each.exists()][::-1]:
        folder.mkdir()
        undone.callback(folder.rmdir)
    with atomic_write(path) as written:
        written.write_text(text, encoding="utf-8")
    undone.callback(path.unlink)
