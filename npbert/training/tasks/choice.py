"""Multiple choice: which of several texts goes with a text?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from npbert.data.batch import Batch
from npbert.data.tokenizer import Encoding
from npbert.files import FileError
from npbert.layers import SoftmaxCrossEntropy
from npbert.models import BertForMultipleChoice
from npbert.training.metrics import accuracy
from npbert.training.tasks.header import how_to_say
from npbert.training.tasks.task import FinetuneTask


class Choice(NamedTuple):
    """A text with each of its choices, as tokens, and the number of the right one."""

    encodings: list[Encoding]
    label: int


class MultipleChoice(FinetuneTask):
    """The number, from 0, of the right choice; every row has as many choices. (Devlin et al. 2018, section 4.4.)"""

    model_class = BertForMultipleChoice
    metrics = ("accuracy", "loss")
    goal = "accuracy"

    def read(self, path: str) -> list[Choice]:
        settings, count = self.settings, len(self.settings.choices)
        if count < 2:
            raise ValueError(f"choices has {count} columns, wanted at least 2")
        columns = [("label", settings.label or "1"), ("text", settings.text)]
        columns += [("choices", choice) for choice in settings.choices]
        rows = self.read_rows(path, columns)
        texts = [(row.values[1], choice) for row in rows for choice in row.values[2:]]
        encodings = self.tokenizer.encode(texts, max_length=settings.max_length)
        self.warn_of_cuts(encodings, path)
        examples = []
        for index, row in enumerate(rows):
            label = row.values[0]
            if not label.isdecimal() or int(label) >= count:
                hint = f"; {how_to_say(row, columns)}" if self.may_be_header(index, columns) else ""
                raise FileError(
                    f"{row.place}: the label is {label!r}, wanted the number of a choice, 0 to {count - 1}{hint}"
                )
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
        logits = np.concatenate([model(batch) for batch in batches])
        labels = np.array([example.label for example in examples])
        loss = float(SoftmaxCrossEntropy().forward(logits, labels))
        return {"accuracy": accuracy(logits.argmax(axis=1), labels), "loss": loss}
