"""From gradients to better parameters. Nothing here knows a layer or a model, only `Parameter`."""

from npbert.optim.adadelta import Adadelta
from npbert.optim.adamw import Adam, AdamW, adam
from npbert.optim.clipping import clip_by_global_norm, clip_factor, global_norm
from npbert.optim.optimizer import Optimizer
from npbert.optim.schedule import linear_warmup_decay

__all__ = ["Optimizer", "adam", "Adam", "AdamW", "Adadelta"]
__all__ += ["linear_warmup_decay", "clip_factor", "clip_by_global_norm", "global_norm"]
