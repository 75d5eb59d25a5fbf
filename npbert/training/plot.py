"""The pictures of a run: its curves at the end, and pictures of evaluations for TensorBoard."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from npbert.core import Layer
from npbert.data.batch import Batch
from npbert.data.tokenizer import Tokenizer
from npbert.data.tokenizer_files import Encoding
from npbert.io.extras import import_extra
from npbert.io.files import FileError, atomic_write
from npbert.plots import plot_confusion, plot_curves, plot_layers, plot_predictions
from npbert.plots.attention import attention_figure
from npbert.plots.drawing import as_bytes
from npbert.training.log import EventFile
from npbert.training.progress import Step, Watcher

PLOT_FILE = "curves.png"
_SHARE, _FIRST = 0.02, 3.0  # a share of the time, and seconds, with the import of matplotlib
_TOKENS, _HEADS = 24, 4


class PlottedText(NamedTuple):
    """A text for a picture of attention: a batch of one sequence, and its tokens."""

    batch: Batch
    tokens: Sequence[str]


def example_of(encodings: Iterable[Encoding | list[Encoding]], tokenizer: Tokenizer) -> PlottedText | None:
    """Return the longest text that fits a picture, or None."""
    fitting = [each for each in encodings if not isinstance(each, list) and len(each.ids) <= _TOKENS]
    if not fitting:
        return None
    longest = max(fitting, key=lambda encoding: len(encoding.ids))
    return PlottedText(tokenizer.batch([longest]), longest.tokens)


def draw_curves(folder: Path) -> None:
    """Write curves.png into the folder of a run, if there are numbers to draw. (Extra: train.)"""
    import_extra("matplotlib.figure", extra="train")
    try:
        figure = plot_curves(folder)
    except FileError:
        return
    with atomic_write(folder / PLOT_FILE) as file:
        file.write_bytes(as_bytes(figure))


class Pictures(Watcher):
    """Draws pictures of a run in `folder` for TensorBoard, in at most a fiftieth of its time: the gradients by layer
    and step, the attention of the first and the last layer, and predictions.

    model, example: a model with a `bert`, and its input for a picture of its attention.
    """

    def __init__(self, folder: Path, events: EventFile, model: Layer, example: PlottedText | None = None) -> None:
        self.folder, self._events, self._bert, self._example = folder, events, getattr(model, "bert", None), example
        self._start, self._spent = time.perf_counter(), _FIRST

    def after(self, step: Step) -> None:
        start = time.perf_counter()
        if step.is_judged and self._spent <= _SHARE * (start - self._start):
            drawn = {name: as_bytes(figure) for name, figure in self._figures(step.shown)}
            self._events.images(step.number, drawn)
            self._spent += time.perf_counter() - start

    def _figures(self, shown: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        with suppress(FileError):  # no step is logged yet, or none has a gradient
            yield "layers/gradient_norms", plot_layers(self.folder)
        if self._bert is not None and self._example is not None:
            batch, tokens = self._example
            layers = sorted({1, len(self._bert.encoder.layers)})
            found = self._bert.attention_probabilities(batch, layers)
            yield "layers/attention", attention_figure({layer: found[layer][0, :_HEADS] for layer in layers}, tokens)
        if shown.get("kind") in ("labels", "tags"):
            yield "held out/confusion", plot_confusion(shown["labels"], shown["counts"])
        elif shown.get("kind") == "numbers":
            yield "held out/predictions", plot_predictions(shown["pairs"])
