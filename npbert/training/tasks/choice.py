"""Multiple choice: which of several texts goes with a text?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from npbert.data.batch import Batch
from npbert.data.tables import read_table
from npbert.data.tokenizer import Encoding
from npbert.files import FileError
from npbert.models import BertForMultipleChoice
from npbert.training.metrics import accuracy
from npbert.training.tasks.task import FinetuneTask


class Choice(NamedTuple):
    """A text with each of its choices, as tokens, and the number of the right one."""

    encodings: list[Encoding]
    label: int


class MultipleChoice(FinetuneTask):
    """The number, from 0, of the right choice; every row has as many choices. (Devlin et al. 2018, section 4.4.)"""

    model_class = BertForMultipleChoice
    metrics = ("accuracy",)
    goal = "accuracy"

    def read(self, path: str) -> list[Choice]:
        settings, count = self.settings, len(self.settings.choices)
        if count < 2:
            raise ValueError(f"choices has {count} columns, wanted at least 2")
        rows = read_table(path, [settings.label or "1", settings.text, *settings.choices], delimiter=settings.delimiter)
        texts = [(row.values[1], choice) for row in rows for choice in row.values[2:]]
        encodings = self.tokenizer.encode(texts, max_length=settings.max_length)
        self.warn_of_cuts(encodings, path)
        examples = []
        for index, ((label, *_), place) in enumerate(rows):
            if not label.isdecimal() or int(label) >= count:
                raise FileError(f"{place}: the label is {label!r}, wanted the number of a choice, 0 to {count - 1}")
            examples.append(Choice(encodings[index * count : (index + 1) * count], int(label)))
        return examples

    def collate(self, examples: Sequence[Choice]) -> Batch:
        flat = self.tokenizer.batch([encoding for example in examples for encoding in example.encodings])
        shape = len(examples), -1, flat.input_ids.shape[1]
        return Batch(
            flat.input_ids.reshape(shape),
            flat.token_type_ids.reshape(shape),
            flat.attention_mask.reshape(shape),
            np.array([example.label for example in examples]),
        )

    def evaluate(self, model: Any, examples: Sequence[Choice]) -> dict[str, float]:
        size = self.settings.batch_size
        batches = [self.collate(examples[start : start + size]) for start in range(0, len(examples), size)]
        predictions = np.concatenate([model(batch).argmax(axis=1) for batch in batches])
        return {"accuracy": accuracy(predictions, np.array([example.label for example in examples]))}
