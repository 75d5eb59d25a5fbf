"""Metrics of predictions, for each task (those of a search are in tasks/vectors.py). Every score is a Python float, and
higher is better.

classes (CoLA, MRPC, QQP, MNLI, …)    accuracy, f1, macro_f1, matthews
numbers (STS-B)                       pearson, spearman
tagged words (CoNLL)                  entity_scores
answers as text (SQuAD v1.1)          squad_scores, of the task's script, evaluate-v1.1
                                      (Rajpurkar et al. 2016, section 6.1.)
"""

import math
import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from npbert.compute import Array
from npbert.core import IGNORED, check_integers
from npbert.inference import find_entities

_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:an?|the)\b")


def accuracy(predictions: ArrayLike, labels: ArrayLike) -> float:
    """Return the share of examples with a right prediction.

    predictions (N,)   labels (N,)   integers, one class an example

    Raises: TypeError unless they are integers; ValueError for other shapes, different lengths, no example, or a label
    IGNORED (−100), which is not a class.
    """
    _, hits, _, gold = _counts(predictions, labels)
    return float(hits.sum() / gold.sum())


def f1(predictions: ArrayLike, labels: ArrayLike, positive: int = 1) -> float:
    """Return F1 of the class `positive`, with all others negative; 0 if it is neither predicted nor a label.

    F1 = 2 TP / (2 TP + FP + FN): true negatives, perhaps very many, do not count. The metric of MRPC and QQP. (Wang et
    al. 2018, "GLUE", section 3.2.) Shapes and errors: as accuracy.
    """
    found = class_scores(predictions, labels)
    return found[positive].f1 if positive in found else 0.0


def macro_f1(predictions: ArrayLike, labels: ArrayLike) -> float:
    """Return the mean F1 over all classes that are predicted or a label; rare and frequent classes weigh the same.
    Shapes and errors: as accuracy."""
    return float(np.mean([scores.f1 for scores in class_scores(predictions, labels).values()]))


class ClassScores(NamedTuple):
    """The precision, recall and F1 of a class, and the number of examples with this label."""

    precision: float
    recall: float
    f1: float
    support: int


def class_scores(predictions: ArrayLike, labels: ArrayLike) -> dict[int, ClassScores]:
    """Return the scores of each class that is predicted or a label; an undefined one is 0. Shapes, errors: as
    accuracy."""
    counted = np.stack(_counts(predictions, labels), axis=1).tolist()
    return {number: scores_of(*counts) for number, *counts in counted}


def matthews(predictions: ArrayLike, labels: ArrayLike) -> float:
    """Return the Matthews correlation coefficient for any number of classes: 1 for all right, about 0 for guessing.

    (c − Σ pₖ tₖ) / √((1 − Σ pₖ²) (1 − Σ tₖ²))  with shares of all examples: c is right, class k is predicted for pₖ and
    a label of tₖ. It is the correlation of the two as one-hot vectors; 0 if undefined, when a side has only one class.
    The metric of CoLA. (Gorodkin 2004, "Comparing two K-category assignments by a K-category correlation coefficient";
    for two classes Matthews 1975.) Shapes and errors: as accuracy.
    """
    _, hits, predicted, gold = _counts(predictions, labels)
    n = gold.sum()
    p, t = predicted / n, gold / n
    return ratio(hits.sum() / n - p @ t, math.sqrt((1 - p @ p) * (1 - t @ t)))


def _counts(predictions: ArrayLike, labels: ArrayLike) -> tuple[Array, Array, Array, Array]:
    """Return the classes, and three counts for each, (C,): right predictions, predictions, and labels."""
    pair = _paired(predictions, labels)
    check_integers(np.asarray(predictions), name="predictions")
    check_integers(np.asarray(labels), name="labels")
    if (pair[1] == IGNORED).any():
        raise ValueError(f"labels has {IGNORED}, wanted classes; leave these examples out")
    classes, numbers = np.unique(pair, return_inverse=True)
    predicted, gold = numbers.reshape(2, -1)  # the classes as 0 to C − 1
    right, count = gold[predicted == gold], len(classes)
    hits, guesses, golds = (np.bincount(each, minlength=count) for each in (right, predicted, gold))
    return classes, hits, guesses, golds


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Return Pearson's correlation: 1 if y is a rising line in x, −1 for a falling one, about 0 for guessing.

    r = Σ (xᵢ − x̄)(yᵢ − ȳ) / √(Σ (xᵢ − x̄)² · Σ (yᵢ − ȳ)²)  in float64   x, y (N,)

    It is nan, 0 / 0, if a side is constant, as for a single example. A metric of STS-B. (Wang et al. 2018, "GLUE",
    section 3.2.)

    Raises: TypeError unless both hold numbers; ValueError for other shapes, different lengths, no example, or a number
    that is not finite.
    """
    pair = _paired(x, y)
    if not np.isfinite(pair).all():
        raise ValueError("x or y has a number that is not finite, wanted finite numbers")
    if (pair == pair[:, :1]).all(axis=1).any():
        return math.nan
    return float(np.corrcoef(*pair)[0, 1])


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Return Spearman's rank correlation: 1 if y rises whenever x does.

    It is Pearson's correlation of the ranks, with the mean rank for equal values; nan if a side is constant. x, y (N,).
    A metric of STS-B. (Wang et al. 2018, "GLUE", section 3.2.) Raises: as pearson.
    """
    pearson(x, y)  # for its errors, as a rank is always finite
    return pearson(*map(_ranks, _paired(x, y)))


def _ranks(x: Array) -> Array:
    """Return the rank of each value, from 1 on. Values that tie for ranks a to b all have rank (a + b) / 2."""
    _, numbers, counts = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[numbers]


def _paired(first: ArrayLike, second: ArrayLike) -> Array:
    """Return both as rows of an array (2, N). Raises: ValueError unless both are (N,) with the same N, at least 1."""
    shapes = np.shape(first), np.shape(second)
    if shapes[0] != shapes[1] or len(shapes[0]) != 1 or 0 in shapes[0]:
        raise ValueError(f"the shapes are {shapes[0]} and {shapes[1]}, wanted (N,), one value an example, for both")
    return np.stack([first, second])


def ratio(part: float, whole: float) -> float:
    """Return part / whole, or 0 if whole is 0."""
    return float(part / whole) if whole else 0.0


def scores_of(hits: int, predicted: int, gold: int) -> ClassScores:
    """Return hits / predicted, hits / gold, and F1, their harmonic mean; 0 / 0 counts as 0.

    2 · precision · recall / (precision + recall) is 2 · hits / (predicted + gold). (Van Rijsbergen 1979, chapter 7.)
    """
    return ClassScores(ratio(hits, predicted), ratio(hits, gold), ratio(2 * hits, predicted + gold), gold)


def entity_scores(predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return precision, recall and f1 over the entities of all sentences (micro average), from lists of tags.

    A predicted entity is a hit if gold has one of the same type, start and end; a part of an entity does not count.
    (Tjong Kim Sang and De Meulder 2003, "Introduction to the CoNLL-2003 shared task", section 2.)

    Raises: ValueError for another number of sentences or of tags, or for an invalid tag; TypeError for a string instead
    of a list of tags.
    """
    found, wanted = set(), set()
    for number, (ours, true) in enumerate(zip(predicted, gold, strict=True)):
        if len(ours) != len(true):
            raise ValueError(f"predicted[{number}] has {len(ours)} tags, wanted {len(true)}, as gold[{number}]")
        found |= {(number, *entity) for entity in find_entities(ours)}
        wanted |= {(number, *entity) for entity in find_entities(true)}
    scores = scores_of(len(found & wanted), len(found), len(wanted))._asdict()
    del scores["support"]
    return scores


def normalize_answer(text: str) -> str:
    """Return the text in lower case, without ASCII punctuation, then without a, an and the; with one space between
    words.

    In this order, "A.N. Other" becomes "other". Dashes and quotes beyond ASCII stay and separate words: "the–end" loses
    its article.
    """
    bare = text.lower().translate(_WITHOUT_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", bare).split())


def exact_match(prediction: str, answers: Sequence[str]) -> float:
    """Return 1 if the prediction is one of the gold answers after normalize_answer, else 0."""
    return float(normalize_answer(prediction) in map(normalize_answer, answers))


def token_f1(prediction: str, answers: Sequence[str]) -> float:
    """Return the highest F1 of the words that prediction and a gold answer share.

    F1 = 2 · shared / (words of the prediction + words of the answer), after normalize_answer. A word that occurs twice
    in both is shared twice. Two texts without words have F1 0, but an exact match of 1. (In SQuAD v2.0, F1 is 1.)
    """
    said, scores = normalize_answer(prediction).split(), []
    for answer in answers:
        gold = normalize_answer(answer).split()
        shared = (Counter(said) & Counter(gold)).total()
        scores.append(ratio(2 * shared, len(said) + len(gold)))
    return max(scores)


def squad_scores(predictions: Sequence[str], answers: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return exact_match and f1, their means over all questions in percent, from each predicted text and its gold
    answers.

    Raises: ValueError for no question, or another number of predictions; TypeError for a string instead of a list of
    answers.
    """
    pairs = list(zip(predictions, answers, strict=True))
    if not pairs:
        raise ValueError("answers is empty, wanted at least one question")
    for number, golds in enumerate(answers):
        if isinstance(golds, str):
            raise TypeError(f"answers[{number}] is the string {golds!r}, wanted a list of gold answers")
    scores = {"exact_match": exact_match, "f1": token_f1}
    return {name: 100 * sum(score(*pair) for pair in pairs) / len(pairs) for name, score in scores.items()}


METRICS = {metric.__name__: metric for metric in (accuracy, f1, macro_f1, matthews, pearson, spearman)}
"""The metrics for one prediction and one label an example, (N,), by name."""
