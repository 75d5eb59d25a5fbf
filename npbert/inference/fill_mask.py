"""FillMask: the most probable words at each [MASK]."""

from typing import Any, NamedTuple

import numpy as np

from npbert.core import IGNORED
from npbert.data import Batch
from npbert.inference.task import ForTexts
from npbert.io import at_least
from npbert.layers import Softmax
from npbert.models import BertForMaskedLM


class Prediction(NamedTuple):
    """A token and its probability at one [MASK]."""

    token: str
    score: float


class FillMask(ForTexts[list[list[Prediction]]]):
    """fill_mask(text, top_k=5) -> for each [MASK] in the text, its `top_k` most probable tokens; for several texts, a
    list.

    Warns: of texts cut to `max_length`.
    Raises: ValueError for a text without [MASK], or with its only [MASK] cut off; unless top_k is at least 1.
    """

    model_class = BertForMaskedLM
    model: BertForMaskedLM

    def results(self, texts: list[str], *, top_k: int = 5) -> list[list[list[Prediction]]]:
        at_least(1).check("top_k", top_k)
        encodings, mask_id = self.tokenize(texts), self.tokenizer.mask_id
        for number, (text, encoding) in enumerate(zip(texts, encodings, strict=True), start=1):
            if mask_id not in encoding.ids:
                wanted = f"wanted a {self.tokenizer.special['mask_id']} that is not cut off"
                raise ValueError(f"text {number} is {text[:60]!r}, {wanted}")

        def compute(batch: Batch) -> list[Any]:
            masked = batch.input_ids == mask_id
            batch.labels = np.where(masked, 0, IGNORED)  # only positions with a label get logits
            found: list[Any] = [[] for _ in masked]
            for text, probabilities in zip(masked.nonzero()[0], Softmax()(self.outputs(batch)), strict=True):  # (n, V)
                of_tokens = probabilities[: len(self.tokenizer)]  # further rows of the table are not tokens
                best = np.argsort(-of_tokens, kind="stable")[:top_k]
                found[text].append(list(map(Prediction, self.tokenizer.decode(best), of_tokens[best].tolist())))
            return found

        return self.run(encodings, compute)
