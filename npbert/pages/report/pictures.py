"""The pictures of a report, each with a sentence that says what it shows and how it is read."""

from collections.abc import Callable
from configparser import ConfigParser
from typing import Any, NamedTuple

import numpy as np

from npbert.data.batch import Batch
from npbert.data.tokenizer import Tokenizer
from npbert.files import FileError
from npbert.models import BertModel
from npbert.pages.html import resource
from npbert.pages.report.run import Run
from npbert.plots import plot_confusion, plot_curves, plot_layers, plot_predictions, plot_update_ratios
from npbert.plots.attention import attention_figure
from npbert.plots.curves import curve_names
from npbert.plots.drawing import inline_svg
from npbert.training.state import MODEL_FOLDER

_BASELINE = ("always giving the same answer", "knowing only how frequent words and labels are")
_STEP = ("learning_rate", "gradient_norm")
PERCENTS = ("f1", "exact_match")
"""The metrics that are from 0 to 100 where answers are parts of a passage, as in SQuAD, and from 0 to 1 elsewhere."""

_TOKENS, _CHARACTERS, _LAYERS = 16, 60, 4


class Picture(NamedTuple):
    """The <svg> of a figure, "" where there is none, with what it shows and how it is read, or why there is none."""

    svg: str
    words: str


def picture(figure: Any, name: str, alt: str, words: str) -> Picture:
    """A figure in a page. name: another for each. alt: what it shows, for those who cannot see it."""
    return Picture(inline_svg(figure, f"picture-{name}", alt), words)


def curves(run: Run) -> list[Picture]:
    """Losses and metrics; then what each step was made with."""
    names = [name for name in curve_names(run.metrics) if name not in _STEP]
    parts = []
    if names:
        is_regression = run.settings.get("task") in ("regression", "sts", "similarity")
        is_judged = any(name.startswith("eval_") for row in run.metrics for name in row)
        said = {
            "upwards": True,
            "squares" if is_regression else "nats": any(name.endswith("loss") for name in names),
            "accuracy": any(name.endswith("accuracy") for name in names),
            "percent": run.kind == "answers",
            "baseline": run.baselines,
            "best": is_judged and run.best_step,
            "held_out": is_judged,
        }
        values = {"knowing": _BASELINE["corpus" in run.settings], "step": f"{run.best_step or 0:,}"}
        words = " ".join(_caption("curves", name, **values) for name, is_said in said.items() if is_said)
        figure = plot_curves(run.metrics, names, baselines=run.baselines, best_step=run.best_step)
        parts.append(picture(figure, "curves", f"Curves of {', '.join(names)} by step.", words))
    if any(name in row for row in run.metrics for name in _STEP):
        alt = "Curves of the learning rate and of the gradient's norm by step."
        parts.append(picture(plot_curves(run.metrics, _STEP), "steps", alt, _caption("curves", "steps")))
    return parts


def layers(run: Run) -> list[Picture]:
    """The gradient and the update by layer and step."""
    if not run.layers:
        return [Picture("", "This run wrote nothing down about its layers: it is an old one.")]
    twice = ", and for hidden words their table is used twice" if "corpus" in run.settings else ""
    drawings: dict[str, tuple[Callable[[], Any], str]] = {
        "gradient_norms": (lambda: plot_layers(run.layers), "Heat map of the gradient's norm by layer and step."),
        "middle": (lambda: plot_update_ratios(run.layers), "Update beside weights by step, with the line 0.001."),
        "update_ratios": (
            lambda: plot_layers(run.layers, "update_ratios"),
            "Heat map of update beside weights by layer and step.",
        ),
    }
    pictures = []
    for name, (draw, alt) in drawings.items():
        try:
            pictures.append(picture(draw(), name, alt, _caption("layers", name, twice=twice)))
        except FileError as error:
            pictures.append(Picture("", f"No picture here: {error}."))
    return pictures


def answers(row: dict[str, Any]) -> list[Picture]:
    """The model's answers beside the true ones, of all held-out examples at once."""
    if row["kind"] in ("labels", "tags"):
        caption = _caption("answers", "confusion", unit="words" if row["kind"] == "tags" else "examples")
        return [picture(plot_confusion(row["labels"], row["counts"]), "confusion", "Confusion matrix.", caption)]
    if row["kind"] == "numbers":
        figure, caption = plot_predictions(row["pairs"]), _caption("answers", "predictions")
        return [picture(figure, "predictions", "Predicted beside true numbers.", caption)]
    return []


def attention(run: Run) -> Picture:
    """The attention of the best model's heads in an example of the report."""
    example, model = _example(run.report_rows[-1]) if run.report_rows else None, run.folder / MODEL_FOLDER
    if example is None or not (model / "config.json").is_file():
        why = "no model has been saved yet" if example else "no example was written down"
        return Picture("", f"No picture here: {why}.")
    try:
        tokenizer = Tokenizer.from_pretrained(model)
        bert = BertModel.from_pretrained(model, add_pooling_layer=False)
    except (OSError, FileError) as error:
        return Picture("", f"No picture here, as the model cannot be read: {error}.")
    if isinstance(example, list):
        numbers = {token: number for number, token in enumerate(tokenizer.decode(range(len(tokenizer))))}
        tokens = example
        batch = Batch(np.array([[numbers.get(token, tokenizer.unk_id) for token in tokens]]))
    else:
        longest = min(_TOKENS, bert.config.max_position_embeddings)
        (encoding,) = tokenizer.encode([_whole(example)], max_length=longest)
        tokens, batch = encoding.tokens, tokenizer.batch([encoding])
    count = len(bert.encoder.layers)
    layers = np.unique(np.linspace(1, count, min(count, _LAYERS)).round().astype(int)).tolist()
    probabilities = {layer: found[0] for layer, found in bert.attention_probabilities(batch, layers).items()}
    heads = len(probabilities[layers[0]])
    chosen = "" if len(layers) == count else f"Of its {count} layers, these are {', '.join(map(str, layers))}. "
    scroll = f" There are {heads} heads side by side: scroll to see them all." if heads > 4 else ""
    caption = _caption("attention", "heads", chosen=chosen, scroll=scroll)
    alt = f"Heat maps of attention, {len(layers)} layers with {heads} heads each."
    return picture(attention_figure(probabilities, tokens), "heads", alt, caption)


def _caption(part: str, name: str, **values: str) -> str:
    """A text of captions.ini, in one line."""
    captions = ConfigParser(interpolation=None)
    captions.read_string(resource("report/captions.ini"))
    return " ".join(captions[part][name].split()).format(**values)


def _example(row: dict[str, Any]) -> Any:
    """Tokens, a text or a pair of a row of the report, if a picture has room for one."""
    if row["kind"] == "masked":
        sentences = sorted((one["tokens"] for one in row["sentences"]), key=len)
        return next((tokens for tokens in reversed(sentences) if len(tokens) <= _TOKENS), sentences[0][:_TOKENS])
    texts = sorted((_text(row["kind"], one) for one in row["worst"]), key=_length)
    fitting = [text for text in texts if _length(text) <= _CHARACTERS] or texts[:1]
    return fitting[-1] if fitting else None


def _length(text: str | tuple[str, str]) -> int:
    return len("".join(text))


def _whole(text: Any) -> Any:
    """The text, or pair, without halves of characters."""
    return tuple(map(_whole, text)) if isinstance(text, tuple) else text.encode("utf-8", "replace").decode()


def _text(kind: str, one: dict[str, Any]) -> str | tuple[str, str]:
    if kind == "tags":
        return " ".join(one["words"])
    if kind == "choices":
        return one["text"], one["choices"][one["true"]]
    if kind == "answers":
        return one["question"], one["excerpt"][one["true"][0] : one["true"][1]]
    first, *second = one["texts"]
    return (first, second[0]) if second else first
