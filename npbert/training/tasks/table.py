"""Labelled tables: the row of the first example, and the labels, with errors for columns that cannot be labels."""

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence

from npbert.data.tables import TableRow, read_table
from npbert.io.errors import InputWarning, Place, Sentence, Setting
from npbert.io.files import FileError
from npbert.io.messages import MOST_NAMES, listed, warn
from npbert.training.tasks.task import TaskSettings

_LONGEST_NAME = 40
_USUAL_NAMES = {"label", "labels", "gold_label", "class", "category", "target", "score", "quality", "is_duplicate"}
_TOO_MANY = 100


class Table:
    """The rows of a labelled table, without its header. The first value of each is the label.

    columns: (setting, column) for each value of a row. label: the column of the label, if the settings have none.
    may_have_header: the settings allow a first row with the names of the columns.

    Raises: FileError for a file that is no table, and if first_row is header, but the first row has a label like an
    example; OSError.
    """

    def __init__(self, path: str, settings: TaskSettings, *columns: tuple[str, str], label: str = "1") -> None:
        self.columns = [("label", settings.label or label), ("text", settings.text), *columns]
        names = [column for _, column in self.columns]
        self.rows = read_table(path, names, delimiter=settings.delimiter)
        self.labels = [row.values[0] for row in self.rows]
        is_numbered = all(map(str.isdigit, names))
        self.may_have_header = is_numbered and not settings.first_row
        if not is_numbered or settings.first_row != "header":
            return
        first, *others = self.labels
        if is_number(first) or first in others:
            but = f" is header, but this row is an example with the label {first!r}"
            raise FileError((Setting("first_row"), but), where=self.rows[0].place)
        if not others:
            raise FileError(f"{path} has only the names of the columns, wanted rows")
        del self.rows[0], self.labels[0]

    def hint(self, row: TableRow) -> Sentence:
        """Return the fix for an error about a row's label: the setting for a row of names, if possible, and for an
        example."""
        if not self.may_have_header or row is not self.rows[0]:
            return ""
        names: dict[str, list[str]] = {}
        for (setting, _), value in zip(self.columns, row.values, strict=True):
            names.setdefault(setting, []).append(value)
        header, example = (Setting("first_row", (what,)) for what in ("header", "example"))
        by_name: list[str | Setting] = []
        if all(0 < len(value) <= _LONGEST_NAME for value in row.values):
            by_name = [part for name, values in names.items() for part in (Setting(name, tuple(values)), " ")]
            by_name[-1] = ", or "
        return ("if this row has the names of the columns, give ", *by_name, header, "; if it is an example, ", example)

    def check_first_row(self, known: Sequence[str] | None) -> None:
        """Raise FileError if the first row seems to name the columns, and warn if it may: its label differs from all
        others. known: the labels, if known."""
        first, *others = self.labels
        if not self.may_have_header:
            return
        is_unlike: bool | None = known is not None and first not in known and set(others) <= set(known)
        if known is None:
            is_unlike = _is_unlike(first, others)
        says, place, hint = f"no other row has the label {first!r}", self.rows[0].place, self.hint(self.rows[0])
        if is_unlike:
            raise FileError(says, where=place, hint=hint)
        if is_unlike is None:
            warn(InputWarning(says, where=place, hint=hint))


def _is_unlike(first: str, others: Sequence[str]) -> bool | None:
    """True if the first label is of another kind than all others: not a number and only in the first row, while the
    others are numbers, or each occurs more than once, or it is a usual name of such columns. None if undecided, as some
    others occur once; a file without repeated labels is no evidence."""
    if not others or first in others or is_number(first):
        return False
    counts = Counter(others)
    if first.lower() in _USUAL_NAMES or all(map(is_number, counts)) or min(counts.values()) > 1:
        return True
    return None if len(counts) < len(others) else False


def is_number(text: str) -> bool:
    """True for the text of a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def find_labels(names: Sequence[str], path: str) -> tuple[str, ...]:
    """Return each name once, in alphabetical order, or if all are whole numbers, by size.

    Raises: FileError for more than a hundred, nearly all different; for two that differ only in white space.
    """
    bare: dict[str, str] = {}
    for name in sorted(set(names)):
        other = bare.setdefault(" ".join(name.split()), name)
        if other != name:
            says = f"the labels {listed([other, name])} differ only in white space, wanted one of them"
            raise FileError(says, where=Place(path))
    numeric = all(re.fullmatch(r"-?[0-9]+", name) for name in names)
    labels = tuple(sorted(set(names), key=int if numeric else None))
    if len(labels) > _TOO_MANY and 2 * len(labels) > len(names):
        raise FileError(
            f"{len(labels):,} different labels for {len(names):,} examples are too many: {listed(labels)}",
            where=Place(path),
            hint=_hint(labels),
        )
    return labels


def number_of(label: str, labels: Sequence[str], place: Place | str) -> int:
    """Return the number of a label. Raises: FileError with its place if it is not one of `labels`."""
    if label in labels:
        return labels.index(label)
    says = f"the label is {listed([label])}, wanted one of the training labels: {listed(labels)}"
    raise FileError(says, where=place, hint=_hint(labels))


def are_measures(labels: Collection[str]) -> bool:
    """True if the labels look like measurements: many numbers, not all whole."""
    return len(labels) > MOST_NAMES and all(map(is_number, labels)) and any("." in label for label in labels)


def _hint(labels: Collection[str]) -> Sentence:
    if len(labels) <= MOST_NAMES:
        return ""
    if all(map(is_number, labels)):
        return "to predict numbers, give ", Setting("task", ("regression",))
    texts = 2 * sum(" " in label for label in labels) > len(labels)
    return "they look like texts: " * texts, Setting("label"), " names the column of the labels"
