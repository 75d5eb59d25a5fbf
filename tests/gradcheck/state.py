"""Mistakes in classes that keep what they need on self, as people publish them: made in a copy of the classes."""

import importlib
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

HERE = Path(__file__).parent / "classes"


class Made(NamedTuple):
    """what is checked, its inputs, and where the mistake is: file and line"""

    layer: object
    inputs: tuple
    file: str
    line: int


def x(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def ids(high, *shape):
    return np.random.default_rng(1).integers(0, high, shape)


SHAPE = (4, 2, 5, 5)
LAYERS = {
    "attention": lambda m, rng: (m.models.MultiHeadAttention(6, 2, SHAPE, rng), x(4, 5, 6)),
    "block": lambda m, rng: (m.models.Block(6, 2, SHAPE, rng), x(4, 5, 6)),
    "ffn": lambda m, rng: (m.models.FeedForward(4, 6, rng), x(5, 4)),
    "rnn": lambda m, rng: (m.models.RNN(3, 4, rng), x(2, 5, 3)),
    "linear": lambda m, rng: (m.parts.Linear(4, 3, rng), x(5, 4)),
    "norm": lambda m, rng: (m.parts.LayerNorm(5, rng), x(3, 5)),
    "slow norm": lambda m, rng: (m.parts.SlowLayerNorm(5, rng), x(3, 5)),
    "batch norm": lambda m, rng: (m.parts.BatchNorm1d(4, rng), x(6, 4)),
    "elu": lambda m, rng: (m.parts.ELU(), x(5, 3)),
    "gelu": lambda m, rng: (m.parts.GELU(), x(5, 3)),
    "embedding": lambda m, rng: (m.parts.Embedding(7, 3, rng), ids(4, 6)),
    "cross entropy": lambda m, rng: (m.parts.CrossEntropy(), x(2, 3, 5), ids(5, 2, 3)),
    "mse": lambda m, rng: (m.parts.MSELoss(), x(4, 3), x(4, 3, seed=1)),
}
MISTAKES = {
    # the layer that is checked, the file, what stands there, and what in its place
    "dK is not transposed back": ("attention", "models", "dk = dscores.transpose(0, 1, 3, 2) @", "dk = dscores @"),
    "dV from undropped weights": ("attention", "models", "dv = self.dropped.tr", "dv = self.attn.tr"),
    "both residuals lost": (
        "block",
        "models",
        "dx = dout + self.ln2",
        "dx = self.ln2",
        "dx = dx + self.ln1",
        "dx = self.ln1",
    ),
    "1/N of the batch alone": ("cross entropy", "parts", "grad /= B * T", "grad /= B"),
    "γ outside the sums": (
        "norm",
        "parts",
        "dx_hat = dout * self.gamma.data",
        "dx_hat = dout",
        "return (dx_hat - mean1 - self.x_hat * mean2)",
        "return self.gamma.data * (dx_hat - mean1 - self.x_hat * mean2)",
    ),
    "dmean is not used": ("slow norm", "parts", " + dmean / D", ""),
    "precedence in ELU": ("elu", "parts", "self.alpha * np.exp(self.input))", "self.alpha * np.exp(self.input) - 1)"),
    "the diagonal alone": (
        "batch norm",
        "parts",
        "(N * dx_norm - dx_norm.sum(axis=0) - self.x_norm * (dx_norm * self.x_norm).sum(axis=0)) * self.std_inv / N",
        "dx_norm * self.std_inv",
    ),
    "softmax over another axis": (
        "attention",
        "parts",
        "s = np.sum(dout * self.out, axis=-1",
        "s = np.sum(dout * self.out, axis=1",
    ),
    "scores are not scaled back": (
        "attention",
        "models",
        "backward(ddropped)) / np.sqrt(self.dk)",
        "backward(ddropped))",
    ),
    "the mask is left out": (
        "attention",
        "models",
        "self.softmax.backward(self.dropout.backward(ddropped))",
        "self.softmax.backward(ddropped)",
    ),
    "one road of three": (
        "attention",
        "models",
        "        dx = dx + self.wv.backward(self.merge(dv))\n",
        "        self.wv.backward(self.merge(dv))\n",
    ),
    "heads reshaped": (
        "attention",
        "models",
        "self.wq.backward(self.merge(dq))",
        "self.wq.backward(dq.reshape(dout.shape))",
    ),
    "parts in the order of forward": ("ffn", "models", "layer in reversed(self.layers)", "layer in self.layers"),
    "a mean for a sum": (
        "block",
        "parts",
        "self.db = dout.reshape(-1, dout.shape[-1]).sum(axis=0)",
        "self.db = dout.reshape(-1, dout.shape[-1]).mean(axis=0)",
    ),
    "W without T": ("linear", "parts", "dout @ self.W.T", "dout @ self.W"),
    "set, not added": (
        "embedding",
        "parts",
        "np.add.at(self.weight.grad, self.ids, dout)",
        "self.weight.grad[self.ids] += dout",
    ),
    "tanh without its square": ("gelu", "parts", "(1 - t ** 2)", "(1 - t)"),
    "no road through time": ("rnn", "models", "            dnext = da @ self.Wh.T\n", ""),
    "the state of now": ("rnn", "models", "self.dWh += self.h[:, t - 1].T @ da", "self.dWh += self.h[:, t].T @ da"),
    "sign of dvar": ("slow norm", "parts", "* -0.5 * self.std", "* 0.5 * self.std"),
    "two forgotten": ("mse", "parts", "dout * 2 * self.diff", "dout * self.diff"),
}


def made(name, folder):
    """The layer with this mistake, in files of its own."""
    layer, file, *edits = MISTAKES[name]
    for path in HERE.glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        if path.stem == file:
            for before, after in zip(edits[::2], edits[1::2], strict=True):
                assert text.count(before) >= 1, before
                line = text[: text.index(before)].count("\n") + 1
                text = text.replace(before, after)
        (folder / f"{path.stem}.py").write_text(text, encoding="utf-8")
    sys.path.insert(0, str(folder))
    for module in ("parts", "models"):
        sys.modules.pop(module, None)
    importlib.invalidate_caches()
    modules = type("Modules", (), {module: importlib.import_module(module) for module in ("parts", "models")})
    sys.path.remove(str(folder))
    layer, *inputs = LAYERS[layer](modules, np.random.default_rng(5))
    return Made(layer, tuple(inputs), f"{file}.py", line)
