"""Draws the attention of a model, head by head."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from npbert.data import Text
from npbert.inference import Embed, Task
from npbert.plots.drawing import label, name_places, new_figure, shares, style

MOST_TOKENS = 48


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
    if len(encoding.ids) > MOST_TOKENS:
        wanted = f"wanted at most {MOST_TOKENS} for a picture"
        raise ValueError(f"the text has {len(encoding.ids)} tokens, {wanted}")
    numbers = list(dict.fromkeys(bert.layer_numbers(layers, 1).values()))
    found = bert.attention_probabilities(task.tokenizer.batch([encoding]), numbers)
    probabilities = np.stack([found[number][0] for number in numbers])  # (layers, H, T, T)
    room, size = 0.5 + 0.06 * max(map(len, map(label, encoding.tokens))), 0.3 + 0.095 * len(encoding.tokens)
    lines, heads, *_ = probabilities.shape
    figure = new_figure(max(3.6, size * heads + room + 0.8), max(2.4, size * lines + room + 0.6), "Attention")
    panels = figure.subplots(lines, heads, squeeze=False, sharex=True, sharey=True)
    look = {"cmap": shares(), "vmin": 0, "vmax": probabilities.max(), "rasterized": True}
    for (line, head), panel in np.ndenumerate(panels):
        cells = panel.pcolormesh(probabilities[line, head], **look)
        panel.set(title=f"layer {numbers[line]}, head {head + 1}", aspect="equal")
        name_places(panel.xaxis, encoding.tokens, at=0.5, upright=True, fontsize=6)
        name_places(panel.yaxis, encoding.tokens, at=0.5, fontsize=6)
    panel.invert_yaxis()  # shared by all
    figure.supxlabel("key")
    figure.supylabel("query")
    figure.colorbar(cells, ax=panels, label="share of attention", fraction=0.05, aspect=30)
    return figure
