"""Optimizers: from gradients to better parameters. They use only `Parameter`, no layer or model."""

from npbert.optim.adadelta import Adadelta
from npbert.optim.adamw import Adam, AdamW, adam
from npbert.optim.clipping import clip_by_global_norm, clip_factor, global_norm
from npbert.optim.optimizer import Optimizer
from npbert.optim.schedule import linear_warmup_decay

__all__ = [
    "Optimizer",
    "adam",
    "Adam",
    "AdamW",
    "Adadelta",
    "linear_warmup_decay",
    "clip_factor",
    "clip_by_global_norm",
    "global_norm",
]
