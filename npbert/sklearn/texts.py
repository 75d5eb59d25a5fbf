"""The base of both estimators: reads texts, and describes them to scikit-learn."""

from numbers import Number
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.data import Text
from npbert.io import import_extra

base: Any = import_extra("sklearn.base")
multiclass: Any = import_extra("sklearn.utils.multiclass")
utils: Any = import_extra("sklearn.utils")


class ReadsTexts(base.BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base class of an estimator for texts or pairs of texts instead of columns of numbers."""

    def __sklearn_tags__(self) -> Any:
        """Return tags for texts, so that scikit-learn does not expect columns."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags


def as_texts(X: Any) -> list[Text]:
    """Return the texts of X: a list, an array, a column of a table; a pair is a tuple, a list or a row of two texts.

    Raises: ValueError for a single text, for numbers, for a table of more than two columns, and for no texts.
    """
    if isinstance(X, str):
        raise ValueError(f"X is {X!r:.60}, wanted several texts: a list of them, an array or a column of a table")
    texts: list[Text] = []
    for place, row in enumerate(np.asarray(X, dtype=object).tolist()):
        match row:
            case str(text) | [str(text)]:
                texts.append(text)
            case [str(first), str(second)]:
                texts.append((first, second))
            case _:
                raise ValueError(f"row {place} of X is {row!r:.60}, wanted a text, or a pair of texts")
    if not texts:
        raise ValueError("Found array with 0 sample(s): X has no texts, wanted at least one")
    return texts


def as_labels(y: Any) -> Array:
    """Return the labels of y, (N,). Warns of a table with one column, as scikit-learn does.

    Raises: ValueError for a value that is not a label, for several columns, and for numbers that are not classes.
    """
    rows = utils.column_or_1d(np.asarray(y, dtype=object), warn=True)
    for place, label in enumerate(rows):
        if not isinstance(label, str | Number | np.generic) or label != label:
            raise ValueError(f"row {place} of y is {label!r:.60}, wanted a label: a text or a number")
    multiclass.check_classification_targets(y)
    return np.asarray(y).ravel()
