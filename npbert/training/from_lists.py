"""finetune: teach a BERT to label texts from lists instead of files."""

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from npbert.data.tokenizer import Text
from npbert.inference import Classify, Embed
from npbert.io.errors import InputError, Place, Setting, worded_by
from npbert.io.files import FileError, atomic_write
from npbert.io.messages import did_you_mean
from npbert.training.finetune import FinetuneSettings, Finetuning
from npbert.training.tasks import SentenceVectors, TextTask, task_named

__all__ = ["finetune"]

Lists = dict[str, list[Any]]
"""text, and perhaps label and sample_weight: the columns by name."""
_OF_FILES = ("model", "train", "held_out", "text", "text_pair", "negatives", "label", "sample_weight")
"""The settings of files: finetune has arguments for them, or writes the file itself."""


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

    Raises: TypeError for an unknown setting, or a string instead of a list; InputError for empty lists, different
    lengths, and labels that cannot be learned, with the number of the row, from 0; FileError if `folder` has a run with
    other examples; the errors of FinetuneSettings and Finetuning.
    """
    known = {field.name for field in fields(FinetuneSettings)}.difference(_OF_FILES)
    for name in settings.keys() - known:
        raise TypeError(f"unknown setting {name}{did_you_mean(name, known | {'held_out', 'sample_weight'})}")
    lists = _lists(text=texts, label=labels, sample_weight=sample_weight)
    are_floats = bool(lists.get("label")) and all(isinstance(label, float) for label in lists["label"])
    kind = task_named(settings.setdefault("task", "regression" if are_floats else "classification"))
    if not issubclass(kind, TextTask | SentenceVectors):
        raise InputError(what="task", got=settings["task"], wanted="classification, regression or vectors")
    if labels is None and not issubclass(kind, SentenceVectors):
        raise TypeError("labels is missing, wanted one for each text")
    weight = settings.get("class_weight", ())
    if isinstance(weight, dict):
        weight = tuple(f"{label}={each}" for label, each in weight.items())
    settings["class_weight"] = (weight,) if isinstance(weight, str) else weight
    parts = _split(lists, held_out, settings.get("seed", 0))
    files = {name: Path(folder) / f"{name}.jsonl" for name in parts}
    with _said_of_lists(files):
        lines = {files[name]: _lines(files[name], part) for name, part in parts.items()}
        names = _columns(lists["text"][0])
        if issubclass(kind, SentenceVectors) and len(names) == 1:
            raise InputError(what="texts", got=lists["text"][0], wanted="pairs: a query, and its matching text")
        known_names = {*names, *lists}
        columns: dict[str, Any] = {"negatives": names[2:]}
        for name in ("text", "text_pair", "label", "sample_weight"):
            columns[name] = name if name in known_names else ""
        chosen = FinetuneSettings(**{**settings, **columns, **files, "model": model})
        with _written(lines, overwrite=overwrite):
            run = Finetuning(chosen, folder)
    run.trainer.train(overwrite=overwrite)
    return (Embed if issubclass(kind, SentenceVectors) else Classify).from_pretrained(folder)


def _lists(**columns: Any) -> Lists:
    """Return the given columns as lists."""
    for name, given in columns.items():
        if isinstance(given, str):
            raise TypeError(f"{name} is one string, wanted a list of them: [{given!r:.40}]")
    return {name: list(given) for name, given in columns.items() if given is not None}


def _columns(text: Text) -> tuple[str, ...]:
    """Return the names of the columns for a text, a pair, or a pair with other texts."""
    count = len(text) if isinstance(text, tuple | list) else 1
    return ("text", "text_pair", *(f"negative_{number}" for number in range(2, count)))[:count]


def _said_of_lists(files: dict[str, Path]) -> AbstractContextManager[None]:
    """Within it, errors and warnings name the lists, not their files, with rows from 0, and no settings of files."""
    names = {"train": "the training list", "held_out": "the held-out list"}
    lists = {str(path): names[name] for name, path in files.items()}

    def words(named: Setting | Place) -> str:
        if isinstance(named, Setting):
            return "" if named.name in _OF_FILES else str(named)
        row = f", row {named.line - 1}" if named.line else ""
        return f"{lists[named.path]}{row}" if named.path in lists else str(named)

    return worded_by(words)


def _lines(path: Path, lists: Lists) -> str:
    """Return a line of JSON for each text, its label and its weight. Raises: InputError."""
    texts = lists["text"]
    for name, others in lists.items():
        if len(texts) != len(others) or not texts:
            says = f"{len(texts)} texts and {len(others)} {name}s"
            raise InputError(says, wanted="one for each, and at least one", where=Place(str(path)))
    lines, names = [], _columns(texts[0])
    wanted = {1: "a text", 2: "a pair of texts"}.get(len(names), f"{len(names)} texts") + ", as the first is"
    for number, (text, *others) in enumerate(zip(*lists.values(), strict=True), start=1):
        parts = tuple(text) if isinstance(text, tuple | list) else (text,)
        if len(parts) != len(names) or not all(isinstance(part, str) for part in parts):
            raise InputError(f"{text!r:.60}", wanted=wanted, where=Place(str(path), number))
        row = dict(zip(names, parts, strict=True))
        for name, each in zip(list(lists)[1:], others, strict=True):
            if each is None or each != each:  # pandas' missing value
                raise InputError(f"the {name} is {each}", wanted="one for each text", where=Place(str(path), number))
            row[name] = str(each)
        lines.append(json.dumps(row) + "\n")
    return "".join(lines)


def _split(lists: Lists, held_out: Any, seed: Any) -> dict[str, Lists]:
    """Return the lists "train" and "held_out" by name. For a share, the examples are drawn at random."""
    if held_out is None:
        return {"train": lists}
    if not isinstance(held_out, int | float):
        texts, labels = held_out if isinstance(held_out, tuple) and len(held_out) == 2 else (held_out, None)
        return {"train": lists, "held_out": _lists(text=texts, label=labels)}
    total = len(lists["text"])
    count = round(held_out * total) if 0 < held_out < 1 else 0
    if not 0 < count < total or any(len(each) != total for each in lists.values()):
        wanted = f"a share of the {total} texts that leaves some for both, as 0.2, or texts with their labels"
        raise InputError(what="held_out", got=held_out, wanted=wanted)
    order = np.random.default_rng(seed).permutation(total).tolist()
    chosen = {"train": sorted(order[count:]), "held_out": sorted(order[:count])}
    return {
        part: {name: [each[number] for number in numbers] for name, each in lists.items()}
        for part, numbers in chosen.items()
    }


@contextmanager
def _written(lines: dict[Path, str], *, overwrite: bool) -> Iterator[None]:
    """Within it, these files exist. After an error, those that are new are gone."""
    new = {path: text for path, text in lines.items() if overwrite or not path.exists()}
    for path, text in lines.items():
        if path not in new and path.read_text(encoding="utf-8") != text:
            raise FileError(f"{path} has other examples; for a new run, choose another folder")
    try:
        for path, text in new.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as written:
                written.write_text(text, encoding="utf-8")
        yield
    except BaseException:
        for path in new:
            path.unlink(missing_ok=True)
        raise
