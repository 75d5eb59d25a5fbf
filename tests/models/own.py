"""Models as users write them: a head of their own, and parts of BERT that were replaced."""

from typing import Any

import numpy as np

import npbert
from npbert import NO_TAPE, Embedding, Init, Layer, Linear, Parameter, TaskModel


class Scale(Layer):
    """y = gamma x, with a parameter that is called as LayerNorm's is."""

    def __init__(self, features: int, init: Init) -> None:
        self.gamma = init.ones(features)

    def forward(self, x, tape=NO_TAPE):
        tape.keep(self, x=x)
        return self.gamma.value * x

    def backward(self, dy, tape):
        x = tape.take(self)
        self.gamma.add_grad((dy * x).sum(axis=0))
        return self.gamma.value * dy


class Score(TaskModel):
    """A number for each sequence, made from its [CLS]: score = [Scale(LayerNorm(h)) W + b] temperature + offset."""

    reads = npbert.Reads("first", "number")

    def __init__(self, config: Any, *, rng: Any, dtype: Any = np.float32, start: float = 5.0) -> None:
        super().__init__(config, rng=rng, dtype=dtype)
        init = Init(rng, 0.3, dtype)
        self.norm = npbert.LayerNorm(config.hidden_size, init, eps=0.01)
        self.steps = {"scale": Scale(config.hidden_size, init), "out": [Linear(config.hidden_size, 1, init)]}
        self.steps["out"][0].weight.value *= 2
        self.temperature = Parameter(np.full((), start, dtype))
        self.offsets = Embedding(config.type_vocab_size, 1, init)
        self.noise = Parameter(rng.uniform(1, 2, (1, 1)).astype(dtype) if rng else np.zeros((1, 1), dtype))
        self.loss_function = npbert.MeanSquaredError()

    def forward(self, batch, tape=NO_TAPE):
        packed = self.pack(batch)
        h = self.bert.encode(packed, tape)
        h = self.steps["scale"](self.norm(h, tape), tape)
        s = self.steps["out"][0](h, tape)
        types = packed.batch.token_type_ids[:, 0]
        tape.keep(self, s=s, first=packed.first)
        y = s * self.temperature.value * self.noise.value
        return y[packed.first] + self.offsets(types, tape)

    def backward(self, dy, tape):
        self.offsets.backward(dy, tape)
        s, first = tape.take(self)
        d = np.zeros_like(s)
        d[first] = dy
        self.temperature.add_grad(np.asarray((d * s * self.noise.value).sum()))
        self.noise.add_grad((d * s * self.temperature.value).sum(keepdims=True))
        ds = self.steps["out"][0].backward(d * self.temperature.value * self.noise.value, tape)
        self.bert.encode_backward(self.norm.backward(self.steps["scale"].backward(ds, tape), tape), tape)


class TwoTower(TaskModel):
    """A number for each pair of sequences, (B, 2, T): score = scale · (u · v), with the means u and v of their rows."""

    reads = npbert.Reads(labels="number", grouped=True)

    def __init__(self, config: Any, *, rng: Any, dtype: Any = np.float32) -> None:
        super().__init__(config, rng=rng, dtype=dtype)
        self.mean, self.gather = npbert.MeanPooling(), npbert.Gather()
        self.scale = Parameter(np.full(1, 0.5, dtype))
        self.loss_function = npbert.MeanSquaredError()

    def forward(self, batch, tape=NO_TAPE):
        packed = self.pack(batch)
        pooled = self.mean(self.bert.encode(packed, tape), packed.sequences, tape)
        vectors = self.gather(pooled, packed.unsorted, tape)
        u, v = vectors[0::2], vectors[1::2]
        product = (u * v).sum(axis=1, keepdims=True)
        tape.keep(self, u=u, v=v, product=product)
        return self.scale.value * product

    def backward(self, dy, tape):
        u, v, product = tape.take(self)
        self.scale.add_grad((dy * product).sum(axis=0))
        dproduct = self.scale.value * dy
        dvectors = np.stack([dproduct * v, dproduct * u], axis=1).reshape(-1, u.shape[1])
        self.bert.encode_backward(self.mean.backward(self.gather.backward(dvectors, tape), tape), tape)


class NoBert(npbert.PreTrainedModel):
    """A model without a BERT."""

    def __init__(self, config: Any, *, rng: Any, dtype: Any = np.float32) -> None:
        self.config = config
        self.table = Embedding(config.vocab_size, 3, Init(rng, dtype=dtype))
