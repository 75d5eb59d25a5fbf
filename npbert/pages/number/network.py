"""The network as data: its arrays, its steps in order, and the lines of npbert that compute each step. The page's
scripts compute, explain and draw it."""

import ast
import inspect
import re
import textwrap
from configparser import ConfigParser
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from npbert.core import named_parts
from npbert.models import BertConfig
from npbert.pages.html import PAGES, resource

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
    steps = []
    for stage, own in stages:
        known = names | own
        for line in formulas()["network"][stage].strip().splitlines():
            begin, title, *pairs = line.split("; ")
            kind, part = begin.format(**known).split(" ")
            named = dict(pair.format(P=part, **known).split("=", 1) for pair in pairs)
            steps.append({"kind": kind, "part": part, "title": title.format(**known), "named": named})
    return steps


_ASIDE = re.compile(r"^\s*(check_|#|$)|tape\.keep|\.shape$")
"""A line that computes nothing."""


def source_lines(model: Any, steps: list[dict[str, Any]]) -> dict[str, Any]:
    """Return `functions`: by name, the `file` and `lines`, [number, text], without docstring; and `steps`: by phase,
    kind and part, the frames, innermost first: [function, relevant lines].

    steps: of the network, each with its `kind` and `part`.
    """
    parts = dict(named_parts(model))
    functions: dict[str, Any] = {}
    found = {}
    places = [(step["kind"], step["part"], phase) for step in steps for phase in ("forward", "backward")]
    for kind, part, phase in [*places, ("AdamW", "parameters", "update")]:
        frames = []
        for function, pattern in reversed(_own(parts, kind, part, phase)):
            code = code_of(function)
            functions[code["name"]] = code
            relevant = [
                number
                for number, text in code["lines"]
                if number >= code["body"] and re.search(pattern, text) and not _ASIDE.search(text)
            ]
            frames.append([code["name"], relevant])
        found[f"{phase} {kind} {part}"] = frames
    return {"functions": functions, "steps": found}


def _own(parts: dict[str, Any], kind: str, part: str, phase: str) -> list[tuple[Any, str]]:
    """Return the functions that compute the step: those in formulas.ini, or the layer's with its helpers."""
    named = formulas()[kind].get(f"{phase} in {part.split('.')[-1]}")
    if named:
        pairs = [line.partition(" | ") for line in named.strip().splitlines()]
        return [(resolve_name(f"npbert.{name}"), pattern) for name, _, pattern in pairs]
    owner = type(parts[part])
    function = getattr(owner, phase)
    helpers = [getattr(owner, name, None) for name in re.findall(r"self\.(\w+)", inspect.getsource(function))]
    return [(function, ""), *((helper, "") for helper in dict.fromkeys(helpers) if inspect.isfunction(helper))]


@cache
def code_of(function: Any) -> dict[str, Any]:
    """Return a function for the page: `name`, `file` and numbered `lines`, without the docstring."""
    text, first = inspect.getsourcelines(function)
    source = textwrap.dedent("".join(text))
    tree: Any = ast.parse(source).body[0]
    begin = tree.body[0]
    head = begin.lineno - 1
    body = head if ast.get_docstring(tree) is None else begin.end_lineno
    lines = list(enumerate(source.splitlines(), first))
    file = Path(inspect.getfile(function)).relative_to(PAGES.parents[1]).as_posix()
    return {"name": function.__qualname__, "file": file, "lines": [*lines[:head], *lines[body:]], "body": first + body}
