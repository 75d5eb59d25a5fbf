"""Multiple choice: selects the text that fits another text."""

from collections.abc import Sequence
from typing import Any

from npbert.data.tokenizer import Text
from npbert.io.errors import InputError, Setting
from npbert.io.files import FileError
from npbert.models import BertForMultipleChoice
from npbert.training.tasks.classes import OneOfMany
from npbert.training.tasks.grouped import GroupedTask
from npbert.training.tasks.report_rows import cut
from npbert.training.tasks.table import Table
from npbert.training.tasks.task import Labelled, TaskSettings


class MultipleChoice(GroupedTask, OneOfMany):
    """Predicts the index of the right choice; every row has the same number of choices. (Devlin et al. 2018, section
    4.4.)

    The input is a text and its choices.
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

    def sequences_of(self, given: Any) -> list[Text]:
        text, choices = given
        return [(text, choice) for choice in choices]

    def describe(self, given: Any, true: int, predicted: int) -> dict[str, object]:
        text, choices = given
        return {"text": cut(text), "choices": list(map(cut, choices)), "true": true, "predicted": predicted}
