"""Wrong answers to exercises 10 to 15 that are in no catalogue: the body of a function, and what has to be said of it.

In `_HEAD`, `_PADDED`, `_TABLE`, … stand right answers; a wrong one is the right one with some of its words replaced.
"""

import textwrap

from tests.learn.right_answers import RIGHT

_HEAD = """
a = self.dropout.apply(p, mask)
dv = _transposed(a) @ dc
dp = self.dropout.apply(dc @ _transposed(v), mask)
ds = p * (dp - (dp * p).sum(axis=-1, keepdims=True)) / math.sqrt(q.shape[-1])
return ds @ k, _transposed(ds) @ q, dv
"""
_RETURNED = "return ds @ k, _transposed(ds) @ q, dv"
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

_CHANGES = {
    "attend_backward": [
        ([(".sum(", ".mean(")], '"through the sum" is there 0.09091 times (11 is the number of keys, as if a mean'),
        ([("dp - (dp", "dp + (dp")], '"through the sum" has the wrong sign'),
        ([("(dp - (dp * p).sum(axis=-1, keepdims=True))", "dp * (1 - p)"), (" / math.sqrt(q.shape[-1])", "")],
         "2. 1/√d is missing in dQ and dK."),
        ([(" / math.sqrt(q.shape[-1])", " / math.sqrt(len(q))")], "dQ and dK are divided by √len(q), and should be"),
        ([("(dp - ", "(1 * dp - "), ("@ k,", "@ v,")], "dq is dS · v, where dS · k is right"),
        ([(_RETURNED, "return dv, _transposed(ds) @ q, ds @ k")], "that is the shape of k and v. The order is dq"),
        ([(_RETURNED, "return ds @ k, _transposed(q) @ ds, dv")], "the last two axes are swapped"),
        ([(_RETURNED, "return ds @ k")], "wanted dq, dk and dv."),
        ([(_RETURNED, "return ds @ k, None, dv")], "dk has the shape (), wanted"),
        ([(" / math.sqrt(q.shape[-1])", ""), (".sum(axis=-1", ".sum(axis=-2")], "Softmax is undone down the columns"),
    ],
    "PaddedAttention.backward": [
        ([("dc = self.split(dc)", "return self.attend_backward(dc, q, k, v, p)")],
         "That belongs to DotProductAttention"),
        ([("dc = self.split(dc)", "return DotProductAttention.attend_backward(self, dc, q, k, v, p)")],
         "That belongs to DotProductAttention"),
        ([("ds @ k", "ds @ q.swapaxes(-1, -2) @ k")], "ds (5, 2, 7, 7) @ q"),
        ([("self.merge(dv)", "dv")], "dv is still in heads, (5, 2, 7, 3), and should be (5, 7, 6)."),
        ([("@ k)", "@ v)")], "dq is dS · v, where dS · k is right"),
        ([("dc = self.split(dc)", "")], "self.split(dc) first."),
        ([("p.swapaxes(-1, -2)", "p.T")], "p has 4 axes, and p.T turns all of them around."),
        ([(".sum(", ".mean(")], '"through the sum" is there 0.143 times (7 is the number of tokens, as if a mean'),
    ],
    "TiedTable.backward": [
        ([("np.add.at(self.table.grad, ids, dh)", "np.add.at(self.table.grad, ids, -dh)")],
         '"as the embedding" has the wrong sign'),
        ([("np.add.at(self.table.grad, ids, dh)", "np.add.at(self.table.value, ids, dh)")],
         "Backward changes the value of table, which only an optimiser may"),
        ([("np.add.at(self.table.grad, ids, dh)", "for n, i in enumerate(ids):\n    self.table.grad[i] = dh[n]")],
         "The embedding's share overwrites all that was in the gradient"),
        ([("np.add.at(self.table.grad, ids, dh)", "np.add.at(self.table.grad, ids, self.scale * dh)")],
         '"as the embedding" is there 0.700 times (a is 0.7, as if it was multiplied once too often)'),
        ([("ids, dh)", "ids, dh**2)")], "as the embedding has no say: so look at the places where it has"),
        ([("@ h)", "@ h**2)")], "dE is wrong even where only its use as the decoder counts"),
        ([("self.table.value", "self.table")], "write self.table.value for its numbers."),
        ([("dlogits.sum(axis=0)", "sum_rows(dlogits)")], "sum_rows(x) is x.sum(axis=0)."),
        ([("dh = ", "breakpoint()\ndh = ")], "breakpoint() and input() wait for something"),
        ([("dh = ", "math.sqrt(2)\ndh = ")], "Write `import math` at the top of the file."),
    ],
    "mask_words": [
        ([("    labels[place] = input_ids[place]\n", ""),
          ("draw < 0.8:", "draw < 0.8:\n        labels[place] = input_ids[place]"),
          ("draw < 0.9:", "draw < 0.9:\n        labels[place] = input_ids[place]")],
         "Words that were chosen but stay as they are have no label."),
        ([("[IGNORED] * len(input_ids)", "[i if vocabulary.is_word[i] else IGNORED for i in input_ids]")],
         "Words that were not chosen have a label, too."),
        ([("place]", "list(input_ids).index(input_ids[place])]")], "Where a word stands twice in the text"),
        ([("list(input_ids), [", "input_ids, [")], "the next epoch begins with words that are hidden or replaced"),
        ([("size=count", "size=count - 1")], "That is always one fewer."),
        ([("size=count", "size=round(probability * len(candidates))")],
         "That is probability times the number of candidates; `count` is worked out already."),
        ([("size=count", "size=min(round(probability * len(input_ids)), len(candidates))")],
         "That does not heed max_predictions;"),
        ([("size=count", "size=5")], "The number seems to be fixed;"),
        ([("vocabulary.word_ids", "vocabulary.word_ids[:-1]")], "The last of the words is never drawn"),
        ([("vocabulary.word_ids", "vocabulary.word_ids[1:]")], "The first of the words is never drawn"),
        ([("vocabulary.word_ids", "vocabulary.word_ids[:18]")], "The last 18 of the 36 words are never drawn"),
        ([("vocabulary.word_ids", "vocabulary.word_ids[::2]")], "18 of the 36 words are never drawn"),
        ([("draw < 0.8", "draw < 0.1")], "The shares are not 80, 10 and 10 %, but: 10% [MASK]"),
    ],
    "accumulate": [
        ([("loss.backward(share", "loss.backward(share**2")],
         "In the gradient, the three pieces count 0.4444, 0.01235 and 0.04938; it should be"),
        ([("mean += share *", "mean = share *")],
         "In the mean, the three pieces count 0, 0 and 0.2222; it should be 0.6667, 0.1111 and 0.2222."),
    ],
    "clip_by_global_norm": [
        ([("max_norm / norm", "(max_norm / norm) ** 3")], "it should be"),
        ([("**2", "**4")], "What is returned is"),
        ([("if norm > max_norm:\n", "if True:\n"), ("max_norm / norm", "min(1, max_norm / norm)")],
         "It stops where all gradients are 0, and so is their norm."),
        ([("norm > max_norm", "norm > 0.99 * max_norm")], "are changed where max_norm is"),
        ([("for p in parameters))", "for p in parameters[:-1]))")],
         "are multiplied each by 0.35, where max_norm is 1.3"),
    ],
    "step": [
        ([("+ self.eps)", "+ self.eps**2)")], "it is lr · m̂ / (√v̂ + 0.0001), and should be with eps, which is 0.01."),
        ([("g**2", "abs(g)")], "After step 1, v is 0.0366134 at [0, 0], wanted 0.0268108. 15 of"),
        ([("parameter.value *=", "value = parameter.value *"), ("parameter.value -=", "value -=")],
         "The value does not change: parameter.value is what it was."),
        ([("m[...] =", "before = m / (1 - beta1**self.steps)\n    m[...] ="),
          ("m_hat = m / (1 - beta1**self.steps)", "m_hat = before")],
         "This step leaves the value as it is, and the next one changes it"),
        ([("beta1**self.steps", "beta1 ** max(1, self.steps - 1)")],
         "1.8 times what it should be, as if m was corrected with t = 1."),
        ([("(1 - beta2) * g**2", "(1 - beta2) * g * parameter.grad")],
         "`scale` is used once in v, and should be squared"),
        ([("(1 - beta2) * g**2", "(1 - beta2) * g**2 / (0.1 + 0.9 * scale)")],
         "but with scale 0.5: After step 5, v is"),
        ([("parameter.value -=", "parameter.value =")], "The value is set to the step"),
        ([("self.lr *", "self.lr**2 *")], "it is 0.1 times what it should be, as if lr, which is 0.1, was used twice."),
        ([("(1 - beta1) * g", "g"), ("np.sqrt(v_hat) + self.eps", "np.sqrt(v_hat + self.eps)")],
         "The new gradient is not weighted: m is β₁ m + g"),
    ],
    "kept": [
        ([("1 - self.lr * self.weight_decay", "1 / (1 + self.lr * self.weight_decay)")],
         "For a matrix, kept returns 0.970874, and should return 0.97, which is 1 − lr · λ with lr 0.1 and λ 0.3."),
        ([("self.weight_decay", "self.weight_decay * 2")], "For a matrix, kept returns 0.94, and should return 0.97"),
    ],
}  # fmt: skip


def wrong_answers():
    """(number of the exercise, name of the function, its body, what has to be said)"""
    for name, changes in _CHANGES.items():
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
