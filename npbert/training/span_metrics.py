"""Metrics of spans: entities, with all words right, and the answers of SQuAD v1.1.

SQuAD's metrics are those of its script, evaluate-v1.1. (Rajpurkar et al. 2016, section 6.1.)
"""

import re
import string
from collections import Counter
from collections.abc import Sequence

from npbert.inference import find_entities
from npbert.training.metrics import precision_recall_f1

_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:an?|the)\b")


def entity_scores(predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return precision, recall and f1 over the entities of all sentences (micro average), from lists of tags.

    A predicted entity is a hit if gold has one of the same type, start and end; a part of an entity does not count.
    (Tjong Kim Sang and De Meulder 2003, "Introduction to the CoNLL-2003 shared task", section 2.)

    Raises: ValueError for another number of sentences or of tags, or for an invalid tag; TypeError for a string instead
    of a list of tags.
    """
    hits = num_predicted = num_gold = 0
    for number, (predicted_tags, gold_tags) in enumerate(zip(predicted, gold, strict=True)):
        if len(predicted_tags) != len(gold_tags):
            raise ValueError(
                f"predicted[{number}] has {len(predicted_tags)} tags, wanted {len(gold_tags)}, as gold[{number}]"
            )
        predicted_entities, gold_entities = find_entities(predicted_tags), find_entities(gold_tags)
        hits += len(set(predicted_entities) & set(gold_entities))
        num_predicted += len(predicted_entities)
        num_gold += len(gold_entities)
    return dict(zip(("precision", "recall", "f1"), precision_recall_f1(hits, num_predicted, num_gold), strict=True))


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
    return max(_f1(normalize_answer(prediction).split(), normalize_answer(answer).split()) for answer in answers)


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
    total_exact = sum(exact_match(*pair) for pair in pairs)
    total_f1 = sum(token_f1(*pair) for pair in pairs)
    return {"exact_match": 100 * total_exact / len(pairs), "f1": 100 * total_f1 / len(pairs)}


def _f1(predicted: list[str], gold: list[str]) -> float:
    shared = Counter(predicted) & Counter(gold)
    return precision_recall_f1(shared.total(), len(predicted), len(gold))[2]
