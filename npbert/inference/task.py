"""Task: what every use of a finished model shares: reading it, and running many texts through it in batches."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from npbert.data.batch import Batch
from npbert.data.tokenizer import Encoding, Text, Tokenizer
from npbert.extras import import_extra
from npbert.files import FileError
from npbert.models import BertConfig, PreTrainedModel

TOKENS_IN_A_BATCH = 2048
"""How many tokens, padding included, go through a model at once: enough for fast matrix products, and little memory."""

MANY = 256
"""From this many texts on there is a progress bar, if standard error is a terminal."""

Self = TypeVar("Self", bound="Task")


class Task:
    """A model and its tokenizer, ready for text. A subclass says in `model_class` which model it reads.

    Raises: ValueError when the tokenizer has more tokens than the model.
    """

    model_class: ClassVar[type[PreTrainedModel]]

    def __init__(self, model: Any, tokenizer: Tokenizer) -> None:
        if len(tokenizer) > model.config.vocab_size:
            raise ValueError(
                f"the vocabulary has {len(tokenizer)} tokens, but the model's vocab_size is {model.config.vocab_size}"
            )
        self.model = model
        self.tokenizer = tokenizer

    @classmethod
    def from_pretrained(cls: type[Self], folder: str | Path, **options: Any) -> Self:
        """The model and the tokenizer in `folder`. options: what else the constructor takes. (Extra: hf.)

        Raises: FileNotFoundError or FileError that names the file and says what is wrong with it, also when the
        vocabulary is of another size than the model's, or when the checkpoint lacks the head that is needed.
        """
        model = cls.model_class.from_pretrained(folder, new_head=False, **cls.model_options(options))
        tokenizer = Tokenizer.from_pretrained(folder)
        check_vocabulary(folder, tokenizer, model.config)
        return cls(model, tokenizer, **options)

    @classmethod
    def model_options(cls, options: dict[str, Any]) -> dict[str, Any]:
        """What the model's constructor must be told when this task has those options."""
        return {}

    def encode(self, texts: Sequence[Text]) -> list[Encoding]:
        """The texts as tokens, cut to what the model takes; a warning says how many were cut."""
        longest = self.model.config.max_position_embeddings
        encodings = self.tokenizer.encode(texts, max_length=longest)
        cut = [index for index, encoding in enumerate(encodings) if encoding.overflowing]
        if cut:
            warnings.warn(
                f"{len(cut)} of {len(texts)} texts are longer than the {longest} tokens that the model takes, and were "
                f"cut; the first is text {cut[0] + 1}",
                stacklevel=3,
            )
        return encodings

    def run(self, encodings: Sequence[Encoding], compute: Callable[[Batch, Sequence[int]], Iterable[Any]]) -> list[Any]:
        """compute(batch, numbers of its encodings) for all, in batches of like lengths; the results in the order of the
        encodings."""
        results: list[Any] = [None] * len(encodings)
        with _progress(len(encodings)) as progress:
            for numbers in batches_by_length([len(encoding.ids) for encoding in encodings]):
                batch = self.tokenizer.batch([encodings[number] for number in numbers])
                for number, result in zip(numbers, compute(batch, numbers), strict=True):
                    results[number] = result
                progress.update(len(numbers))
        return results


def check_vocabulary(folder: str | Path, tokenizer: Tokenizer, config: BertConfig) -> None:
    """Raise FileError, naming the folder of the model, unless the tokenizer has as many tokens as the model."""
    if len(tokenizer) != config.vocab_size:
        raise FileError(
            f"{folder}: the vocabulary has {len(tokenizer)} tokens, but vocab_size in its config.json is "
            f"{config.vocab_size}"
        )


def batches_by_length(lengths: Sequence[int], tokens: int = TOKENS_IN_A_BATCH) -> Iterator[list[int]]:
    """The numbers of the sequences, longest first, in batches of at most `tokens` tokens with padding, or one sequence.

    Like goes with like, so there is little padding.
    """
    order = np.argsort(lengths, kind="stable")[::-1].tolist()
    while order:
        count = max(1, tokens // max(1, lengths[order[0]]))
        yield order[:count]
        del order[:count]


def _progress(total: int) -> Any:
    if total < MANY:
        return _Silent()
    tqdm = import_extra("tqdm", extra="hf").tqdm
    return tqdm(total=total, unit="text", disable=None)  # None: unless standard error is a terminal


class _Silent:
    """A progress bar that shows nothing."""

    def __enter__(self) -> _Silent:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self, count: int) -> None:
        pass
