"""Multiple choice: which of several texts goes with a text?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.data.tokenizer import Encoding
from npbert.files import FileError
from npbert.layers import Softmax, SoftmaxCrossEntropy
from npbert.models import BertForMultipleChoice
from npbert.training.metrics import accuracy
from npbert.training.parallel import shared_out
from npbert.training.tasks.header import how_to_say
from npbert.training.tasks.shown import cut, short, surest
from npbert.training.tasks.task import FinetuneTask


class Choice(NamedTuple):
    """A text with each of its choices, as tokens, the number of the right one, and all of it as text."""

    encodings: list[Encoding]
    label: int
    text: str
    choices: tuple[str, ...]


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
            of_row = encodings[index * count : (index + 1) * count]
            examples.append(Choice(of_row, int(label), row.values[1], row.values[2:]))
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

    def predict(self, model: Any, examples: Sequence[Choice]) -> Array:
        """What the model says of each choice of each example, (N, C)."""
        size = self.settings.batch_size

        def compute(own: Sequence[Choice]) -> Array:
            batches = [self.collate(own[start : start + size]) for start in range(0, len(own), size)]
            return np.concatenate([model(batch) for batch in batches])

        return np.stack(shared_out(self.communicator, examples, compute))

    def judge(self, said: Array, examples: Sequence[Choice]) -> dict[str, float]:
        labels = np.array([example.label for example in examples])
        loss = float(SoftmaxCrossEntropy().forward(said, labels))
        return {"accuracy": accuracy(said.argmax(axis=1), labels), "loss": loss}

    def show(self, said: Array, examples: Sequence[Choice]) -> dict[str, Any]:
        labels, best = np.array([example.label for example in examples]), said.argmax(axis=1)
        scores = Softmax()(said).max(axis=1)
        worst = [
            {
                "text": cut(examples[number].text),
                "choices": [cut(choice) for choice in examples[number].choices],
                "true": examples[number].label,
                "predicted": int(best[number]),
                "probability": short(scores[number]),
            }
            for number in surest(best != labels, scores)
        ]
        return {"kind": "choices", "examples": len(examples), "wrong": int((best != labels).sum()), "worst": worst}
