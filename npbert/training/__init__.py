"""The loop, its state on disk, and the metrics that say how good a model is."""

from npbert.training.accumulate import StepLosses, accumulate
from npbert.training.evaluate import evaluate_checkpoint
from npbert.training.finetune import FinetuneSettings, Finetuning
from npbert.training.goal import Goal
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
from npbert.training.parallel import world
from npbert.training.pretrain import Pretraining, PretrainSettings
from npbert.training.settings import TrainerSettings
from npbert.training.trainer import Trainer

__all__ = [
    "Trainer",
    "TrainerSettings",
    "world",
    "Goal",
    "Pretraining",
    "PretrainSettings",
    "Finetuning",
    "FinetuneSettings",
    "evaluate_checkpoint",
    "accumulate",
    "StepLosses",
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
