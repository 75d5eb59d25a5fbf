"""rerank: texts in the order of a model that reads each of them together with the query."""

from collections.abc import Sequence

import numpy as np

from npbert.inference.classify import Classify
from npbert.inference.search import Hit
from npbert.io.errors import InputError

RERANKED = 50
"""The texts that a search by vectors finds for each query before they are put in another order."""


def rerank(model: Classify, query: str, texts: Sequence[str]) -> list[Hit]:
    """The number of each text with its score for the query, the best first; of equals the lower number is first.

    A search by vectors reads query and text apart, so it is quick, and its vectors can be kept. A model that reads both
    at once (a cross-encoder: a BertForSequenceClassification with one label) knows more, and takes a forward pass a
    pair. So the first finds some texts, and the second puts them in order. (Nogueira & Cho 2019, "Passage re-ranking
    with BERT".)

    Raises: InputError for a model with several labels.
    """
    labels = model.model.config.num_labels
    if labels != 1:
        raise InputError(f"the model has {labels} labels", wanted="one, the score of a pair of texts")
    scores = np.array(model([(query, text) for text in texts]), float)
    return [Hit(number, float(scores[number])) for number in np.argsort(-scores, kind="stable").tolist()]
