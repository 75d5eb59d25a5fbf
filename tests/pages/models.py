"""Models and sentences small enough for the page, and everything that npbert computes of them on the way."""

import shutil

import numpy as np
import pytest

from npbert import (
    IGNORED,
    Batch,
    BertConfig,
    BertForMaskedLM,
    BertForPreTraining,
    Layer,
    SoftmaxCrossEntropy,
    Tape,
    randomize,
)
from npbert.core import named_parts
from npbert.data import Example
from npbert.layers import dot_product_attention
from npbert.models.packed_batch import PackedBatch

VOCABULARY = ["[PAD]", "[CLS]", "[SEP]", "[MASK]", *("how", "are", "you", "hello", "i", "am", "romeo", "and")]


def example(text):
    """`how [are] you | i am`: in brackets is what is masked, and | parts two sentences."""
    words, kinds = ["[CLS]"], [0]
    for kind, part in enumerate(text.split(" | ")):
        words += [*part.split(), "[SEP]"]
        kinds += [kind] * (len(part.split()) + 1)
    hidden = [word.startswith("[") and word not in VOCABULARY for word in words]
    ids = [
        VOCABULARY.index(word.strip("[]") if is_hidden else word) for word, is_hidden in zip(words, hidden, strict=True)
    ]
    labels = [word if is_hidden else IGNORED for word, is_hidden in zip(ids, hidden, strict=True)]
    return Example([3 if is_hidden else word for word, is_hidden in zip(ids, hidden, strict=True)], kinds, labels, 0)


EXAMPLES = [
    example(text)
    for text in (
        "how are [you]",
        "[how] are you and you and [romeo]",  # a word twice, and two masks
        "hello [i] am | how are [you]",  # two sentences
        "[hello]",
        "i am romeo and you are [how] hello hello hello i",
    )
]


def _model(kind, seed, **config):
    defaults = {"vocab_size": len(VOCABULARY), "max_position_embeddings": 14, "initializer_range": 0.4}
    model = kind(BertConfig(**{**defaults, **config}), rng=np.random.default_rng(seed), dtype=np.float64)
    randomize(model, np.random.default_rng(seed))
    return model


def _size(d, h, layers, f):
    return {"hidden_size": d, "num_attention_heads": h, "num_hidden_layers": layers, "intermediate_size": f}


def make_models():
    """Three models that differ in all that the page knows of."""
    return [
        _model(BertForMaskedLM, 1, **_size(4, 2, 2, 6)),
        _model(BertForPreTraining, 2, **_size(6, 1, 1, 10), hidden_act="relu", layer_norm_eps=1e-5, type_vocab_size=3),
        _model(BertForMaskedLM, 3, **_size(8, 4, 2, 5), hidden_act="gelu_new", position_embedding_type="sinusoidal"),
    ]


def batch_of(examples):
    """Several examples, padded, as a batch of npbert."""
    length = max(len(one.input_ids) for one in examples)

    def rows(name, padding):
        return [[*getattr(one, name), *[padding] * (length - len(one.input_ids))] for one in examples]

    mask = [[1] * len(one.input_ids) + [0] * (length - len(one.input_ids)) for one in examples]
    arrays = rows("input_ids", 0), rows("token_type_ids", 0), mask, rows("labels", IGNORED)
    return Batch(*arrays, next_sentence_label=[0] * len(examples))


def loss_and_gradients(model, examples):
    """The loss of the masked words alone, and the gradient of each parameter by name, by npbert's own model."""
    model.zero_grad()
    tape, batch = Tape(), batch_of(examples)
    losses = model.loss(batch, tape)
    is_pair = isinstance(model, BertForPreTraining)
    model.loss_backward((1.0, 0.0) if is_pair else 1.0, tape)
    loss = losses.mlm_loss if is_pair else losses.loss
    return float(loss), {name: parameter.grad.copy() for name, parameter in model.named_parameters()}


class Watched:
    """What went into each layer of a model and came out of it, forward and backward, with all rows in all layers.

    npbert itself computes, in the last layer, only the rows that the head reads; the page shows them all.
    """

    def __init__(self, model, one, monkeypatch):
        self.forward, self.backward, self.normalized, self.softmax = {}, {}, {}, []
        for name, part in named_parts(model):
            if isinstance(part, Layer):
                self._watch(name, part, monkeypatch)
        for name in ("softmax", "softmax_backward"):
            self._watch_softmax(name, monkeypatch)
        self._compute(model, one)

    def _watch(self, name, part, monkeypatch):
        forward, backward = part.forward, part.backward

        def watched_forward(*inputs, **options):
            y = forward(*inputs, **options)
            self.forward[name] = inputs[0], y
            return y

        def watched_backward(dy, tape):
            dx = backward(dy, tape)
            self.backward[name] = dy, dx
            return dx

        monkeypatch.setattr(part, "forward", watched_forward)
        monkeypatch.setattr(part, "backward", watched_backward)
        if hasattr(part, "normalize"):
            normalize = part.normalize

            def watched_normalize(x):
                self.normalized[name] = normalize(x)
                return self.normalized[name]

            monkeypatch.setattr(part, "normalize", watched_normalize)

    def _watch_softmax(self, name, monkeypatch):
        compute = getattr(dot_product_attention, name)

        def watched(*inputs):
            result = compute(*inputs)
            self.softmax.append((inputs[0][0].copy(), result[0].copy()))  # (H, T, T)
            return result

        monkeypatch.setattr(dot_product_attention, name, watched)

    def _compute(self, model, one):
        tape, batch = Tape(), batch_of([one])
        packed = PackedBatch(batch, model.config)
        rows = np.flatnonzero(np.array(one.labels) != IGNORED)
        hidden = model.bert.encode(packed, tape)
        logits = model.predictions.forward(model.gather.forward(hidden, rows, tape), tape)
        cross_entropy = SoftmaxCrossEntropy()
        self.loss = cross_entropy.forward(logits, np.array(one.labels)[rows], tape)
        self.dlogits = cross_entropy.backward(1.0, tape)
        model.bert.encode_backward(model.gather.backward(model.predictions.backward(self.dlogits, tape), tape), tape)
        tape.check_empty()

    def arrays(self, steps, arrays):
        """By the page's names, what npbert had at each step."""
        wanted = {"d(logits)": self.dlogits}
        undone = {(step["part"], step["kind"]): step for step in steps if step["phase"] == "backward"}
        for step in steps:
            part, kind = step["part"], step["kind"]
            if step["phase"] == "backward" or part not in self.forward or kind in ("Add", "Fork"):
                continue
            (x, y), (dy, dx) = self.forward[part], self.backward[part]
            layer = part.removesuffix(".attention.dot_product")
            if kind in ("Scores", "Softmax"):
                continue
            made = step["writes"][-1 if kind == "LayerNorm" else 0]
            wanted.update({made: y, f"d({made})": dy})
            if kind == "WeightedMean":
                wanted.update({f"d({layer}.{symbol})": gradient for symbol, gradient in zip("QKV", dx, strict=True)})
            elif kind not in ("Embedding", "SinusoidalPositions", "Decoder"):
                wanted[step["reads"][0]] = x
                (into,) = (w for w in undone[part, kind]["writes"] if arrays[w]["gradientOf"] == step["reads"][0])
                wanted[into] = dx
            if kind == "LayerNorm":
                _, wanted[f"{part}.xHat"], wanted[f"{part}.sigma"] = self.normalized[part]
        count = len(self.softmax) // 2
        for number, (first, second) in enumerate(self.softmax):
            is_forward = number < count
            layer = number if is_forward else 2 * count - 1 - number  # backward ends with the first layer
            for symbol, heads in zip("SP" if is_forward else "PS", (first, second), strict=True):
                for head, array in enumerate(heads):
                    name = f"bert.encoder.layers.{layer}.{symbol}.{head}"
                    wanted[name if is_forward else f"d({name})"] = array
        for layer in range(count):
            _, (dx, dz) = self.backward[f"bert.encoder.layers.{layer}"]
            wanted[f"d(bert.encoder.layers.{layer}.x)"] = dx + dz
        return wanted


def find_node():
    """Node, or the one that comes with playwright."""
    if found := shutil.which("node"):
        return found
    driver = pytest.importorskip("playwright._impl._driver", reason="there is no node: install Node.js, or playwright")
    return str(driver.compute_driver_executable()[0])
