"""The network as data: its arrays, and its steps in order. The page's scripts compute, explain and draw it."""

from configparser import ConfigParser
from functools import cache
from typing import Any

from npbert.models import BertConfig
from npbert.pages.html import resource

ACTIVATIONS = {"gelu": "GELU", "relu": "ReLU", "gelu_new": "TanhGELU", "gelu_pytorch_tanh": "TanhGELU"}
"""The activations of formulas.ini by Hugging Face's names."""
LOOKUPS = ("ids", "labels")


@cache
def formulas() -> dict[str, dict[str, str]]:
    """Return the sections of formulas.ini by name: network, arrays, kinds of steps, and bugs."""
    parser = ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # W is not w
    parser.read_string(resource("number/formulas.ini"))
    return {name: dict(parser[name]) for name in parser.sections()}


def network(config: BertConfig) -> dict[str, Any]:
    """Return BERT, from the ids of a sentence to the loss of its masked words: `arrays` with the description of each,
    and `steps`, each with its `kind`, `part`, `title`, `roads`, `lookups`, and its `arrays` by their names in its
    formulas.
    """
    names = {
        "activation": ACTIVATIONS[config.hidden_act],
        "positions": "SinusoidalPositions" if config.position_embedding_type == "sinusoidal" else "Embedding",
    }
    layers = [f"bert.encoder.layers.{number}" for number in range(config.num_hidden_layers)]
    into = [f"{layer}.x" for layer in layers] + [f"{layers[-1]}.y"]
    stages = [("begin", {"y": into[0]})]
    for number, layer in enumerate(layers):
        x, y = into[number : number + 2]
        stages.append(("layer", {"L": layer, "x": x, "y": y, "out": y[-1]}))
    stages.append(("end", {"x": into[-1]}))
    arrays: dict[str, dict[str, Any]] = {}
    steps = []
    for stage, own in stages:
        for line in formulas()["network"][stage].strip().splitlines():
            steps.append(_step(line, names | own, config.num_attention_heads, arrays))
    return {"steps": steps, "arrays": arrays}


def _step(line: str, names: dict[str, str], heads: int, arrays: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return a step from its line. New arrays are added to `arrays`."""
    begin, title, *pairs = line.split("; ")
    kind, part = begin.format(**names).split(" ")
    step: dict[str, Any] = {"kind": kind, "part": part, "title": title.format(**names)}
    step |= {"arrays": {}, "lookups": {}, "roads": []}
    for pair in pairs:
        key, value = pair.format(P=part, **names).split("=", 1)
        if key == "roads":
            step["roads"] = value.split(", ")
        elif key in LOOKUPS:
            step["lookups"][key] = value
        else:
            for head in range(heads) if "#" in key else [None]:
                symbol, _, name = value.replace("#", str(head)).rpartition(":")
                step["arrays"][key.replace("#", str(head))] = name
                if symbol:
                    arrays[name] = _about(symbol, head)
    return step


def _about(symbol: str, head: int | None) -> dict[str, Any]:
    rows, columns, meaning = formulas()["arrays"][symbol].split(" | ")
    return {"symbol": symbol, "rows": rows, "columns": columns, "meaning": meaning, "head": head}
