"""Wrong answers to exercises 10 to 15 that are in no catalogue: the body of a function, and what has to be said of it.

In `_HEAD`, `_PADDED`, `_TABLE`, … stand right answers; a wrong one is the right one with some of its words replaced.
"""

import textwrap

from tests.learn import wrong_layers, wrong_training
from tests.learn.right_answers import RIGHT

_HEAD = """
a = self.dropout.apply(p, mask)
dv = _transposed(a) @ dc
dp = self.dropout.apply(dc @ _transposed(v), mask)
ds = p * (dp - (dp * p).sum(axis=-1, keepdims=True)) / math.sqrt(q.shape[-1])
return ds @ k, _transposed(ds) @ q, dv
"""
_PADDED = """
dc = self.split(dc)
dv = p.swapaxes(-1, -2) @ dc
dp = dc @ v.swapaxes(-1, -2)
ds = p * (dp - (dp * p).sum(axis=-1, keepdims=True)) / math.sqrt(q.shape[-1])
return self.merge(ds @ k), self.merge(ds.swapaxes(-1, -2) @ q), self.merge(dv)
"""
_TABLE = """
dh = self.scale * dlogits @ self.table.value
self.bias.add_grad(dlogits.sum(axis=0))
self.table.add_grad(self.scale * dlogits.T @ h)
np.add.at(self.table.grad, ids, dh)
"""
_MASK = textwrap.dedent(RIGHT[12][0]["mask_words"])
_ACCUMULATE = textwrap.dedent(RIGHT[13][0]["accumulate"])
_CLIP = textwrap.dedent(RIGHT[13][0]["clip_by_global_norm"])
_STEP = textwrap.dedent(RIGHT[14][0]["step"])
_KEPT = RIGHT[14][0]["kept"]

_RIGHT = {
    "attend_backward": (10, _HEAD),
    "PaddedAttention.backward": (10, _PADDED),
    "TiedTable.backward": (11, _TABLE),
    "mask_words": (12, _MASK),
    "accumulate": (13, _ACCUMULATE),
    "clip_by_global_norm": (13, _CLIP),
    "step": (14, _STEP),
    "kept": (14, _KEPT),
}


def wrong_answers():
    """(number of the exercise, name of the function, its body, what has to be said)"""
    for name, changes in [*wrong_layers.CHANGES.items(), *wrong_training.CHANGES.items()]:
        number, right = _RIGHT[name]
        for replacements, says in changes:
            body = right
            for before, after in replacements:
                assert before in body, (name, before)
                body = body.replace(before, after)
            yield number, name, body, says


OF_ONE_EXERCISE = {
    number: {name: right for name, (n, right) in _RIGHT.items() if n == number} for number in range(10, 15)
}
