"""Multiple choice: which of several texts goes with a text?"""

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.data.tokenizer_files import Encoding
from npbert.io.errors import InputError, Setting
from npbert.io.files import FileError
from npbert.layers import SoftmaxCrossEntropy
from npbert.models import BertForMultipleChoice
from npbert.training.metrics import accuracy
from npbert.training.tasks.report_rows import cut, wrong_rows
from npbert.training.tasks.table import header_hint, read_rows
from npbert.training.tasks.task import FinetuneTask, JudgedExample, Labelled, TaskSettings, targets_of


class MultipleChoice(FinetuneTask):
    """The number, from 0, of the right choice; every row has as many choices. (Devlin et al. 2018, section 4.4.)

    What is given is a text and its choices.
    """

    model_class = BertForMultipleChoice
    metrics = ("accuracy", "loss")
    goal = "accuracy"

    @classmethod
    def check(cls, settings: TaskSettings) -> None:
        super().check(settings)
        if len(settings.choices) < 2:
            raise InputError((Setting("choices"), f" has {len(settings.choices)} columns"), wanted="at least 2")

    @classmethod
    def read(
        cls, path: str, settings: TaskSettings, labels: Sequence[str] | None = None
    ) -> tuple[list[Labelled], None]:
        count = len(settings.choices)
        columns = [("label", settings.label or "1"), ("text", settings.text)]
        columns += [("choices", choice) for choice in settings.choices]
        found = []
        for index, row in enumerate(read_rows(path, settings, columns)):
            label, text, *choices = row.values
            if not label.isdecimal() or int(label) >= count:
                hint = header_hint(index, row, settings, columns)
                says, wanted = f"the label is {label!r}", f"the number of a choice, 0 to {count - 1}"
                raise FileError(says, wanted=wanted, where=row.place, hint=hint)
            found.append(Labelled((text, choices), int(label)))
        return found, None

    def tokenize(self, texts: Iterable[Any], path: str = "") -> list[Any]:
        """A list of encodings for each text with its choices: of the text with each of them."""
        texts = list(texts)
        pairs = [pair for text, choices in texts for pair in zip(repeat(text), choices, strict=False)]
        encodings = iter(super().tokenize(pairs, path))
        return [[next(encodings) for _ in choices] for _, choices in texts]

    def logits(self, encodings: Sequence[list[Encoding]]) -> list[Array]:
        """For each text an array (C,): a score for each of its choices."""
        batches = (self.batch([encodings[number] for number in group]) for group in self.groups(encodings))
        return [row for batch in batches for row in self.model(batch)]

    def groups(self, encodings: Sequence[list[Encoding]]) -> list[Sequence[int]]:
        size, numbers = self.settings.batch_size, range(len(encodings))
        return [numbers[start : start + size] for start in numbers[::size]]

    def judge(self, logits: Sequence[Array], examples: Sequence[JudgedExample]) -> dict[str, float]:
        scores, labels = np.stack(logits), targets_of(examples)
        loss = float(SoftmaxCrossEntropy()(scores, labels))
        return {"accuracy": accuracy(scores.argmax(axis=1), labels), "loss": loss}

    def report_row(self, logits: Sequence[Array], examples: Sequence[JudgedExample]) -> dict[str, object]:
        labels, best = targets_of(examples), np.stack(logits).argmax(axis=1)

        def describe(number: int) -> dict[str, object]:
            text, choices = examples[number].given
            given = {"text": cut(text), "choices": list(map(cut, choices))}
            return {**given, "true": int(labels[number]), "predicted": int(best[number])}

        return {"kind": "choices", **wrong_rows(logits, labels, describe)}

    def batch(self, encodings: Sequence[list[Encoding]]) -> Batch:
        flat = self.tokenizer.batch([encoding for choices in encodings for encoding in choices])
        shape = len(encodings), -1, flat.input_ids.shape[1]
        arrays = (flat.input_ids, flat.token_type_ids, flat.attention_mask)
        return Batch(*(array.reshape(shape) for array in arrays))
