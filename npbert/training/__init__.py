"""What training needs around a model: the metrics that say how good it is."""

from npbert.training.metrics import (
    METRICS,
    EntityScores,
    SquadScores,
    accuracy,
    entity_scores,
    f1,
    macro_f1,
    matthews,
    pearson,
    spearman,
    squad_scores,
)

__all__ = [
    "METRICS",
    "accuracy",
    "f1",
    "macro_f1",
    "matthews",
    "pearson",
    "spearman",
    "EntityScores",
    "entity_scores",
    "SquadScores",
    "squad_scores",
]
