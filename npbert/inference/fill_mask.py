"""FillMask: the words that could stand where a text says [MASK]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from npbert.core import IGNORED
from npbert.data.batch import Batch
from npbert.data.tokenizer import SPECIAL
from npbert.inference.task import Task
from npbert.layers import Softmax
from npbert.models import BertForMaskedLM


class Prediction(NamedTuple):
    """A token and its probability at one [MASK]."""

    token: str
    score: float


class FillMask(Task):
    """fill_mask(text) -> for each [MASK] in the text, its `top_k` most probable tokens; of several texts a list.

    Warns: of texts that are longer than `max_length`, and are cut.
    Raises: ValueError for a text without [MASK], or whose only [MASK] was cut off; unless top_k is at least 1.
    """

    model_class = BertForMaskedLM

    def __call__(
        self, texts: str | Iterable[str], *, top_k: int = 5
    ) -> list[list[Prediction]] | list[list[list[Prediction]]]:
        if top_k < 1:
            raise ValueError(f"top_k is {top_k}, wanted at least 1")
        if isinstance(texts, str):
            one: list[list[Prediction]] = self([texts], top_k=top_k)[0]  # type: ignore[assignment]
            return one
        texts = list(texts)
        encodings = self.encode(texts)
        mask_id = self.tokenizer.mask_id
        for number, (text, encoding) in enumerate(zip(texts, encodings, strict=True), start=1):
            if mask_id not in encoding.ids:
                mask = SPECIAL["mask_id"]
                hint = f" (in capitals: {mask})" if mask.lower() in text else ""
                raise ValueError(f"text {number} has no {mask}{hint}, or it was cut off: {text[:60]!r}")

        softmax = Softmax()

        def predict(batch: Batch, _: Sequence[int]) -> list[list[list[Prediction]]]:
            masked = batch.input_ids == mask_id
            batch.labels = np.where(masked, 0, IGNORED)  # only positions with a label get logits
            probabilities = softmax(self.model(batch))  # (M, V)
            best = np.argsort(-probabilities, axis=1, kind="stable")[:, :top_k]
            tokens = [
                [
                    Prediction(token, float(row[index]))
                    for token, index in zip(self.tokenizer.decode(ids), ids, strict=True)
                ]
                for row, ids in zip(probabilities, best, strict=True)
            ]
            ends = masked.sum(axis=1).cumsum()
            return [tokens[end - count : end] for end, count in zip(ends, masked.sum(axis=1), strict=True)]

        return self.run(encodings, predict)
