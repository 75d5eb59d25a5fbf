"""Task: the pipeline of all uses of a model with its tokenizer: texts become tokens, run in batches, give results."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, overload

import numpy as np

from npbert.compute import Array
from npbert.data import Batch, Ids, Tokenizer
from npbert.display import titled
from npbert.io import (
    ALONE,
    Communicator,
    FileError,
    InputError,
    Place,
    at_least,
    counted,
    import_extra,
    is_quiet,
    warn,
)
from npbert.models import BertConfig, PreTrainedModel

TOKENS_IN_A_BATCH = 2048
"""The tokens of a batch, with padding: enough for fast products, in little memory."""

TEXTS_AT_ONCE = 1024
"""The number of texts encoded at a time."""

MANY = 256
"""From this many texts on there is a progress bar on a terminal."""

Self = TypeVar("Self", bound="Task")
Result = TypeVar("Result")


class Task:
    """Base class of a model with its tokenizer. A subclass has a `model_class`, and turns logits into results.

    max_length: the most tokens of a text. By default the tokenizer's `max_length`, as in training, or else the model's.

    Raises: InputError for a max_length beyond the model's.
    """

    model_class: type[PreTrainedModel]
    model: PreTrainedModel
    model_options: ClassVar[Mapping[str, Any]] = {}
    """Arguments of every model of this task."""
    communicator: Communicator = ALONE
    """The processes that share the batches of `run`; all get all results."""

    def __init__(self, model: Any, tokenizer: Tokenizer, *, max_length: int | None = None) -> None:
        longest = model.config.max_position_embeddings
        if max_length is None:
            max_length = min(tokenizer.max_length or longest, longest)
        if max_length > longest:
            raise InputError("max_length", max_length, f"at most {longest} for this model")
        self.model, self.tokenizer, self.max_length = model, tokenizer, max_length

    @classmethod
    def from_pretrained(
        cls: type[Self], folder: str | Path, *, of_model: Mapping[str, Any] = {"new_head": False}, **options: Any
    ) -> Self:
        """Return the task for the model and tokenizer in `folder`. (Extra: hf.)

        of_model: further arguments of the model's from_pretrained; by default, a missing head is an error.
        options: further arguments of the constructor.

        Raises: FileNotFoundError or FileError for a wrong file, for vocabulary and model of different sizes, and for a
        checkpoint without the needed head.
        """
        model = cls.model_class.from_pretrained(folder, **of_model, **cls.model_options)
        tokenizer = Tokenizer.from_pretrained(folder)
        check_vocabulary(folder, tokenizer, model.config)
        return cls(model, tokenizer, **options)

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
        first_lines = [str(part).partition("\n")[0] for part in (self.model, self.tokenizer)]
        return titled(type(self).__name__, *first_lines, f"max_length: {self.max_length}")

    def tokenize(self, texts: Iterable[Any], path: str = "") -> list[Any]:
        """Return the texts as tokens, cut to `max_length`. Warns of texts that were cut, with the file at `path`."""
        encodings = self._encode(list(texts))
        cut = [number for number, encoding in enumerate(encodings, start=1) if encoding.overflowing]
        if cut:
            is_of_model = self.max_length == self.model.config.max_position_embeddings
            limit = "the model takes" if is_of_model else "max_length allows"
            says = f"{len(cut)} of {counted(len(encodings), 'text')} cut to the {self.max_length} tokens that {limit}"
            where = f"{Place(path)}: " if path else ""
            warn(f"{where}{says}; the first is text {cut[0]}")
        return encodings

    def _encode(self, texts: list[Any]) -> list[Any]:
        """Return only the Ids of the texts, as whole encodings of many take much memory."""
        found: list[Ids] = []
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            for each in self.tokenizer.encode(texts[start : start + TEXTS_AT_ONCE], max_length=self.max_length):
                ids, types = np.array(each.ids, np.int32), np.array(each.type_ids, np.int32)
                found.append(Ids(ids, types, bool(each.overflowing)))
        return found

    def batch(self, encodings: Sequence[Any]) -> Batch:
        """Return the batch of the encodings that the model reads."""
        return self.tokenizer.batch(encodings)

    def length(self, encoding: Any) -> int:
        """Return the tokens of an encoding."""
        return len(encoding.ids)

    def outputs(self, batch: Batch) -> Any:
        """Return the model's output for a batch. Raises: ValueError unless it is finite."""
        output = self.model(batch)
        check_finite(output)
        return output

    def logits(self, encodings: Sequence[Any]) -> list[Array]:
        """Return an array for each encoding: its logits."""
        return self.run(encodings, self.outputs)

    def run(
        self,
        encodings: Sequence[Any],
        compute: Callable[[Batch], Iterable[Any]],
        *,
        batch_size: int | None = None,
        show_progress_bar: bool | None = None,
    ) -> list[Any]:
        """Call compute(batch) for all, in batches of similar lengths. Returns the results in the order of the
        encodings.

        batch_size: the most encodings at once.
        show_progress_bar: True or False; by default on a terminal, for many texts.

        Raises: ValueError unless batch_size is at least 1, and if the model's output is not finite.
        """
        if batch_size is not None:
            at_least(1).check("batch_size", batch_size)
        lengths = [self.length(encoding) for encoding in encodings]
        own = self.communicator.own(list(batches_by_length(lengths, batch_size=batch_size)))
        found: dict[int, Any] = {}
        total = sum(map(len, own))
        is_chosen = show_progress_bar is not None or total < MANY or is_quiet()
        is_hidden = not show_progress_bar if is_chosen else None  # None: unless standard error is a terminal
        bar = import_extra("tqdm").tqdm(total=total, unit="text", disable=is_hidden)
        with bar as progress, np.errstate(over="ignore", invalid="ignore"):  # check_finite rejects the results
            for numbers in own:
                batch = self.batch([encodings[number] for number in numbers])
                found.update(zip(numbers, compute(batch), strict=True))
                progress.update(len(numbers))
        for of_one in self.communicator.gather(found):
            found.update(of_one)
        return [found[number] for number in range(len(encodings))]


class ForTexts(Task, Generic[Result]):
    """Base class of a use that returns a result for a text, and for several texts a list of them."""

    one: Any = str
    """The type of one text."""

    @overload
    def __call__(self, texts: str | tuple[str, str], **options: Any) -> Result: ...

    @overload
    def __call__(self, texts: Iterable[str | Sequence[str]], **options: Any) -> list[Result]: ...

    def __call__(self, texts: Any, **options: Any) -> Any:
        """Return the result of a text, or a list."""
        if isinstance(texts, self.one):
            return self.results([texts], **options)[0]
        return self.results(list(texts), **options)

    def results(self, texts: list[Any]) -> list[Result]:
        """Return the result of each text."""
        encodings = self.tokenize(texts)
        return list(map(self.result, texts, encodings, self.logits(encodings)))

    def result(self, text: Any, encoding: Any, logits: Array) -> Result:
        """Return the result of a text from the model's logits."""
        raise NotImplementedError


def check_finite(values: Any) -> None:
    """Raise ValueError unless all numbers are finite: a label or word from other numbers would look normal."""
    if not np.isfinite(values).all():
        raise ValueError(
            "the model's output is not finite: its weights are too large for "
            f"{np.asarray(values).dtype}, as in a damaged or wrongly converted checkpoint"
        )


def check_vocabulary(folder: str | Path, tokenizer: Tokenizer, config: BertConfig) -> None:
    """Raise FileError, with the folder of the model, unless the tokenizer has as many tokens as the model's table of
    words has rows. A descendant of BERT may have further rows, which are not tokens."""
    least = config.vocab_size if config.architecture.model_type == "bert" else 0
    if not least <= len(tokenizer) <= config.vocab_size:
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
