"""Task: what every use of a model with its tokenizer shares: reading both, and running many texts in batches."""

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
"""The tokens, padding included, that go through a model at once: enough for fast products, and little memory."""

MANY = 256
"""From this many texts on there is a progress bar, if standard error is a terminal."""

Self = TypeVar("Self", bound="Task")


class Task:
    """A model and its tokenizer, ready for text: `encode` makes tokens of it, and `logits` gives what the model says of
    them. A subclass names in `model_class` the model that it reads, and makes answers of its logits.

    max_length: how many tokens of a text the model reads. By default as many as it was trained on, which is the
    tokenizer's `max_length`; where that says nothing, as many as the model takes.

    Raises: ValueError when the tokenizer has more tokens than the model, or for a max_length that the model does not
    take.
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
        """The model and the tokenizer in `folder`. options: what else the constructor takes. (Extra: hf.)

        Raises: FileNotFoundError or FileError that names the file and says what is wrong with it, also when the
        vocabulary is of another size than the model's, or when the checkpoint lacks the head that is needed.
        """
        check_holds(folder, cls.model_class.__name__)
        model = cls.model_class.from_pretrained(folder, new_head=False, **cls.model_options(folder, options))
        tokenizer = Tokenizer.from_pretrained(folder)
        check_vocabulary(folder, tokenizer, model.config)
        return cls(model, tokenizer, **options)

    @classmethod
    def model_options(cls, folder: str | Path, options: dict[str, Any]) -> dict[str, Any]:
        """Options for the constructor of the model in `folder`, when this task has those options."""
        return {}

    def save_pretrained(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write the model and its tokenizer, with this task's `max_length`, into `folder`: from_pretrained, and
        transformers, read them.

        Raises: FileExistsError for a folder that holds another model, or another tokenizer, unless `overwrite`.
        """
        tokenizer = copy(self.tokenizer)
        tokenizer.max_length = self.max_length
        tokenizer.save_pretrained(folder, overwrite=overwrite)
        self.model.save_pretrained(folder, overwrite=overwrite)

    def __repr__(self) -> str:
        """Its parts in a line each."""
        facts = {"model": str(self.model).partition("\n")[0], "tokenizer": str(self.tokenizer).partition("\n")[0]}
        settings = {name: str(value) for name, value in vars(self).items() if isinstance(value, int | str)}
        facts |= {name: value for name, value in settings.items() if name[0] != "_"}
        facts |= (
            {"labels": listed(self.model.config.label_names, quote=printable)} if self.model.config.id2label else {}
        )
        return titled(type(self).__name__, *(f"{name}: {fact}" for name, fact in facts.items()))

    def tokenize(self, texts: Iterable[Text], path: str = "") -> list[Encoding]:
        """The texts as tokens, cut to `max_length`; a warning says how many were cut, and names the file at `path`."""
        encodings = self.tokenizer.encode(list(texts), max_length=self.max_length)
        self._warn_of_cuts(encodings, path)
        return encodings

    def token_ids(self, texts: Iterable[Text]) -> list[Ids]:
        """As tokenize, of many texts: of each only what the model reads, which takes little memory."""
        found = self.tokenizer.encode_ids(list(texts), max_length=self.max_length)
        self._warn_of_cuts(found, "")
        return found

    def logits(self, encodings: Sequence[Any]) -> list[Array]:
        """An array for each encoding: what the model says of it."""
        return self.run(encodings, lambda batch, _: self.model(batch))

    def run(
        self,
        encodings: Sequence[Encoding | Ids],
        compute: Callable[[Batch, Sequence[int]], Iterable[Any]],
        *,
        batch_size: int | None = None,
        show_progress_bar: bool | None = None,
    ) -> list[Any]:
        """compute(batch, numbers of its encodings) for all, in batches of like lengths; the results in the order of the
        encodings.

        batch_size: how many encodings go through the model at once, at most. show_progress_bar: True or False; without
        it there is a bar on a terminal, for many texts.

        Raises: ValueError unless batch_size is at least 1, and where the model gives numbers that are not finite.
        """
        if batch_size is not None:
            count_from(1).check("batch_size", batch_size)
        results: list[Any] = [None] * len(encodings)
        lengths = [len(encoding.ids) for encoding in encodings]
        quiet = np.errstate(over="ignore", invalid="ignore")  # what comes of it is refused
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
        limit = "max_length allows"
        if self.max_length == self.model.config.max_position_embeddings:
            limit = "the model takes"
        elif self.max_length == self.tokenizer.max_length:
            limit = "max_length allows (the tokenizer's model_max_length)"
        are, were, which = ("is", "was", "it") if len(cut) == 1 else ("are", "were", "the first")
        says = (
            f"{len(cut)} of {counted(len(encodings), 'text')} {are} longer than the {self.max_length} tokens that "
            f"{limit}, and {were} cut; {which} is text {cut[0]}"
        )
        warn(InputWarning(says, where=Place(path)))


def check_finite(values: Array) -> None:
    """Raise ValueError unless all numbers are finite: a label or a word that was made of others would look like any."""
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
    """Raise FileError, naming the folder of the model, unless the tokenizer has as many tokens as the model."""
    is_padded = config.architecture.model_type != "bert" and len(tokenizer) < config.vocab_size  # as NomicBERT's table
    if len(tokenizer) != config.vocab_size and not is_padded:
        raise FileError(
            f"{folder}: the tokenizer has {len(tokenizer)} tokens, wanted {config.vocab_size}, the vocab_size in its "
            "config.json"
        )


def batches_by_length(
    lengths: Sequence[int], tokens: int = TOKENS_IN_A_BATCH, *, batch_size: int | None = None
) -> Iterator[list[int]]:
    """The numbers of the sequences, longest first, in batches of at most `tokens` tokens with padding, or one sequence,
    and of at most `batch_size` sequences.

    Sequences of like lengths go together, so there is little padding.
    """
    order = np.argsort(lengths, kind="stable")[::-1].tolist()
    while order:
        count = max(1, min(tokens // max(1, lengths[order[0]]), batch_size or len(order)))
        yield order[:count]
        del order[:count]


def _progress(total: int, wanted: bool | None) -> Any:
    """A progress bar, or None in its place."""
    if wanted is False or (wanted is None and (total < MANY or is_quiet())):
        return nullcontext()
    tqdm = import_extra("tqdm", extra="hf").tqdm
    return tqdm(total=total, unit="text", disable=False if wanted else None)  # None: unless it would be on no terminal
