"""Estimators for scikit-learn: a BERT in a Pipeline, a grid search, a cross-validation. (Extra: sklearn.)

from npbert.sklearn import SentenceVectors, TextClassifier
make_pipeline(SentenceVectors("folder"), LogisticRegression()).fit(texts, labels)
TextClassifier("folder", epochs=2).fit(texts, labels).predict(["a new text"])
"""

import tempfile
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.data import Text
from npbert.inference import Embed
from npbert.io import at_least, import_extra, quiet
from npbert.training import FinetuneSettings
from npbert.training.from_lists import finetune

base: Any = import_extra("sklearn.base")
selection: Any = import_extra("sklearn.model_selection")
utils: Any = import_extra("sklearn.utils")

__all__ = ["SentenceVectors", "TextClassifier"]


class ReadsTexts(base.BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base class of an estimator for texts or pairs of texts instead of columns of numbers."""

    def __sklearn_tags__(self) -> Any:
        """Return tags for texts, so that scikit-learn does not expect columns."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags


@dataclass(eq=False, repr=False)
class SentenceVectors(base.ClassNamePrefixFeaturesOutMixin, base.TransformerMixin, ReadsTexts):  # type: ignore[misc]  # without types
    """X, N texts or pairs of texts -> an array (N, D) of float32, a vector for each.

    model: the folder of a checkpoint for `Embed.from_pretrained`.
    pooling, layer, normalize, max_length: as Embed's; None: the folder's.   batch_size: the most texts at once.

    `fit` only reads the checkpoint, and sets `embed_` to an Embed. A pickle contains the model, and works without the
    folder; a clone is not fitted, and reads the folder again.

    Raises: in `fit`, as Embed.from_pretrained; ValueError for an X that is not texts; sklearn's NotFittedError before
    `fit`.
    """

    model: str | Path = ""
    _: KW_ONLY
    pooling: str | None = None
    layer: int | None = None
    normalize: bool | None = None
    max_length: int | None = None
    batch_size: int | None = None

    def __sklearn_tags__(self) -> Any:
        """Return the tags of ReadsTexts, with float32 vectors."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any = None) -> "SentenceVectors":
        """Read the checkpoint. X: texts, only checked. y: not used."""
        as_texts(X)
        options = self.get_params()
        del options["batch_size"]
        self.embed_ = Embed.from_pretrained(options.pop("model"), **options)
        self._n_features_out = self.embed_.model.config.hidden_size
        return self

    def transform(self, X: Any) -> Array:
        """Return the vectors of the texts, (N, D), in their order."""
        utils.validation.check_is_fitted(self)
        return self.embed_(as_texts(X), batch_size=self.batch_size, show_progress_bar=False)


@dataclass(eq=False, repr=False)
class TextClassifier(base.ClassifierMixin, ReadsTexts):  # type: ignore[misc]  # without types
    """X, N texts or pairs of texts, and y, N labels of any kind -> a BERT fine-tuned to predict these labels.

    model: the folder of a pre-trained checkpoint. epochs, batch_size, learning_rate, warmup, weight_decay: as in
    FinetuneSettings. (Devlin et al. 2018, appendix A.3.)
    max_length: the most tokens of a text; None: 128, or the model's limit, if that is smaller.
    class_weight: of labels in the loss: None, "balanced", or a dict of weights by label.
    early_stopping: hold out `validation_fraction` of the texts, stratified by label; evaluate the accuracy on them
    about ten times, keep the best model, and stop after `n_iter_no_change` evaluations without a better one. For the
    same accuracy, the smaller loss is better.
    random_state: an int, for a reproducible model; a RandomState, or None.
    verbose: show the progress of the run, also in a grid search.

    After `fit`: `classes_` (C,), the labels in order; `classify_`, the Classify, with the labels as texts.

    Raises: in `fit`, as `npbert.finetune`; ValueError for an X that is not texts, for a y with one class, several
    columns, or values that are not labels, and for a validation_fraction that does not fit the classes; sklearn's
    NotFittedError before `fit`.
    """

    model: str | Path = ""
    _: KW_ONLY
    epochs: float = 3.0
    batch_size: int = 32
    learning_rate: float = 3e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    max_length: int | None = None
    class_weight: dict[Any, float] | str | None = None
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 3
    random_state: int | np.random.RandomState | None = None
    verbose: bool = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "TextClassifier":
        """Fine-tune the model on the texts X and their labels y. sample_weight (N,): the weight of each text in the
        loss."""
        texts, given = as_texts(X), utils.column_or_1d(np.asarray(y, dtype=object), warn=True)
        for place, label in enumerate(given):
            if not isinstance(label, str | Number | np.generic) or label != label:
                raise ValueError(f"row {place} of y is {label!r:.60}, wanted a label: a text or a number")
        utils.multiclass.check_classification_targets(y)
        y = np.asarray(y).ravel()
        utils.check_consistent_length(texts, y, sample_weight)
        self.classes_ = np.unique(y)
        random = utils.check_random_state(self.random_state)
        known, options = FinetuneSettings.__dataclass_fields__, self.get_params()
        settings = {name: value for name, value in options.items() if name in known and value is not None}
        settings["seed"] = random.randint(2**31 - 1)
        weights = np.ones(len(texts)) if sample_weight is None else np.asarray(sample_weight)
        lists: list[Any] = [texts, [str(label) for label in y.tolist()], weights.tolist()]
        if self.early_stopping:
            at_least(0).check("n_iter_no_change", self.n_iter_no_change)
            parts = selection.train_test_split(  # the training and the held-out part of each list
                *lists, test_size=self.validation_fraction, stratify=lists[1], random_state=random
            )
            lists = parts[::2]
            settings |= {"held_out": (parts[1], parts[3]), "patience": self.n_iter_no_change}
        *lists, settings["sample_weight"] = lists
        with tempfile.TemporaryDirectory(prefix="npbert-") as folder, nullcontext() if self.verbose else quiet():
            self.classify_ = finetune(*lists, folder=folder, **settings)
        return self

    def predict(self, X: Any) -> Array:
        """Return the most probable label of each text, (N,)."""
        best = self.predict_proba(X).argmax(axis=1)  # before there are classes_, it raises NotFittedError
        return self.classes_[best]

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class for each text, (N, C), in the order of `classes_`."""
        utils.validation.check_is_fitted(self)
        found = self.classify_(as_texts(X))
        p = np.array([[each.scores[str(label)] for label in self.classes_.tolist()] for each in found])
        return p / p.sum(axis=1, keepdims=True)  # in float32 its sum was 1 to 7 digits


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
