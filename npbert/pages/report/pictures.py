"""The pictures of a report, each with a sentence that says what it shows and how it is read."""

import re
from collections.abc import Callable, Sequence
from configparser import ConfigParser
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from npbert.data.batch import Batch
from npbert.data.tokenizer import Tokenizer
from npbert.io.files import FileError
from npbert.models import BertModel
from npbert.pages.html import resource
from npbert.pages.report.chart import MANY, Curve, chart
from npbert.pages.report.run import RunFiles
from npbert.plots import plot_confusion, plot_layers, plot_predictions, plot_update_ratios
from npbert.plots.attention import attention_figure
from npbert.plots.curves import curve_names
from npbert.plots.drawing import inline_svg
from npbert.training.state import MODEL_FOLDER

_BASELINE = ("always giving the same answer", "knowing only how frequent words and labels are")
_STEP = ("learning_rate", "gradient_norm")
PERCENTS = ("f1", "exact_match")
"""The metrics that are from 0 to 100 where answers are parts of a passage, as in SQuAD, and from 0 to 1 elsewhere."""

_TOKENS, _CHARACTERS, _LAYERS, _MOST_CHARTS = 16, 60, 4, 30


class Picture(NamedTuple):
    """The <svg> of a figure, "" where there is none, with what it shows and how it is read, or why there is none; or
    charts, with the names and looks of their curves."""

    svg: str
    words: str
    charts: Sequence[str] = ()
    key: Sequence[tuple[str, str]] = ()


def picture(figure: Any, name: str, alt: str, words: str) -> Picture:
    """A figure in a page. name: another for each. alt: what it shows, for those who cannot see it."""
    return Picture(inline_svg(figure, f"picture-{name}", alt), words)


def curves(*runs: RunFiles) -> list[Picture]:
    """Losses and metrics, and then what each step was made with: a chart for each number, with what training and a
    held-out set gave; of several runs, those of all over each other."""
    found = list(dict.fromkeys(name for run in runs for name in curve_names(run.metrics)))
    names = [name for name in found if name not in _STEP][:_MOST_CHARTS]
    pictures = []
    if names:
        charts = [_chart(name, runs) for name in names]
        pictures.append(Picture("", _said(names, runs), [drawn for drawn, _ in charts], _key(charts, runs)))
    steps = [name for name in _STEP if name in found]
    if steps:
        charts = [_chart(name, runs) for name in steps]
        said = _caption("curves", "steps")
        pictures.append(Picture("", said, [drawn for drawn, _ in charts], _key(charts, runs) if len(runs) > 1 else []))
    return pictures


def _chart(name: str, runs: Sequence[RunFiles]) -> tuple[str, list[tuple[str, str]]]:
    """The chart of a number, and the names and looks of what is in it."""
    lines, rings, key = [], [], []
    for number, run in enumerate(runs):
        look = f"run-{number % 6}" if len(runs) > 1 else ""
        whose = f"{run.name}, " if len(runs) > 1 else ""
        for words, column, kind in (("training", name, "training"), ("held out", f"eval_{name}", "held-out")):
            points = [(row["step"], row[column]) for row in run.metrics if column in row]
            if points:
                lines.append(Curve(f"{whose}{words}", f"{kind} {look}", points, is_smoothed=name not in _STEP))
                key.append((f"{whose}{words}", f"{kind} {look}"))
                rings += [(step, value) for step, value in points
                          if step == run.best_step and kind == "held-out" and value is not None]  # fmt: skip
    baseline = runs[0].baselines.get(name) if len(runs) == 1 else None
    key += [("baseline", "baseline")] * (baseline is not None) + [("best model", "best")] * bool(rings)
    return chart(metric_in_words(name), lines, baseline=baseline, rings=rings), key


def _key(charts: Sequence[tuple[str, list[tuple[str, str]]]], runs: Sequence[RunFiles]) -> list[tuple[str, str]]:
    return list(dict.fromkeys(pair for _, key in charts for pair in key))


def _said(names: Sequence[str], runs: Sequence[RunFiles]) -> str:
    """What the charts show, and how they are read."""
    run = runs[0]
    is_regression = run.settings.get("task") in ("regression", "sts", "similarity")
    rows = [row for each in runs for row in each.metrics]
    is_judged = any(name.startswith("eval_") for row in rows for name in row)
    said = {
        "upwards": True,
        "smoothed": len(rows) >= MANY,
        "squares" if is_regression else "nats": any(name.endswith("loss") for name in names),
        "accuracy": any(name.endswith("accuracy") for name in names),
        "percent": run.kind == "answers",
        "baseline": len(runs) == 1 and run.baselines,
        "best": len(runs) == 1 and is_judged and run.best_step,
        "held_out": is_judged,
        "lost": any(value is None for row in rows for value in row.values()),
    }
    values = {"knowing": _BASELINE["corpus" in run.settings], "step": f"{run.best_step or 0:,}"}
    return " ".join(_caption("curves", name, **values) for name, is_said in said.items() if is_said)


def metric_in_words(name: str) -> str:
    """A number of a run, as a newcomer understands it."""
    known = _captions()["names"]
    return known.get(name, name.replace("_", " "))


def words_in(text: str) -> list[tuple[str, str]]:
    """(word, what it means) of those words of training that are in a text."""
    meanings = _captions()["words"].items()
    return [(word, " ".join(meaning.split())) for word, meaning in meanings if re.search(rf"\b{word}\b", text)]


def layers(run: RunFiles) -> list[Picture]:
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


def attention(run: RunFiles) -> Picture:
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
    return " ".join(_captions()[part][name].split()).format(**values)


@cache
def _captions() -> ConfigParser:
    captions = ConfigParser(interpolation=None)
    captions.read_string(resource("report/captions.ini"))
    return captions


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
