"""GroupedTask: a task in which the model reads several sequences for each example, each by itself."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.data.tokenizer import Text
from npbert.data.tokenizer_files import Encoding
from npbert.training.tasks.task import FinetuneTask


class GroupedTask(FinetuneTask):
    """What a model reads of an example are C sequences, and what it says of them is an array with C rows."""

    def sequences_of(self, given: Any) -> Sequence[Text]:
        """What is read of an example, a text or a pair for each sequence."""
        raise NotImplementedError(f"{type(self).__name__} has no sequences_of(given)")

    def tokenize(self, texts: Iterable[Any], path: str = "") -> list[Any]:
        """A list of encodings for each example."""
        groups = list(map(self.sequences_of, texts))
        encodings = iter(super().tokenize([text for group in groups for text in group], path))
        return [list(islice(encodings, len(group))) for group in groups]

    def logits(self, encodings: Sequence[list[Encoding]]) -> list[Array]:
        """For each example what the model says of its sequences (C, …)."""
        batches = (self.batch([encodings[number] for number in group]) for group in self.groups(encodings))
        return [row for batch in batches for row in self.model(batch)]

    def groups(self, encodings: Sequence[list[Encoding]]) -> list[Sequence[int]]:
        size, numbers = self.settings.batch_size, range(len(encodings))
        return [numbers[start : start + size] for start in numbers[::size]]

    def batch(self, encodings: Sequence[list[Encoding]]) -> Batch:
        return self.tokenizer.batch([encoding for group in encodings for encoding in group]).grouped(len(encodings[0]))
