"""Tasks with several sequences for each example, and one of them: multiple choice."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from npbert.data import Batch, Ids, Text
from npbert.io import InputError, one_of
from npbert.models import BertForMultipleChoice
from npbert.training.tasks.predictions import OneOfMany
from npbert.training.tasks.table import ANY, read_rows
from npbert.training.tasks.task import FinetuneTask, Labelled, Labels, Read, TaskSettings


class GroupedTask(FinetuneTask):
    """Base class: the model reads C sequences of an example, each by itself. An encoding is a list of C."""

    def sequences_of(self, given: Any) -> Sequence[Text]:
        """Return the sequences of an example, each a text or a pair."""
        raise NotImplementedError

    def tokenize(self, texts: Iterable[Any], path: str = "") -> list[Any]:
        groups = list(map(self.sequences_of, texts))
        encodings = iter(super().tokenize([text for group in groups for text in group], path))
        return [list(islice(encodings, len(group))) for group in groups]

    def batch(self, encodings: Sequence[list[Ids]]) -> Batch:
        return super().batch([encoding for group in encodings for encoding in group]).grouped(len(encodings[0]))

    def length(self, encoding: list[Ids]) -> int:
        return len(encoding) * max(len(sequence.ids) for sequence in encoding)


class MultipleChoice(GroupedTask, OneOfMany):
    """Predicts the index of the right choice; every row has the same number of choices. (Devlin et al. 2018, section
    4.4.)

    The input is a text and its choices.
    """

    model_class = BertForMultipleChoice
    kind = "choices"

    @classmethod
    def check(cls, settings: TaskSettings) -> None:
        if len(settings.choices) < 2:
            raise InputError("choices", settings.choices, "at least 2 columns")

    @classmethod
    def read(cls, path: str, settings: TaskSettings, labels: Labels = None) -> Read:
        numbers = one_of([str(number) for number in range(len(settings.choices))])
        rows = read_rows(path, settings, {"label": numbers, "text": ANY, "choices": ANY}, second="label")
        return [Labelled(given, int(right)) for right, *given in rows], None

    def sequences_of(self, given: Any) -> list[Text]:
        text, *choices = given
        return [(text, choice) for choice in choices]

    def text_and_classes(self, example: Labelled) -> tuple[Any, Sequence[str]]:
        text, *choices = example.given
        return text, choices
