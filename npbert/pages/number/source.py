"""The lines of npbert that compute each step of the page: its layer's own, then the calls that lead to them."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from npbert.blocks import BertEmbeddings, Encoder, EncoderLayer, MaskedLMHead, MultiHeadAttention
from npbert.core import named_parts
from npbert.layers import DotProductAttention, SoftmaxCrossEntropy
from npbert.layers import dot_product_attention as attention
from npbert.layers import softmax as softmaxes
from npbert.optim import AdamW, adam, clip_factor

PACKAGE = Path(__file__).parents[2]

Frame: TypeAlias = tuple[Any, str]
"""A function, and a pattern of the lines in it that count."""

ALL = ""
BETWEEN: dict[str, list[Frame]] = {
    "forward Add embeddings": [(BertEmbeddings.forward, r"word \+ position")],
    "backward Add embeddings": [(BertEmbeddings.backward, r"_embeddings\.backward")],
    "forward Add attention": [(EncoderLayer.forward, r"attention_norm\(")],
    "backward Add attention": [(EncoderLayer.backward, r"attention_norm.*\n.*df = ")],
    "forward Add feed_forward": [(EncoderLayer.forward, r"output_norm\(")],
    "backward Add feed_forward": [(EncoderLayer.backward, r"output_norm.*\n.*df = ")],
    "forward Fork attention": [
        (EncoderLayer.forward, r"self\.attention\("),
        (MultiHeadAttention.forward, r"self\.(query|key|value)\("),
    ],
    "backward Fork attention": [
        (Encoder.backward, r"dx \+ dz|gather\.backward"),
        (EncoderLayer.backward, r"return ds"),
        (MultiHeadAttention.backward, r"dz = |return"),
    ],
    "forward Fork feed_forward": [(EncoderLayer.forward, r"self\.feed_forward\(")],
    "backward Fork feed_forward": [(EncoderLayer.backward, r"dh = ")],
    "forward Scores dot_product": [(DotProductAttention.attend, r"_probabilities"), (attention._probabilities, ALL)],
    "backward Scores dot_product": [(DotProductAttention.attend_backward, r"dqk = |return")],
    "forward Softmax dot_product": [(attention._probabilities, r"softmax"), (softmaxes.softmax, ALL)],
    "backward Softmax dot_product": [
        (DotProductAttention.attend_backward, r"softmax_backward"),
        (softmaxes.softmax_backward, ALL),
    ],
    "forward WeightedMean dot_product": [(DotProductAttention.attend, r"a = |return")],
    "backward WeightedMean dot_product": [(DotProductAttention.attend_backward, r"a = |dv = ")],
    "forward Decoder predictions": [(MaskedLMHead.forward, r"return")],
    "backward Decoder predictions": [(MaskedLMHead.backward, r"table|bias")],
    "forward CrossEntropy cross_entropy": [(SoftmaxCrossEntropy.forward, r"largest|total|log_p")],
    "backward CrossEntropy cross_entropy": [(SoftmaxCrossEntropy.backward, r"dscores|share")],
    "update AdamW parameters": [(AdamW.kept, ALL), (clip_factor, r"factor"), (adam, ALL)],
}
"""What is no layer's own forward or backward, by phase, kind and the last name of the part."""


def source_lines(model: Any, steps: list[dict[str, Any]]) -> dict[str, Any]:
    """`files`: their paths; `functions`: by its name, each function's `file` and `lines`, [number, text], without its docstring; `steps`: by
    phase, kind and part, the frames, the innermost first: [function, the numbers of the lines that count].

    steps: those of the network, each with its `kind` and `part`.
    """
    parts = dict(named_parts(model))
    functions: dict[str, Any] = {}
    found = {}
    places = [(step["kind"], step["part"], phase) for step in steps for phase in ("forward", "backward")]
    for kind, part, phase in [*places, ("AdamW", "parameters", "update")]:
        own = _own(parts, kind, part, phase)
        calls = [call for call in _calls_to(parts, part, phase) if call[0] not in dict(own)]
        frames = []
        for function, pattern in reversed([*calls, *own]):
            code = code_of(function)
            functions[code["name"]] = code
            frames.append([code["name"], lines_with(code, pattern)])
        found[f"{phase} {kind} {part}"] = frames
    return {"files": sorted({code["file"] for code in functions.values()}), "functions": functions, "steps": found}


def _calls_to(parts: dict[str, Any], part: str, phase: str) -> Iterator[Frame]:
    """From the model on, each function that calls the next part on the way, with the pattern of that call."""
    names = part.split(".")
    for depth in range(1, len(names)):
        owner = parts.get(".".join(names[:depth]))
        child = names[depth]
        call = rf"\b{child}(\.backward)?\(" if owner is not None else ""
        if isinstance(owner, Encoder):
            call = r"\b(layer|last)(\.backward)?\("
        if call and hasattr(type(owner), phase):
            yield getattr(type(owner), phase), call


def _own(parts: dict[str, Any], kind: str, part: str, phase: str) -> list[Frame]:
    """The functions that compute the step itself: a layer's own with its helpers, or what BETWEEN names."""
    key = f"{phase} {kind} {part.split('.')[-1]}"
    if key in BETWEEN:
        return BETWEEN[key]
    owner = type(parts[part])
    function = getattr(owner, phase)
    helpers = [getattr(owner, name, None) for name in re.findall(r"self\.(\w+)", inspect.getsource(function))]
    return [(function, ALL), *((helper, ALL) for helper in dict.fromkeys(helpers) if inspect.isfunction(helper))]


@cache
def code_of(function: Any) -> dict[str, Any]:
    """A function as the page shows it: `name`, `file` and `lines`, each with its number, without the docstring."""
    text, first = inspect.getsourcelines(function)
    (tree,) = ast.parse(textwrap.dedent("".join(text))).body
    doc = tree.body[0] if ast.get_docstring(tree) is not None else None  # type: ignore[attr-defined,arg-type]
    hidden = range(doc.lineno, (doc.end_lineno or 0) + 1) if doc else ()
    lines = textwrap.dedent("".join(text)).splitlines()
    shown = [[first + index, line] for index, line in enumerate(lines) if index + 1 not in hidden]
    file = Path(inspect.getsourcefile(function) or "").relative_to(PACKAGE.parent).as_posix()
    return {"name": function.__qualname__, "file": file, "lines": shown}


def lines_with(code: dict[str, Any], pattern: str) -> list[int]:
    """The numbers of the lines that count: all that match, alone or with the line before, of those that compute."""
    found, before = [], ""
    for number, text in code["lines"][1:]:
        computes = text.strip() and not re.search(r"^\s*(check_|\) ->|#)|tape\.keep", text)
        if computes and re.search(pattern, f"{before}\n{text}" if "\n" in pattern else text):
            found.append(number)
        before = text
    return found
