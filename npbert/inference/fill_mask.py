"""FillMask: the most probable words at each [MASK]."""

from collections.abc import Iterable
from itertools import islice
from typing import Any, NamedTuple, overload

import numpy as np

from npbert.core import IGNORED
from npbert.data.batch import Batch
from npbert.inference.task import Task, check_finite
from npbert.io.errors import at_least
from npbert.layers import Softmax
from npbert.models import BertForMaskedLM


class Prediction(NamedTuple):
    """A token and its probability at one [MASK]."""

    token: str
    score: float


class FillMask(Task):
    """fill_mask(text) -> for each [MASK] in the text, its `top_k` most probable tokens; for several texts, a list.

    Warns: of texts cut to `max_length`.
    Raises: ValueError for a text without [MASK], or with its only [MASK] cut off; unless top_k is at least 1.
    """

    model_class = BertForMaskedLM
    model: BertForMaskedLM

    @overload
    def __call__(self, texts: str, *, top_k: int = 5) -> list[list[Prediction]]: ...  # type: ignore[overload-overlap]  # a str is an Iterable[str], too

    @overload
    def __call__(self, texts: Iterable[str], *, top_k: int = 5) -> list[list[list[Prediction]]]: ...

    def __call__(self, texts: str | Iterable[str], *, top_k: int = 5) -> list[Any]:
        at_least(1).check("top_k", top_k)
        if isinstance(texts, str):
            return self([texts], top_k=top_k)[0]
        texts = list(texts)
        encodings = self.tokenize(texts)
        for number, (text, encoding) in enumerate(zip(texts, encodings, strict=True), start=1):
            if self.tokenizer.mask_id not in encoding.ids:
                mask = self.tokenizer.special["mask_id"]
                hint = f" (in capitals: {mask})" if mask.lower() in text else ""
                raise ValueError(f"text {number} is {text[:60]!r}, wanted a {mask}{hint} that is not cut off")
        return self.run(encodings, lambda batch, _: self._predict(batch, top_k))

    def _predict(self, batch: Batch, top_k: int) -> list[list[list[Prediction]]]:
        masked = batch.input_ids == self.tokenizer.mask_id
        batch.labels = np.where(masked, 0, IGNORED)  # only positions with a label get logits
        logits = self.model(batch)  # (n, V)
        check_finite(logits)
        probabilities = Softmax()(logits)[:, : len(self.tokenizer)]  # further rows of the table are not tokens
        best = np.argsort(-probabilities, axis=1, kind="stable")[:, :top_k]
        rows = iter(zip(probabilities, best, strict=True))
        return [
            [list(map(Prediction, self.tokenizer.decode(ids), p[ids].tolist())) for p, ids in islice(rows, count)]
            for count in masked.sum(axis=1)
        ]
