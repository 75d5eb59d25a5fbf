"""How good predictions are, by each task's own measure. Every score is a Python float, and higher is better.

classes (CoLA, MRPC, QQP, MNLI, …)    accuracy, f1, macro_f1, matthews
numbers (STS-B)                       pearson, spearman
tagged words (CoNLL)                  entity_scores
answers as text (SQuAD v1.1)          squad_scores
"""

from npbert.training.metrics.classification import accuracy, f1, macro_f1, matthews
from npbert.training.metrics.correlation import pearson, spearman
from npbert.training.metrics.entities import EntityScores, entity_scores
from npbert.training.metrics.squad import SquadScores, exact_match, normalize_answer, squad_scores, token_f1
from npbert.training.metrics.table import METRICS, Metric

__all__ = [
    "METRICS",
    "Metric",
    "accuracy",
    "f1",
    "macro_f1",
    "matthews",
    "pearson",
    "spearman",
    "EntityScores",
    "entity_scores",
    "normalize_answer",
    "exact_match",
    "token_f1",
    "SquadScores",
    "squad_scores",
]
