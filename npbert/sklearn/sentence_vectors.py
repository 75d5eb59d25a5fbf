"""SentenceVectors: a transformer of scikit-learn that turns each text into a vector."""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

from npbert.compute import Array
from npbert.inference import Embed
from npbert.sklearn.texts import ReadsTexts, as_texts, base, utils


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
