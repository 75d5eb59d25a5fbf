"""The network as data: its arrays, and its steps in order. The page's scripts compute, explain and draw it."""

from configparser import ConfigParser
from functools import cache
from typing import Any

from npbert.models import BertConfig
from npbert.pages.html import resource

ACTIVATIONS = {"gelu": "GELU", "relu": "ReLU", "gelu_new": "TanhGELU", "gelu_pytorch_tanh": "TanhGELU"}
"""The activations of formulas.ini by Hugging Face's names."""


@cache
def formulas() -> dict[str, dict[str, str]]:
    """Return the sections of formulas.ini by name: network, arrays, kinds of steps, and bugs."""
    parser = ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # W is not w
    parser.read_string(resource("number/formulas.ini"))
    return {name: dict(parser[name]) for name in parser.sections()}


def network(config: BertConfig) -> list[dict[str, Any]]:
    """Return the steps of BERT, from the ids of a sentence to the loss of its masked words: each with its `kind`,
    `part`, `title`, and what it has `named`: roads, lookups, and arrays by their names in its formulas."""
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
    lines = [(line, own) for stage, own in stages for line in formulas()["network"][stage].strip().splitlines()]
    return [_step(line, names | own) for line, own in lines]


def _step(line: str, names: dict[str, str]) -> dict[str, Any]:
    begin, title, *pairs = line.split("; ")
    kind, part = begin.format(**names).split(" ")
    named = dict(pair.format(P=part, **names).split("=", 1) for pair in pairs)
    return {"kind": kind, "part": part, "title": title.format(**names), "named": named}
