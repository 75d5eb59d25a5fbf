"""GroupedTask: a task with several separate sequences for each example."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.data.tokenizer import Text
from npbert.data.tokenizer_files import Encoding
from npbert.training.tasks.task import FinetuneTask


class GroupedTask(FinetuneTask):
    """Base class: the model reads C sequences of an example, and its logits have C rows."""

    def sequences_of(self, given: Any) -> Sequence[Text]:
        """Return the sequences of an example, each a text or a pair."""
        raise NotImplementedError(f"{type(self).__name__} has no sequences_of(given)")

    def tokenize(self, texts: Iterable[Any], path: str = "") -> list[Any]:
        """Return a list of encodings for each example."""
        groups = list(map(self.sequences_of, texts))
        encodings = iter(super().tokenize([text for group in groups for text in group], path))
        return [list(islice(encodings, len(group))) for group in groups]

    def logits(self, encodings: Sequence[list[Encoding]]) -> list[Array]:
        """Return the logits of each example's sequences (C, …)."""
        batches = (self.batch([encodings[number] for number in group]) for group in self.groups(encodings))
        return [row for batch in batches for row in self.model(batch)]

    def groups(self, encodings: Sequence[list[Encoding]]) -> list[Sequence[int]]:
        size, numbers = self.settings.batch_size, range(len(encodings))
        return [numbers[start : start + size] for start in numbers[::size]]

    def batch(self, encodings: Sequence[list[Encoding]]) -> Batch:
        return self.tokenizer.batch([encoding for group in encodings for encoding in group]).grouped(len(encodings[0]))
