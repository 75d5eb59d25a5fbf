"""rerank: sorts texts by the score of a model that reads each text together with the query."""

from collections.abc import Sequence

import numpy as np

from npbert.inference.classify import Classify
from npbert.inference.search import Hit
from npbert.io import InputError

RERANKED = 50
"""The number of texts from a search by vectors to sort again, for each query."""


def rerank(model: Classify, query: str, texts: Sequence[str]) -> list[Hit]:
    """Return the index of each text with its score for the query, best first; the lower index first for equal scores.

    A search by vectors reads query and text separately: it is fast, and its vectors can be stored. A cross-encoder, a
    BertForSequenceClassification with one label, reads both together: it is more accurate, and takes a forward pass for
    each pair. So the first finds some texts, and the second sorts them. (Nogueira & Cho 2019, "Passage re-ranking with
    BERT".)

    Raises: InputError for a model with several labels.
    """
    labels = model.model.config.num_labels
    if labels != 1:
        raise InputError(f"the model has {labels} labels", wanted="one, the score of a pair of texts")
    scores = np.array(model([(query, text) for text in texts]), float)
    return [Hit(number, float(scores[number])) for number in np.argsort(-scores, kind="stable").tolist()]
