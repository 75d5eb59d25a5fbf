"""Multiple choice: which of several texts goes with a text?"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.data.tokenizer_files import Encoding
from npbert.io.errors import InputError, Setting
from npbert.io.files import FileError
from npbert.models import BertForMultipleChoice
from npbert.training.tasks.classes import OneOfMany
from npbert.training.tasks.report_rows import cut
from npbert.training.tasks.table import Table
from npbert.training.tasks.task import Labelled, TaskSettings


class MultipleChoice(OneOfMany):
    """The number, from 0, of the right choice; every row has as many choices. (Devlin et al. 2018, section 4.4.)

    What is given is a text and its choices.
    """

    model_class = BertForMultipleChoice
    kind = "choices"

    @classmethod
    def check(cls, settings: TaskSettings) -> None:
        super().check(settings)
        if len(settings.choices) < 2:
            raise InputError((Setting("choices"), f" has {len(settings.choices)} columns"), wanted="at least 2")

    @classmethod
    def read(
        cls, path: str, settings: TaskSettings, labels: Sequence[str] | None = None
    ) -> tuple[list[Labelled], None]:
        count, found = len(settings.choices), []
        table = Table(path, settings, *[("choices", choice) for choice in settings.choices])
        for row in table.rows:
            label, text, *choices = row.values
            if not label.isdecimal() or int(label) >= count:
                says, wanted = f"the label is {label!r}", f"the number of a choice, 0 to {count - 1}"
                raise FileError(says, wanted=wanted, where=row.place, hint=table.hint(row))
            found.append(Labelled((text, choices), int(label)))
        return found, None

    def tokenize(self, texts: Iterable[Any], path: str = "") -> list[Any]:
        """A list of encodings for each text with its choices: of the text with each of them."""
        counts, pairs = [], []
        for text, choices in texts:
            counts.append(len(choices))
            pairs += [(text, choice) for choice in choices]
        encodings = iter(super().tokenize(pairs, path))
        return [list(islice(encodings, count)) for count in counts]

    def logits(self, encodings: Sequence[list[Encoding]]) -> list[Array]:
        """For each text an array (C,): a score for each of its choices."""
        batches = (self.batch([encodings[number] for number in group]) for group in self.groups(encodings))
        return [row for batch in batches for row in self.model(batch)]

    def groups(self, encodings: Sequence[list[Encoding]]) -> list[Sequence[int]]:
        size, numbers = self.settings.batch_size, range(len(encodings))
        return [numbers[start : start + size] for start in numbers[::size]]

    def describe(self, given: Any, true: int, predicted: int) -> dict[str, object]:
        text, choices = given
        return {"text": cut(text), "choices": list(map(cut, choices)), "true": true, "predicted": predicted}

    def batch(self, encodings: Sequence[list[Encoding]]) -> Batch:
        flat = self.tokenizer.batch([encoding for choices in encodings for encoding in choices])
        shape = len(encodings), -1, flat.input_ids.shape[1]
        arrays = (flat.input_ids, flat.token_type_ids, flat.attention_mask)
        return Batch(*(array.reshape(shape) for array in arrays))
