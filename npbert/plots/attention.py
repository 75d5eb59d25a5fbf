"""Draws the attention of a model, head by head."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

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
    if layers is not None:  # −1 is the last layer, and each layer is drawn once
        count = len(bert.encoder.layers)
        layers = list(dict.fromkeys(layer + count + 1 if -count <= layer < 0 else layer for layer in layers))
    found = bert.attention_probabilities(task.tokenizer.batch([encoding]), layers)
    probabilities, tokens = {layer: p[0] for layer, p in found.items()}, encoding.tokens  # p (B, H, T, T)
    heads, size = len(next(iter(probabilities.values()))), 0.3 + 0.095 * len(tokens)
    highest = max(float(layer.max()) for layer in probabilities.values())
    room = 0.5 + 0.06 * max(len(label(token)) for token in tokens)
    width, height = size * heads + room + 0.8, size * len(probabilities) + room + 0.6
    figure = new_figure(max(3.6, width), max(2.4, height), "Attention")
    axes = figure.subplots(len(probabilities), heads, squeeze=False, sharex=True, sharey=True)
    look = {"cmap": shares(), "vmin": 0, "vmax": highest}
    for line, (number, layer) in zip(axes, probabilities.items(), strict=True):
        for head, panel in enumerate(line):
            cells = panel.pcolormesh(layer[head], **look, rasterized=True)
            panel.set(title=f"layer {number}, head {head + 1}", aspect="equal")
            name_places(panel.xaxis, tokens, at=0.5, upright=True, fontsize=6)
            name_places(panel.yaxis, tokens, at=0.5, fontsize=6)
    panel.invert_yaxis()  # shared by all
    figure.supxlabel("key", fontsize=9)
    figure.supylabel("query", fontsize=9)
    figure.colorbar(cells, ax=axes, label="share of attention", fraction=0.05, aspect=30)
    return figure
