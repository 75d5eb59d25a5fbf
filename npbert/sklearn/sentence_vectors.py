"""SentenceVectors: a transformer of scikit-learn that makes a vector of each text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from npbert.compute import Array
from npbert.inference import Embed
from npbert.io.extras import import_extra
from npbert.sklearn.texts import ReadsTexts, as_texts

_base: Any = import_extra("sklearn.base", extra="sklearn")
_validation: Any = import_extra("sklearn.utils.validation", extra="sklearn")


class SentenceVectors(ReadsTexts, _base.ClassNamePrefixFeaturesOutMixin, _base.TransformerMixin, _base.BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """X, N texts or pairs of texts -> an array (N, D) of float32, a vector for each.

    model: the folder of a checkpoint, as `Embed.from_pretrained` reads it. pooling, layer, normalize, max_length: as
    Embed's; None is what the folder says. batch_size: how many texts go through the model at once, at most.

    `fit` learns nothing: it reads the checkpoint, and leaves an Embed in `embed_`. A pickle takes the model with it, so
    that it works where the folder is not; a clone is not fitted, and reads the folder again.

    Raises: in `fit`, what Embed.from_pretrained raises; ValueError without a model, and for an X that is no texts;
    sklearn's NotFittedError before `fit`.
    """

    def __init__(
        self,
        model: str | Path = "",
        *,
        pooling: str | None = None,
        layer: int | None = None,
        normalize: bool | None = None,
        max_length: int | None = None,
        batch_size: int | None = None,
    ) -> None:
        self.model, self.pooling, self.layer, self.normalize = model, pooling, layer, normalize
        self.max_length, self.batch_size = max_length, batch_size

    def __sklearn_tags__(self) -> Any:
        """As ReadsTexts; and the vectors are float32, whatever goes in."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any = None) -> SentenceVectors:
        """Read the checkpoint. X: texts, which are only looked over; y: is not used."""
        self._check_model()
        as_texts(X)
        options = {name: getattr(self, name) for name in ("pooling", "layer", "normalize", "max_length")}
        self.embed_ = Embed.from_pretrained(self.model, **options)
        self._n_features_out = self.embed_.model.config.hidden_size
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """fit, and then transform; also of texts that can be gone through only once."""
        vectors: Array = super().fit_transform(as_texts(X) if isinstance(X, Iterator) else X, y, **fit_params)
        return vectors

    def transform(self, X: Any) -> Array:
        """The vectors of the texts, (N, D), in their order."""
        _validation.check_is_fitted(self)
        return self.embed_(as_texts(X), batch_size=self.batch_size, show_progress_bar=False)
