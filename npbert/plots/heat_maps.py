"""Heat maps of shares: the attention of a model, head by head, and predicted labels by true ones."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from npbert.data import Text
from npbert.inference import Embed, Task
from npbert.plots.drawing import INK, label, name_places, new_figure, new_panel, style

MOST_TOKENS = 48
_MOST_WITH_COUNTS = 16


@style()
def plot_attention(model: str | Path | Task, text: Text, *, layers: Collection[int] | None = None) -> Any:
    """Draw a heat map for each head, in a row for each layer. In it, a row is a query with sum 1, a column is a key,
    white is 0, and darker is more.

    model: the folder of a checkpoint, or a task such as FillMask or Embed.
    text: one, or a pair.   layers: counted from 1, or from −1 at the end; by default all.

    (Extras: plot, hf.) Raises: ValueError for a text of more than 48 tokens; IndexError for an unknown layer; as
    from_pretrained.
    """
    task: Any = Embed.from_pretrained(model, pooling="mean") if isinstance(model, str | Path) else model
    bert = getattr(task.model, "bert", task.model)
    (encoding,) = task.tokenizer.encode([text])
    tokens = encoding.tokens
    if len(tokens) > MOST_TOKENS:
        raise ValueError(f"the text has {len(tokens)} tokens, wanted at most {MOST_TOKENS} for a picture")
    numbers = list(dict.fromkeys(bert.layer_numbers(layers, 1).values()))
    found = bert.attention_probabilities(task.tokenizer.batch([encoding]), numbers)
    probabilities = np.stack([found[number][0] for number in numbers])  # (layers, H, T, T)
    room, size = 0.5 + 0.06 * max(map(len, map(label, tokens))), 0.3 + 0.095 * len(tokens)
    lines, heads, *_ = probabilities.shape
    figure = new_figure(max(3.6, size * heads + room + 0.8), max(2.4, size * lines + room + 0.6), "Attention")
    panels = figure.subplots(lines, heads, squeeze=False, sharex=True, sharey=True)
    look = {"vmin": 0, "vmax": probabilities.max(), "rasterized": True}
    for (line, head), panel in np.ndenumerate(panels):
        cells = panel.pcolormesh(probabilities[line, head], **look)
        panel.set(title=f"layer {numbers[line]}, head {head + 1}", aspect="equal")
        name_places(panel.xaxis, tokens, at=0.5, upright=True, fontsize=6)
        name_places(panel.yaxis, tokens, at=0.5, fontsize=6)
    panel.invert_yaxis()  # shared by all
    figure.supxlabel("key")
    figure.supylabel("query")
    figure.colorbar(cells, ax=panels, label="share of attention", fraction=0.05, aspect=30)
    return figure


@style()
def plot_confusion(labels: Sequence[str], counts: Any) -> Any:
    """Draw a confusion matrix: a row for each true label, a column for each predicted one, with the number of examples.
    Darker is a larger share of the row; right predictions are on the diagonal. counts (C, C).

    (Extra: plot.) Raises: ValueError for counts of another shape.
    """
    table, size = np.array(counts, float), len(labels)
    if table.shape != (size, size):
        raise ValueError(f"counts has shape {table.shape}, wanted a row and a column for each of {size} labels")
    of_row = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    width, height = max(3.4, 1.8 + 0.42 * size), max(2.6, 1.5 + 0.36 * size)
    figure, axes = new_panel(width, height, "Confusion matrix", xlabel="predicted label", ylabel="true label")
    image = axes.imshow(of_row, vmin=0, vmax=1, interpolation="none", zorder=1)
    name_places(axes.xaxis, labels, upright=max(map(len, labels)) > 4)
    name_places(axes.yaxis, labels)
    for place in np.ndindex(table.shape) if size <= _MOST_WITH_COUNTS else ():
        color = "#ffffff" if of_row[place] > 0.7 else INK
        axes.text(place[1], place[0], f"{table[place]:,.0f}", ha="center", va="center", color=color)
    figure.colorbar(image, ax=axes, label="share of the row")
    return figure
