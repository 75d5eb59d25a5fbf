"""The pictures of a report, each with a sentence that says what it shows and how it is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.data.batch import Batch
from npbert.data.tokenizer import Tokenizer
from npbert.files import FileError
from npbert.models import BertModel
from npbert.pages.report.parts import paragraph, picture, section
from npbert.pages.report.run import Run
from npbert.plots import plot_confusion, plot_curves, plot_layers, plot_predictions, plot_update_ratios
from npbert.plots.attention import attention_figure
from npbert.plots.curves import curve_names

_BASELINE = ("always giving the same answer", "knowing only how frequent words and labels are")
_STEP = ("learning_rate", "gradient_norm")
PERCENTS = ("f1", "exact_match")
"""What is from 0 to 100 where the answers are parts of a passage, as SQuAD has it, and from 0 to 1 elsewhere."""

_TOKENS, _CHARACTERS, _LAYERS = 16, 60, 4


def curves_section(run: Run) -> str:
    """Losses and metrics; then what each step was made with."""
    names = [name for name in curve_names(run.metrics) if name not in _STEP]
    parts = []
    if names:
        loss = (
            "The loss is the mean squared difference to the truth."
            if run.settings.get("task") in ("regression", "sts", "similarity")
            else "A loss is in nats: the mean of −log p, where p is the probability that the model gave to what is "
            "right, so 0.69 is as good as tossing a coin."
        )
        words = ["Upwards: the number that each picture is named after; to the right: steps."]
        if any(name.endswith("loss") for name in names):
            words.append(loss)
        if any(name.endswith("accuracy") for name in names):
            words.append("An accuracy is the share that is right, from 0 to 1.")
        if run.kind == "answers":
            words.append("The f1 and the exact match are in percent.")
        if run.baselines:
            words.append(f"The dashed line, the baseline, is what {_BASELINE['corpus' in run.settings]} gives.")
        if any(name.startswith("eval_") for row in run.metrics for name in row):
            if run.best_step:
                words.append(f"The rings mark step {run.best_step:,}, whose model is the best.")
            words.append(
                "Where the held-out curve turns away from that of training, the model begins to learn its examples by "
                "heart."
            )
        figure = plot_curves(run.metrics, names, baselines=run.baselines, best_step=run.best_step)
        caption = " ".join(words)
        parts.append(picture(figure, "curves", f"Curves of {', '.join(names)} by step.", caption))
    caption = (
        "The learning rate rises to its highest value and falls to 0 again. The norm of the gradient is √Σg² over all "
        "parameters, before it is clipped: a jump is a batch unlike the others, and a run that explodes shows it here "
        "first."
    )
    if any(name in row for row in run.metrics for name in _STEP):
        figure = plot_curves(run.metrics, _STEP)
        parts.append(
            picture(figure, "steps", "Curves of the learning rate and of the gradient's norm by step.", caption)
        )
    return section("curves", "What it learned, step by step", *parts)


def layers_section(run: Run) -> str:
    """The gradient and the update by layer and step."""
    title = "What happened in its layers"
    if not run.layers:
        return section("layers", title, paragraph("This run wrote nothing down about its layers: it is an old one."))
    norms = (
        "A row is a layer, the input below and the output above; a column is a step. Brighter is a larger gradient, "
        "‖g‖ = √Σg² over the layer's parameters, on a logarithmic scale. Rows that get darker and darker on the way "
        "down mean that the gradient vanishes before it reaches the input; rows that get brighter, that it explodes. "
        "(The embeddings hold many numbers"
        + (", and for hidden words their table is used twice" if "corpus" in run.settings else "")
        + ", so they are often bright.)"
    )
    ratios = (
        "How far a step moves the weights, beside how large they are: ‖Δw‖ / ‖w‖, on a logarithmic scale. A rule of "
        "thumb for a healthy run is about 0.001, the dashed line: far above it, each step throws away what the one "
        "before learned; far below it, the layer hardly learns. It follows the learning rate, up and down."
    )
    by_layer = (
        "The same by layer: brighter is a larger step beside the weights. A dark row is a layer that hardly moves; new "
        "heads and biases, which begin at 0, move most."
    )
    ways = [
        (plot_layers, "gradient_norms", "Heat map of the gradient's norm by layer and step.", norms),
        (plot_update_ratios, "middle", "Update beside weights by step, with the line 0.001.", ratios),
        (plot_layers, "update_ratios", "Heat map of update beside weights by layer and step.", by_layer),
    ]
    pictures = []
    for plot, what, alt, caption in ways:
        try:
            figure = plot(run.layers, what) if plot is plot_layers else plot(run.layers)
            pictures.append(picture(figure, what, alt, caption))
        except FileError as error:
            pictures.append(paragraph(f"No picture here: {error}."))
    return section("layers", title, *pictures)


def answers_section(row: dict[str, Any]) -> str:
    """What the model said beside what is true, of all held-out examples at once."""
    if row["kind"] in ("labels", "tags"):
        unit = "words" if row["kind"] == "tags" else "examples"
        caption = (
            f"A row is the true label, a column what the model said; in each field stands how many of the held-out "
            f"{unit} that is, and brighter is a larger share of the row. What is right lies on the line from the upper "
            f"left to the lower right; a bright field beside it says which label the model takes for which."
        )
        figure, name, alt = plot_confusion(row["labels"], row["counts"]), "confusion", "Confusion matrix."
        return section("answers", "Which label it takes for which", picture(figure, name, alt, caption))
    if row["kind"] == "numbers":
        caption = (
            "Each point is a held-out example: to the right the true number, upwards what the model said, both in the "
            "units of the file. On the dashed line both are the same; the closer the points, the better."
        )
        drawn = picture(plot_predictions(row["pairs"]), "predictions", "Predicted beside true numbers.", caption)
        return section("answers", "What it says beside what is true", drawn)
    return ""


def attention_section(run: Run) -> str:
    """Where the heads of the best model look in a sentence that is shown."""
    title = "Where its heads look"
    example = _example(run.shown[-1]) if run.shown else None
    if example is None or not (run.model / "config.json").is_file():
        why = "no model has been saved yet" if example else "no example was written down"
        return section("attention", title, paragraph(f"No picture here: {why}."))
    try:
        tokenizer, bert = (
            Tokenizer.from_pretrained(run.model),
            BertModel.from_pretrained(run.model, add_pooling_layer=False),
        )
    except (OSError, FileError) as error:
        return section("attention", title, paragraph(f"No picture here, as the model cannot be read: {error}."))
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
    caption = (
        f"The best model reads an example. {chosen}In each field a row is a token that looks, a column one that it "
        f"looks at; brighter is a larger share of its attention, and each row sums to 1. A line from corner to corner "
        f"is a head that looks at each token itself, a line beside it at the one before or after; a column, at one "
        f"token from everywhere, often [SEP], where there is nothing to find."
        + (f" There are {heads} heads side by side: scroll to see them all." if heads > 4 else "")
    )
    alt = f"Heat maps of attention, {len(layers)} layers with {heads} heads each."
    return section("attention", title, picture(attention_figure(probabilities, tokens), "heads", alt, caption))


def _example(row: dict[str, Any]) -> Any:
    """Of what is shown tokens, a text or a pair that a picture has room for, or None."""
    if row["kind"] == "masked":
        sentences = sorted((one["tokens"] for one in row["sentences"]), key=len)
        return next((tokens for tokens in reversed(sentences) if len(tokens) <= _TOKENS), sentences[0][:_TOKENS])
    texts: list[str | tuple[str, str]] = [_text(row["kind"], one) for one in row["worst"]]
    lengths = sorted(((len("".join(text)), text) for text in texts), key=lambda pair: pair[0])
    fitting = [text for length, text in lengths if length <= _CHARACTERS] or [text for _, text in lengths[:1]]
    return fitting[-1] if fitting else None


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
