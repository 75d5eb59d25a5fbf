"""finetune: teach a BERT to label texts that are lists in a program, and not files."""

import json
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from npbert.data.tokenizer import Text
from npbert.files import FileError, atomic_write
from npbert.inference import Classify
from npbert.messages import did_you_mean, warn
from npbert.training.finetune import FinetuneSettings, Finetuning

__all__ = ["finetune"]


def finetune(
    texts: Sequence[Text],
    labels: Sequence[object],
    *,
    model: str | Path,
    folder: str | Path,
    held_out: tuple[Sequence[Text], Sequence[object]] | None = None,
    **settings: Any,
) -> Classify:
    """Teach the BERT in the folder `model` to give these texts these labels; return the best model, ready for texts.

    texts: each a text, or a pair. labels: one for each text; floats are learned as numbers, in a regression. held_out:
    other texts with their labels, to judge the model by. settings: of FinetuneSettings, as `epochs` or `learning_rate`.
    The run is kept in `folder`, with its examples, for `npbert report`; a run that was stopped goes on. (Extra: train.)

    Raises: TypeError for a setting that there is not, or a string where a list is wanted; ValueError for lists of
    different lengths, or none, and for labels that cannot be learned, with the number of the row, from 0; FileError
    where `folder` has a run with other examples; what FinetuneSettings and Finetuning raise.
    """
    known = {field.name for field in fields(FinetuneSettings)} - {"model", "train", "held_out", "text", "label"}
    for name in settings.keys() - known:
        hint = did_you_mean(name, known)
        raise TypeError(f"there is no setting {name}{hint}; there are {', '.join(sorted(known))}")
    for name, given in (("texts", texts), ("labels", labels)):
        if isinstance(given, str):
            raise TypeError(f"{name} is one string, wanted a list of them: [{given!r:.40}]")
    examples = {"train": (texts, labels), **({"held_out": held_out} if held_out else {})}
    files = {name: Path(folder) / f"{name}.jsonl" for name in examples}
    for name, (given, wanted) in examples.items():
        _write(files[name], list(given), list(wanted))
    if any(isinstance(text, tuple | list) for text in texts):
        settings.setdefault("text_pair", "text_pair")
    if all(isinstance(label, float) for label in labels):
        settings.setdefault("task", "regression")
    settings.update(files, model=model, text="text", label="label")
    with _said_of_lists(files):
        run = Finetuning(FinetuneSettings(**settings), folder)
    run.trainer.train()
    return Classify.from_pretrained(folder)


@contextmanager
def _said_of_lists(files: dict[str, Path]) -> Iterator[None]:
    """Errors and warnings about the files name the lists that were written into them, and no option of a command."""

    names = {"train": "the training list", "held_out": "the held-out list"}
    words = {str(path): names[name] for name, path in files.items()} | {"--task regression": "task='regression'"}
    words |= {name.replace("list", "file"): name for name in names.values()}

    def said(message: str) -> str:
        for there, here in words.items():
            message = message.replace(there, here)
        message = re.sub(r"; [^;]*--(?:text|label) says which column.*", "", message)
        return re.sub(r", line (\d+)", lambda line: f", row {int(line[1]) - 1}", message)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except FileError as error:
            if not any(str(path) in str(error) for path in files.values()):
                raise  # of the checkpoint
            raise ValueError(said(str(error))) from None
    for warning in caught:
        warn(said(str(warning.message)), warning.category)


def _write(path: Path, texts: list[Text], labels: list[object]) -> None:
    if len(texts) != len(labels) or not texts:
        raise ValueError(f"{len(texts)} texts and {len(labels)} labels, wanted one for each, and at least one")
    lines = []
    for text, label in zip(texts, labels, strict=True):
        pair = {"text": text} if isinstance(text, str) else dict(zip(("text", "text_pair"), text, strict=True))
        lines.append(json.dumps({**pair, "label": str(label)}) + "\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.read_text(encoding="utf-8") != "".join(lines):
        raise FileError(f"{path} has other examples: a new run needs another folder")
    with atomic_write(path) as written:
        written.write_text("".join(lines), encoding="utf-8")
