"""Task: the base of all uses of a model with its tokenizer. It reads both, and runs many texts in batches."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from copy import copy
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from npbert.compute import Array
from npbert.data.batch import Batch, Ids
from npbert.data.tokenizer import Text, Tokenizer
from npbert.data.tokenizer_files import Encoding
from npbert.display import titled
from npbert.inference.checkpoint_kind import check_holds
from npbert.io.errors import InputError, InputWarning, Place, count_from
from npbert.io.extras import import_extra
from npbert.io.files import FileError
from npbert.io.messages import counted, is_quiet, listed, printable, warn
from npbert.models import BertConfig, PreTrainedModel

TOKENS_IN_A_BATCH = 2048
"""The tokens of a batch, with padding: enough for fast products, in little memory."""

MANY = 256
"""From this many texts on there is a progress bar on a terminal."""

Self = TypeVar("Self", bound="Task")


class Task:
    """Base class of a model with its tokenizer. A subclass has a `model_class`, and turns logits into results.

    max_length: the most tokens of a text. By default the tokenizer's `max_length`, as in training, or else the model's.

    Raises: ValueError if the tokenizer has more tokens than the model, or for a max_length beyond the model's.
    """

    model_class: ClassVar[type[PreTrainedModel]]
    model: PreTrainedModel

    def __init__(self, model: Any, tokenizer: Tokenizer, *, max_length: int | None = None) -> None:
        if len(tokenizer) > model.config.vocab_size:
            raise ValueError(
                f"the tokenizer has {len(tokenizer)} tokens, wanted {model.config.vocab_size}, the model's vocab_size"
            )
        longest = model.config.max_position_embeddings
        if max_length is None:
            max_length = min(tokenizer.max_length or longest, longest)
        check_max_length(max_length, model.config)
        self.model, self.tokenizer, self.max_length = model, tokenizer, max_length

    @classmethod
    def from_pretrained(cls: type[Self], folder: str | Path, **options: Any) -> Self:
        """Return the task for the model and tokenizer in `folder`. options: further arguments of the constructor.
        (Extra: hf.)

        Raises: FileNotFoundError or FileError for a wrong file, for vocabulary and model of different sizes, and for a
        checkpoint without the needed head.
        """
        check_holds(folder, cls.model_class.__name__)
        model = cls.model_class.from_pretrained(folder, new_head=False, **cls.model_options(folder, options))
        tokenizer = Tokenizer.from_pretrained(folder)
        check_vocabulary(folder, tokenizer, model.config)
        return cls(model, tokenizer, **options)

    @classmethod
    def model_options(cls, folder: str | Path, options: dict[str, Any]) -> dict[str, Any]:
        """Return options for the constructor of the model in `folder`, from the options of this task."""
        return {}

    def save_pretrained(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write the model and its tokenizer, with this task's `max_length`, into `folder`, for from_pretrained and
        transformers.

        Raises: FileExistsError for a folder with another model or tokenizer, unless `overwrite`.
        """
        tokenizer = copy(self.tokenizer)
        tokenizer.max_length = self.max_length
        tokenizer.save_pretrained(folder, overwrite=overwrite)
        self.model.save_pretrained(folder, overwrite=overwrite)

    def __repr__(self) -> str:
        """Return a line for each part."""
        parts = {name: str(getattr(self, name)).partition("\n")[0] for name in ("model", "tokenizer")}
        settings = {name: value for name, value in vars(self).items() if isinstance(value, int | str)}
        rows = [f"{name}: {fact}" for name, fact in {**parts, **settings}.items() if name[0] != "_"]
        if self.model.config.id2label:
            rows.append(f"labels: {listed(self.model.config.label_names, quote=printable)}")
        return titled(type(self).__name__, *rows)

    def tokenize(self, texts: Iterable[Text], path: str = "") -> list[Encoding]:
        """Return the texts as tokens, cut to `max_length`. Warns of texts that were cut, with the file at `path`."""
        encodings = self.tokenizer.encode(list(texts), max_length=self.max_length)
        self._warn_of_cuts(encodings, path)
        return encodings

    def token_ids(self, texts: Iterable[Text]) -> list[Ids]:
        """Return only the Ids of many texts, which takes less memory than `tokenize`."""
        found = self.tokenizer.encode_ids(list(texts), max_length=self.max_length)
        self._warn_of_cuts(found, "")
        return found

    def logits(self, encodings: Sequence[Any]) -> list[Array]:
        """Return an array for each encoding: its logits."""
        return self.run(encodings, lambda batch, _: self.model(batch))

    def run(
        self,
        encodings: Sequence[Encoding | Ids],
        compute: Callable[[Batch, Sequence[int]], Iterable[Any]],
        *,
        batch_size: int | None = None,
        show_progress_bar: bool | None = None,
    ) -> list[Any]:
        """Call compute(batch, indices of its encodings) for all, in batches of similar lengths. Returns the results in
        the order of the encodings.

        batch_size: the most encodings at once.
        show_progress_bar: True or False; by default on a terminal, for many texts.

        Raises: ValueError unless batch_size is at least 1, and if the model's output is not finite.
        """
        if batch_size is not None:
            count_from(1).check("batch_size", batch_size)
        results: list[Any] = [None] * len(encodings)
        lengths = [len(encoding.ids) for encoding in encodings]
        quiet = np.errstate(over="ignore", invalid="ignore")  # check_finite rejects the results
        with _progress(len(encodings), show_progress_bar) as progress, quiet:
            for numbers in batches_by_length(lengths, batch_size=batch_size):
                batch = self.tokenizer.batch([encodings[number] for number in numbers])
                for number, result in zip(numbers, compute(batch, numbers), strict=True):
                    if isinstance(result, np.ndarray):
                        check_finite(result)
                    results[number] = result
                if progress is not None:
                    progress.update(len(numbers))
        return results

    def _warn_of_cuts(self, encodings: Sequence[Encoding | Ids], path: str) -> None:
        cut = [number for number, encoding in enumerate(encodings, start=1) if encoding.overflowing]
        if not cut:
            return
        is_of_model = self.max_length == self.model.config.max_position_embeddings
        limit = "the model takes" if is_of_model else "max_length allows"
        are, were = ("is", "was") if len(cut) == 1 else ("are", "were")
        texts = f"{len(cut)} of {counted(len(encodings), 'text')}"
        says = f"{texts} {are} longer than the {self.max_length} tokens that {limit}, and {were} cut"
        warn(InputWarning(f"{says}; the first is text {cut[0]}", where=Place(path)))


def check_finite(values: Array) -> None:
    """Raise ValueError unless all numbers are finite: a label or word from other numbers would look normal."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"the model's output is not finite: its weights are too large for {values.dtype}, as in a damaged "
            f"or wrongly converted checkpoint"
        )


def check_max_length(max_length: int, config: BertConfig) -> None:
    """Raise InputError for more tokens than the model takes."""
    longest = config.max_position_embeddings
    if max_length > longest:
        raise InputError(what="max_length", got=max_length, wanted=f"at most {longest} for this model")


def check_vocabulary(folder: str | Path, tokenizer: Tokenizer, config: BertConfig) -> None:
    """Raise FileError, with the folder of the model, unless the tokenizer has as many tokens as the model."""
    is_padded = config.architecture.model_type != "bert" and len(tokenizer) < config.vocab_size  # a padded table
    if len(tokenizer) != config.vocab_size and not is_padded:
        raise FileError(
            f"{folder}: the tokenizer has {len(tokenizer)} tokens, wanted {config.vocab_size}, the vocab_size in its "
            "config.json"
        )


def batches_by_length(
    lengths: Sequence[int], tokens: int = TOKENS_IN_A_BATCH, *, batch_size: int | None = None
) -> Iterator[list[int]]:
    """Return the indices of the sequences, longest first, in batches of at most `tokens` tokens with padding, or one
    sequence, and of at most `batch_size` sequences.

    Sequences of similar lengths share a batch, so there is little padding.
    """
    order = np.argsort(lengths, kind="stable")[::-1].tolist()
    while order:
        count = max(1, min(tokens // max(1, lengths[order[0]]), batch_size or len(order)))
        yield order[:count]
        del order[:count]


def _progress(total: int, wanted: bool | None) -> Any:
    """Return a progress bar or a context that gives None."""
    if wanted is False or (wanted is None and (total < MANY or is_quiet())):
        return nullcontext()
    tqdm = import_extra("tqdm", extra="hf").tqdm
    return tqdm(total=total, unit="text", disable=False if wanted else None)  # None: only on a terminal
