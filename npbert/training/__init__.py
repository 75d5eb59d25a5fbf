"""The training loop, its state on disk, and metrics."""

from npbert.training.accumulate import StepLosses, accumulate, evaluate_losses
from npbert.training.finetune import FinetuneSettings, Finetuning, evaluate_files
from npbert.training.metrics import (
    METRICS,
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
from npbert.training.settings import SETTINGS_FILE, TrainerSettings, load_settings, read_settings
from npbert.training.state import MODEL_FOLDER, STATE_FILE
from npbert.training.tasks import TaskSettings
from npbert.training.trainer import Trainer
from npbert.training.watchers import Evaluation

__all__ = [
    "Trainer",
    "TrainerSettings",
    "world",
    "Evaluation",
    "Pretraining",
    "PretrainSettings",
    "Finetuning",
    "FinetuneSettings",
    "evaluate_files",
    "evaluate_losses",
    "load_settings",
    "SETTINGS_FILE",
    "STATE_FILE",
    "MODEL_FOLDER",
    "accumulate",
    "StepLosses",
    "METRICS",
    "accuracy",
    "f1",
    "macro_f1",
    "matthews",
    "pearson",
    "spearman",
    "entity_scores",
    "squad_scores",
    "TaskSettings",
    "read_settings",
]
