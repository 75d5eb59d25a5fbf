"""TextClassifier: a classifier of scikit-learn that fine-tunes a BERT."""

import tempfile
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.io import at_least, import_extra, quiet
from npbert.sklearn.texts import ReadsTexts, as_labels, as_texts, base, utils
from npbert.training.from_lists import finetune

_selection: Any = import_extra("sklearn.model_selection")


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
        texts, y = as_texts(X), as_labels(y)
        utils.check_consistent_length(texts, y, sample_weight)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(f"y has one class, {self.classes_.tolist()[0]!r}, wanted at least two")
        random = utils.check_random_state(self.random_state)
        names = ("epochs", "batch_size", "learning_rate", "warmup", "weight_decay", "max_length", "class_weight")
        settings = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        settings["seed"] = random.randint(2**31 - 1)
        weights = np.ones(len(texts)) if sample_weight is None else np.asarray(sample_weight)
        lists: list[Any] = [texts, [str(label) for label in y.tolist()], weights.tolist()]
        if self.early_stopping:
            at_least(0).check("n_iter_no_change", self.n_iter_no_change)
            split = {"test_size": self.validation_fraction, "stratify": lists[1], "random_state": random}
            parts = _selection.train_test_split(*lists, **split)  # the training and the held-out part of each list
            lists = parts[::2]
            settings |= {"held_out": (parts[1], parts[3]), "patience": self.n_iter_no_change}
        *lists, settings["sample_weight"] = lists
        with tempfile.TemporaryDirectory(prefix="npbert-") as folder, nullcontext() if self.verbose else quiet():
            self.classify_ = finetune(*lists, model=self.model, folder=folder, **settings)
        return self

    def predict(self, X: Any) -> Array:
        """Return the most probable label of each text, (N,)."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.take(self.classes_, best)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class for each text, (N, C), in the order of `classes_`."""
        utils.validation.check_is_fitted(self)
        found: Any = self.classify_(as_texts(X))
        p = np.array([[each.scores[str(label)] for label in self.classes_.tolist()] for each in found])
        return p / p.sum(axis=1, keepdims=True)  # in float32 its sum was 1 to 7 digits
