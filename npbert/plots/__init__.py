"""Pictures of models and runs. Each function returns a figure of matplotlib. (Extra: plot.)"""

from npbert.plots.curves import plot_curves
from npbert.plots.drawing import save_figure
from npbert.plots.heat_maps import plot_attention, plot_confusion
from npbert.plots.layers import plot_gradient_flow, plot_layers, plot_update_ratios
from npbert.plots.points import plot_embeddings, plot_predictions

__all__ = [
    "plot_attention",
    "plot_gradient_flow",
    "plot_embeddings",
    "plot_curves",
    "plot_layers",
    "plot_update_ratios",
    "plot_confusion",
    "plot_predictions",
    "save_figure",
]
