"""Mistakes in classes that keep what they need on self, as people publish them: made in a copy of the classes."""

import importlib
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

HERE = Path(__file__).parent / "classes"


class Made(NamedTuple):
    """layer: what is checked. file, lines: where it is not right."""

    layer: object
    inputs: tuple
    file: str
    lines: tuple


def x(*shape):
    return np.random.default_rng(0).standard_normal(shape)


def ids(high, *shape):
    return np.random.default_rng(1).integers(0, high, shape)


LAYERS = {
    "attention": lambda m, rng: (m.models.MultiHeadAttention(6, 2, rng), x(4, 5, 6)),
    "block": lambda m, rng: (m.models.Block(6, 2, rng), x(4, 5, 6)),
    "ffn": lambda m, rng: (m.models.FeedForward(4, 6, rng), x(5, 4)),
    "rnn": lambda m, rng: (m.models.RNN(3, 4, rng), x(2, 5, 3)),
    "rnn of steps": lambda m, rng: (m.models.RNNOfSteps(3, 4, rng), x(2, 3, 3)),
    "loss with labels": lambda m, rng: (m.parts.NegativeLogLikelihood(), abs(x(3, 4)), x(3, 4)),
    "linear": lambda m, rng: (m.parts.Linear(3, 3, rng), x(5, 3)),
    "norm": lambda m, rng: (m.parts.LayerNorm(5, rng), x(3, 5)),
    "slow norm": lambda m, rng: (m.parts.SlowLayerNorm(5, rng), x(3, 5)),
    "batch norm": lambda m, rng: (m.parts.BatchNorm1d(4, rng), x(6, 4)),
    "elu": lambda m, rng: (m.parts.ELU(), x(5, 3)),
    "gelu": lambda m, rng: (m.parts.GELU(), x(5, 3)),
    "embedding": lambda m, rng: (m.parts.Embedding(7, 3, rng), ids(4, 6)),
    "cross entropy": lambda m, rng: (m.parts.CrossEntropy(), x(2, 3, 5), ids(5, 2, 3)),
    "mse": lambda m, rng: (m.parts.MSELoss(), x(4, 3), ids(5, 4, 3)),
}


def mistakes():
    """By name: the layer, the file, and in pairs what stands there and what in its place."""
    found = {}
    for line in (HERE / "mistakes.txt").read_text(encoding="utf-8").splitlines():
        mark, _, text = line.partition(" ")
        if mark == "=":
            name, _, where = text.partition(": ")
            found[name] = where.split(", ")
        else:
            found[name].append(text)
    return found


MISTAKES = mistakes()


def made(name, folder):
    """The layer with this mistake, or a layer of this name without one, in files of its own."""
    layer, file, *edits = MISTAKES.get(name, (name, ""))
    lines = []
    for path in map(HERE.joinpath, ("parts.txt", "models.txt")):
        text = path.read_text(encoding="utf-8")
        if path.stem == Path(file).stem:
            for before, after in zip(edits[::2], edits[1::2], strict=True):
                assert text.count(before) == 1, before
                lines.append(text[: text.index(before)].count("\n") + 1)
                text = text.replace(before, after)
        (folder / f"{path.stem}.py").write_text(text, encoding="utf-8")
    sys.path.insert(0, str(folder))
    names = ("parts", "models")
    for module in names:
        sys.modules.pop(module, None)
    importlib.invalidate_caches()
    modules = type("Modules", (), {module: importlib.import_module(module) for module in names})
    sys.path.remove(str(folder))
    layer, *inputs = LAYERS[layer](modules, np.random.default_rng(5))
    return Made(layer, tuple(inputs), file, tuple(lines))
