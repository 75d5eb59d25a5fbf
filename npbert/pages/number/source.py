"""The lines of npbert that compute each step of the page, found by running the model once and looking on."""

import copy
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np

from npbert.blocks import BertEmbeddings, Encoder, EncoderLayer, MaskedLMHead, MultiHeadAttention
from npbert.core import Layer, Parameter, Tape, named_parts
from npbert.data import Batch
from npbert.layers import (
    DotProductAttention,
    Dropout,
    Elementwise,
    Embedding,
    Gather,
    LayerNorm,
    Linear,
    SinusoidalPositions,
    SoftmaxCrossEntropy,
)
from npbert.models import BertForMaskedLM, BertForPreTraining
from npbert.optim import AdamW, adam, clip_factor
from npbert.pages.number.calls import PACKAGE, TracedCall, functions_in, text_of, watched

Road: TypeAlias = tuple[tuple[TracedCall, list[int]], ...]
"""Calls within one another, the outermost first, each with the lines of it that count."""

NOT_SHOWN = ("bert.gather", "bert.pooler", "bert.encoder.gather", "seq_relationship")
"""The parts that the page leaves out: it has no next-sentence head, and computes all rows in all layers."""

LEAVES = (Linear, LayerNorm, Elementwise, Embedding, SinusoidalPositions, Gather)
"""Layers that are one step of the page."""


def source_lines(model: BertForMaskedLM | BertForPreTraining, example: dict[str, Any]) -> dict[str, Any]:
    """`files`: by path, the number of the first line shown, and the lines; `steps`: for each step of the page its
    `part`, `phase` and `kind`, and its `frames`: the functions within one another that compute it, the innermost last,
    each with the numbers of the lines that do.

    The model itself is left as it is. example: `input_ids`, `token_type_ids` and `labels` of one sentence.
    """
    model = copy.deepcopy(model)
    names = {id(part): name for name, part in named_parts(model)}
    targets = {name: [example[name]] for name in ("input_ids", "token_type_ids", "labels")}
    batch, tape = Batch(**targets, next_sentence_label=[0]), Tape()  # type: ignore[arg-type]  # lists become arrays
    found: dict[tuple[str, str, str], Road] = {}
    for phase, compute in (
        ("forward", lambda: model.loss(batch, tape)),
        ("backward", lambda: model.loss_backward(1.0, tape)),
    ):
        for part, kind, road in _steps(watched(compute), (), names, phase):
            key = (part, phase, kind)
            if not part.startswith(NOT_SHOWN) and (
                phase == "backward" or key not in found
            ):  # the masked words' loss is computed first, and undone last
                found[key] = road
    found["parameters", "update", "AdamW"] = _update()
    steps = [
        {"part": part, "phase": phase, "kind": kind, "frames": [_frame(*step) for step in road]}
        for (part, phase, kind), road in found.items()
    ]
    return {"files": _files(steps), "steps": steps}


def _update() -> Road:
    """The lines of clipping, decay and Adam, by a step for a matrix of one number."""
    one = np.ones((1, 1))
    optimizer = AdamW([Parameter(one)])

    def step() -> None:
        clip_factor(2.0, 1.0)
        optimizer.kept(optimizer.parameters[0])
        adam(one, one, one, one, t=1, alpha=optimizer.lr, betas=optimizer.betas, eps=optimizer.eps)

    return _with_helpers(watched(step))[1:]


def _steps(call: TracedCall, outer: Road, names: dict[int, str], phase: str) -> Iterator[tuple[str, str, Road]]:
    """Part, kind and road of each step that is computed in `call`, which was reached by `outer`."""
    owner, part = call.owner, names.get(id(call.owner), "")
    if isinstance(owner, Layer) and call.function == phase:
        if isinstance(owner, LEAVES):
            yield part, type(owner).__name__, (*outer, *_with_helpers(call))
            return
        if isinstance(owner, SoftmaxCrossEntropy):
            yield "cross_entropy", "CrossEntropy", (*outer, *_with_helpers(call))
            return
        if isinstance(owner, DotProductAttention):
            yield from _attention(call, outer, part)
            return
        yield from ((*step, (*outer, *inner)) for *step, inner in _between(call, part, names))  # type: ignore[misc]
    for line, child in call.calls():
        here: Road = ((call, [line]),) if call.file else ()
        yield from _steps(child, (*outer, *here), names, phase)


def _between(call: TracedCall, part: str, names: dict[int, str]) -> Iterator[tuple[str, str, Road]]:
    """The sums, the forks and the product of a head: what a layer made of parts computes itself, between them."""

    def at(*wanted: str) -> list[int]:
        """The lines that call these parts."""
        children = [f"{part}.{name}" for name in wanted]
        return [line for line, child in call.calls() if names.get(id(child.owner)) in children]

    owner, is_forward = call.owner, call.function == "forward"
    if isinstance(owner, MaskedLMHead):
        busy = {line for line, child in call.calls() if isinstance(child.owner, Layer)}
        yield part, "Decoder", ((call, [line for line in call.lines() if line not in busy]),)
    elif isinstance(owner, BertEmbeddings):
        tables = "word_embeddings", "position_embeddings", "token_type_embeddings"
        yield part, "Add", ((call, at("layer_norm") if is_forward else at(*tables)),)
    elif isinstance(owner, EncoderLayer):
        norms = (
            (at("attention_norm"), at("output_norm")) if is_forward else tuple([line] for line in at("dropout"))[::-1]
        )
        yield f"{part}.attention", "Add", ((call, norms[0]),)
        yield f"{part}.feed_forward", "Add", ((call, norms[1]),)
        yield f"{part}.feed_forward", "Fork", ((call, at("feed_forward")),)
        if is_forward:
            (inner,) = (child for _, child in call.calls() if isinstance(child.owner, MultiHeadAttention))
            projections = [line for line, child in inner.calls() if isinstance(child.owner, Linear)][:3]
            yield f"{part}.attention", "Fork", ((call, at("attention")), (inner, projections))
    elif isinstance(owner, Encoder) and call.function == "backward":
        for line, layer in call.calls():
            if isinstance(layer.owner, EncoderLayer):
                (inner,) = (child for _, child in layer.calls() if isinstance(child.owner, MultiHeadAttention))
                sums = [line for line, child in inner.calls() if child.owner in (inner.owner.value, inner.owner.key)]
                after = next((number for number in call.lines() if number > line), line)
                roads: Road = ((call, [line, after]), (layer, layer.lines()[-1:]), (inner, sums))
                yield f"{names[id(layer.owner)]}.attention", "Fork", roads


def _attention(call: TracedCall, outer: Road, part: str) -> Iterator[tuple[str, str, Road]]:
    """The three steps of attention: the scores before softmax, softmax, and the mean after it; backward in reverse."""
    is_forward = call.function == "forward"
    road, softmax = _road_to(call, "softmax" if is_forward else "softmax_backward")
    lead: Road = (*outer, *((here, [line]) for here, line in road))
    at = next(index for index, (here, _) in enumerate(road) if here.function.startswith("attend"))
    formula, line = road[at]  # `attend`, or `attend_backward`: what it does before softmax, and after it
    before = (*lead[: len(outer) + at], (formula, [number for number in formula.lines() if number < line]))
    after = (*lead[: len(outer) + at], (formula, [number for number in formula.lines() if number > line]))
    yield part, "Scores", lead if is_forward else after
    yield part, "Softmax", (*lead, (softmax, softmax.lines()))
    yield part, "WeightedMean", after if is_forward else before


def _road_to(call: TracedCall, function: str) -> tuple[list[tuple[TracedCall, int]], TracedCall]:
    """The calls that lead to the one of `function`, each with the line that leads on, and that one."""
    for line, child in call.calls():
        if child.function == function and child.owner is None:
            return [(call, line)], child
        if not isinstance(child.owner, Dropout):
            road, found = _road_to(child, function)
            if road:
                return [(call, line), *road], found
    return [], call


def _with_helpers(call: TracedCall) -> Road:
    """A call with the functions that it calls for its own computation."""
    helpers = (_with_helpers(child) for _, child in call.calls())
    return ((call, call.lines()), *(step for road in helpers for step in road))


def _frame(call: TracedCall, lines: Iterable[int]) -> dict[str, Any]:
    """A function with the lines of it that count: its head, and a check of what was handed in, compute nothing."""
    name, last = functions_in(call.file)[call.first]
    text = text_of(call.file)
    inside = [line for line in dict.fromkeys(lines) if line > call.first]
    inside = [line for line in inside if not text[line - 1].strip().startswith("check_")]
    file = call.file.removeprefix(f"{PACKAGE.parent}/".replace("\\", "/"))
    return {"file": file, "function": name, "from": call.first, "to": last, "lines": inside}


def _files(steps: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Of each file, the lines from the first function that counts to the last."""
    frames = [frame for step in steps for frame in step["frames"]]
    files = {}
    for file in dict.fromkeys(frame["file"] for frame in frames):
        of_file = [frame for frame in frames if frame["file"] == file]
        first, last = min(frame["from"] for frame in of_file), max(frame["to"] for frame in of_file)
        files[file] = {"first": first, "lines": text_of(str(PACKAGE.parent / file))[first - 1 : last]}
    return files
