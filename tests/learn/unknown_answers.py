"""Wrong answers to exercises 1 to 9 that no exercise knows by name, each with what must be said of it first."""

CENTRAL = """
gradient = np.zeros(x.shape)
for index in np.ndindex(x.shape):
    up, down = x.copy(), x.copy()
    up[index] += h
    down[index] -= h
    gradient[index] = {}
return gradient
"""
COMPLEX = """
gradient = np.zeros(x.shape)
for index in np.ndindex(x.shape):
    moved = x.astype(complex)
    moved[index] {}
    gradient[index] = {}
return gradient
"""
SLOPE, IMAGINARY = "(f(up) - f(down)) / (2 * h)", "f(moved).imag / h"


def central(slope, before="", after=""):
    text = (before + CENTRAL).replace("x.copy(), x.copy()", after) if after else before + CENTRAL
    return {"central_difference": text.format(slope)}


def complex_step(move, slope):
    return {**central("(f(up) - f(down)) / (2 * h)"), "complex_step": COMPLEX.format(move, slope)}


DERIVATIVES = [
    (central("(f(up) - f(down)) / 2 * h"), "The gradient is (f(x + h) − f(x − h)) / 2 · h (in Python"),
    (central("f(up) - f(down) / (2 * h)"), "(the difference needs a bracket), and should be"),
    (central("f(up) / h"), "The gradient is f(x + h) / h, and should be"),
    (central("(f(up) + f(down)) / (2 * h)"), "The gradient is (f(x + h) + f(x − h)) / 2h, and"),
    (central("(f(up) - 2 * f(x) + f(down)) / h**2"), "the second derivative, and should be"),
    (central("abs(f(up) - f(down)) / (2 * h)"), "is the absolute value of (f(x + h)"),
    (central("(f(up) - f(down)) / (2 * h) * 4 / 3"), "is 1.33333 times what it should be, everywhere"),
    (central("round((f(up) - f(down)) / (2 * h), 3)"), "is right in about 4 digits only"),
    (central("(f(up) - f(down)) / (2 * h)", "h = 0.1"), "moved by 0.1, and h is 1e-05"),
    (central("(f(up) - f(down)) / (2 * h)", after="x, x"), "as if f was given the same x both times"),
    (
        {"central_difference": CENTRAL.replace("np.ndindex(x.shape)", "range(3)").format(SLOPE)},
        "5 of the 15 numbers of",
    ),
    (central("(f(up) - f(down)) / (2 * h); return gradient"), "you never move 14 of the 15 numbers of an x of"),
    (complex_step("= 1j * h", IMAGINARY), "it is += 1j * h, and neither = nor *="),
    (complex_step("+= 1j", IMAGINARY), "moved by 1i, and h is 1e-30"),
    (complex_step("-= 1j * h", IMAGINARY), "with the wrong sign, and should be Im f(x + ih) / h"),
    (complex_step("+= 1j * h", "abs(f(moved)) / h"), "The gradient is |f(x + ih)| / h"),
]


def linear(dw="x.T @ dy", db="dy.sum(axis=0)", dx="dy @ self.weight.value.T"):
    return f"self.weight.add_grad({dw})\nself.bias.add_grad({db})\nreturn {dx}"


LINEAR = [
    (linear(db="dy[0]"), "db is the first row of dy, where the sum of dy over the rows is right"),
    (linear(db="dy.max(axis=0)"), "db is the largest of dy over the rows"),
    (linear(db="(x @ self.weight.value).sum(axis=0)"), "db is the sum of (y − bias) over the rows"),
    (linear(db="np.full_like(self.bias.value, len(dy))"), "db is the number of rows"),
    (linear(dw="np.abs(x.T @ dy)"), "dW is the absolute value of xᵀ · dy, where xᵀ · dy is right"),
    (linear(dw="(x - x.mean(axis=0)).T @ dy"), "the mean of"),
    (linear(dw="x.T @ np.ones_like(dy)"), "dW is xᵀ · [1 in place of dy]"),
    (linear(dw="(x / (x * x).sum(1, keepdims=True)).T @ dy"), "each of row 0 … row 6 has a factor of its own"),
    (linear(dw="(x.T @ dy).astype(np.float32).astype(float)"), "digits, and a formula is right in 15"),
    (linear(dx="dy @ (self.weight.value**2).T"), "dx is dy · (weight²)ᵀ, where dy · weightᵀ is right"),
    (linear(dx="(dy + self.bias.value) @ self.weight.value.T"), "dx is (dy + bias) · weightᵀ"),
    (linear(dx="dy[:, -1:] * self.weight.value[:, -1]"), "[the last column of"),
    (linear(dx="np.cumsum(dy @ self.weight.value.T, axis=0)"), "dx is dy · weightᵀ added up down the rows"),
    (linear(dw="x.T @ dy + 0.1 * self.weight.value"), "dW would be right, but 0.1 times weight is added to it"),
    (linear(db="(dy * (x @ self.weight.value + self.bias.value > 0)).sum(axis=0)"), "the sum of (dy · [y > 0]) over"),
    (linear(dx="dy @ self.weight.value.T - 0.5"), "dx would be right, but 0.500 is subtracted from every number"),
    (linear(dx="dy @ self.weight.value.T / 5**0.5"), "2.236 times too small, everywhere: that is a factor of 1/√5,"),
    (linear(db="dy.sum(axis=0) + self.bias.value"), "db would be right, but bias is added to it."),
    (linear(db="dy.sum(axis=0) - 2 * self.bias.value"), "db would be right, but 2 · bias is subtracted from it."),
    ("dy = dy / len(x)\n" + linear(), "dW, db and dx are all divided by the number of rows"),
]
DENSITY = "np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)"
GELU = [
    ("_cdf(x) + x * np.exp(-(x**3) / 2) / math.sqrt(2 * math.pi)", "Φ(x) + x e^(−x³/2) / √(2π)), where"),
    ("_cdf(x) - x * np.exp(-x * x)", "dx is dy · (Φ(x) − x e^(−x²)), where dy · (Φ(x) + x φ(x)) is right"),
    ("x * np.exp(-x * x) / math.sqrt(math.pi)", "dx is dy · (x e^(−x²) / √π), where"),
    ("_cdf(x) + x * np.exp(-(x**2)) / (math.sqrt(2) * math.pi)", "x e^(−x²) / (√2 π))"),
    ("0.5 * (1 + _cdf(x)) + x * np.exp(-x / 2)", "dx is dy · (½ · (1 + Φ(x)) + x e^(−x/2))"),
    ("_cdf(x) * (1 - _cdf(x))", "dx is dy · (Φ(x) (1 − Φ(x)))"),
    ("_cdf(x) + x * 0.3989 * np.exp(-x * x / 2)", "as if a number in it was rounded"),
    ("_cdf(x) + x * _DENSITY / math.sqrt(2)", "is 1.414 times too small: that is a factor of 1/√2"),
    ("_cdf(x) + x * _DENSITY / math.sqrt(2 * math.pi)", "is 2.507 times too small: that is a factor of 1/√(2π)"),
    ("_cdf(x) + 3.14 * x * np.exp(-x * x / 2)", "look at the brackets, and at what φ(x) is divided by"),
]
GELU = [(f"return self.value(x), {slope.replace('_DENSITY', DENSITY)}", says) for slope, says in GELU]
GELU += [
    ("x = self.value(x)\nreturn x, _cdf(x) + x * np.exp(-x**2 / 2) / math.sqrt(2 * math.pi)", "(Φ(y) + y φ(y))"),
    ("y = self.value(x)\nreturn y, y / x + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)", "that are not finite"),
    ("return self.value(x), x.astype(np.float32)", "the slope of value_and_slope is float32, and x is float64"),
]
JACOBIAN = "J = np.stack([np.diag(row) - np.outer(row, row) for row in p])\n"
SUM = "s = (dp * p).sum(axis=-1, keepdims=True)\n"
SOFTMAX = [
    (
        SUM + "d = p * (dp - s)\nd[p == p.max(-1, keepdims=True)] = 0\nreturn d",
        "but for where x is the largest of its row",
    ),
    (JACOBIAN + "return np.stack([J[0] @ row for row in dp])", "only the first row of dx is right"),
    (SUM + "return p * (dp - (dp * p).sum() / len(p))", "dx is p · dp − p · sum(p · dp, of everything)/N"),
    (SUM + "return (1 - p) * (dp - s)", "dx is (1 − p) · dp − (1 − p) · sum(p · dp): "),
    (SUM + "return p * (softmax(dp) - s)", "dx is p · softmax(dp) − p · sum(p · dp): "),
    (SUM + "return p * dp - p * (s - p * dp)", "− p · [sum(p · dp), without k = j]: "),
    (SUM + "return p * p[:, :1] - p * p[:, :1]", "dx is 0"),
    ("return (p[:, :, None] * (np.eye(5) - p[:, None])).sum(2) * dp", "dx is 0 everywhere, but for rounding"),
    ("return p * dp - p**2 * dp.sum(axis=-1, keepdims=True)", "dx is p · dp − p² · Σₖ dpₖ, and should be p · dp − p"),
    (SUM + "return p * (s - dp) / 5", "and has the wrong sign: 5 is T, the length of a row"),
    (SUM + "return p * (dp - s) / 5", "5.000 times too small, everywhere: 5 is T, the length of a row"),
    (
        "return dp * (p - (p * p).sum(axis=-1, keepdims=True))",
        'dx is p · dp − dp · sum(p²): "the second term" should be −p · sum(p · dp)',
    ),
    ("return p * (dp - (dp * dp).sum(axis=-1, keepdims=True))", "dx is p · dp − p · sum(dp²): "),
    (SUM + "return p * (dp - s) ** 2", "four times as large for a dp twice as large"),
    ("d = p[:, -1:] * dp[:, -1:]\nreturn d * (np.eye(5)[-1] - p)", "[the last column of p · dp alone] − "),
]


def loss(rows="p - onehot", share="dloss / n", place="d[is_target] = ", start="np.zeros"):
    return (
        "n, p = len(targets), np.exp(scores - largest) / total\nonehot = np.eye(5)[targets]\n"
        f"d = {start}((len(is_target), 5))\n{place}({rows}) * {share}\nreturn d"
    )


LOSS = [
    (loss(share="1 / len(is_target)"), "dloss is missing in dlogits, and what is divided by is the number of all rows"),
    (loss(share="1 / (5 * n)"), "dlogits is the same for any dloss: by the chain rule"),
    (loss(share="dloss**2 / n"), "dlogits is four times as large for a dloss twice as large"),
    (loss(share="(dloss - 1) / n"), "dlogits is not proportional to dloss"),
    (loss(share="dloss / (n + 1)"), "factor of 7/8, and 7 is the number of labels that are not ignored, as if it was"),
    (loss(share="dloss / (n - 1)"), "dlogits is divided by n − 1"),
    (loss("p - onehot.sum(axis=0)"), "[how often each label is there]"),
    (loss("p - onehot + (scores == largest)"), "the largest score of each row is given a gradient of its own, added"),
    (loss("p - np.eye(5)[[0, 0, 3, 4, 4, 1, 2]]"), "In row 1 of dlogits, 1 in column 0 is subtracted, and should be 1"),
    (loss("(p - onehot) ** 2"), "dlogits is what comes out when p − onehot is squared"),
    (loss("-np.log(p) * onehot"), "the loss −log p[label] itself stands at the label"),
    (loss("p - np.roll(onehot, -1, axis=1)"), "[the column before the label]"),
    (loss("np.exp(scores - largest) * total - onehot"), "dlogits is e^(score − largest) · total · dloss/n − onehot"),
    (loss("np.exp(scores - largest) / np.exp(scores - largest).sum(axis=0) - onehot"), "[the sum of its column]"),
    (loss(place="d[~is_target] = ", rows="p[:4] - onehot[:4]"), "has the right rows, but not all where they belong"),
    (loss(place="d[-n:] = "), "its rows are in another order (row 1 has what belongs in row 4)"),
    (loss(start="np.ones"), "is right but for the rows where labels is negative"),
]
TABLE = "dW = np.zeros_like(self.weight.value)\n{}\nself.weight.add_grad(dW)"
EMBEDDING = [
    (TABLE.format(change), says)
    for change, says in (
        ("for n in range(len(ids)): dW[n] += dy[ids[n] % 7]", "Row 0 of dW is dy[5], and should be dy["),
        ("np.add.at(dW, ids, dy[ids % 7])", "Row 0 of dW is 2 · dy[0], and should be"),
        ("np.add.at(dW, np.sort(ids), -dy)", "and all with the wrong sign"),
        ("np.add.at(dW, np.argsort(ids), dy)", "is in row 3 of dW, and belongs in row 5"),
        ("np.maximum.at(dW, ids, dy)", "the largest number counts, and no sum is taken; and what is negative is 0"),
        ("np.add.at(dW, ids, 1)", "1 is added each time that a row is read, in place of dy"),
        ("np.add.at(dW, ids, np.abs(dy))", "dW is onehotᵀ · |dy|, where onehotᵀ · dy is right"),
        (
            "for v in ids:\n    dW[v] = dy[ids == v].mean()",
            "the mean of all its numbers of dy, as .mean() gives it without",
        ),
        ("dW += 1\nnp.add.at(dW, ids, dy)", "dW would be right, but 1.000 is added to every number of it"),
        ("dW[np.unique(ids)[[1, 2, 3, 0]]] = dy[:4]", "Row 0 of dW is dy[3]"),
    )
]
EMBEDDING += [
    (
        "dW = np.zeros_like(self.weight.value)\nfor n in range(7):\n    dW[ids[n]] += dy[n]\n"
        "    self.weight.add_grad(dW.copy())",
        "as if what was summed up so far was added in each step of a loop",
    ),
]


def norm(dx="(g - a - x_hat * b) / sigma", dgamma="(dy * x_hat).sum(axis=0)", dbeta="dy.sum(axis=0)"):
    return (
        f"self.gamma.add_grad({dgamma})\nself.beta.add_grad({dbeta})\ng = self.gamma.value * dy\n"
        f"a, b = g.mean(axis=1, keepdims=True), (g * x_hat).mean(axis=1, keepdims=True)\nreturn {dx}"
    )


NORM = [
    (norm("(g - a - x_hat * b) / np.sqrt(sigma)"), "dx is divided by √σ, and should be divided by σ"),
    (norm("(g - a - x_hat * b) * sigma"), "dx is multiplied by σ, and should be divided by it"),
    (norm("(g - a - x_hat * b) / np.sqrt(sigma + self.eps)"), "as if it was divided by √(σ + eps), not by σ"),
    (norm("(g - a - x_hat * b) / (sigma + self.eps)"), "as if it was divided by σ + eps, not by σ"),
    (norm("(g - a - x_hat * b) / g.std(axis=1, keepdims=True)"), "divided by the standard deviation of dx̂, not by σ"),
    (norm("(g - a - x_hat * b) / sigma[0]"), "as if it was divided by σ[0], not by σ"),
    (norm("(g - a) / sigma - 0.5 * x_hat * b * sigma**-1.5"), "− ½ · x̂ · mean(dx̂ · x̂)/σ^(3/2): "),
    (norm("self.gamma.value * (dy - dy.mean(axis=1, keepdims=True)) / sigma"), "forward is applied to dy"),
    (norm("(g - a - g * (x_hat**2).mean(axis=1, keepdims=True)) / sigma"), "− dx̂ · mean(x̂ · x̂)/σ: "),
    (norm(dgamma="(dy * x_hat**2).sum(axis=0)"), "dγ is the sum of (x̂²) · dy over the rows"),
    (norm(dgamma="(dy * x_hat * sigma).sum(axis=0)"), "dγ is the sum of x̂ · dy · σ over the rows"),
    (norm(dgamma="dy.sum(axis=0) * x_hat.sum(axis=0)"), "dγ is the sum of x̂, times the sum of dy"),
]
REST = "if mask is None:\n    return {}\nreturn {}"
DROPOUT = [
    (REST.format("0 * dy", "dy * mask / (1 - self.p)"), "and dx should be dy. Yours is 0."),
    (REST.format("dy * (1 - self.p)", "dy * mask / (1 - self.p)"), "dx should be dy. Yours is (1 − p) · dy."),
    (REST.format("2 * dy + 1", "dy * mask / (1 - self.p)"), "y is x, and dx should be dy."),
    (REST.format("dy", "np.where(mask, 0, dy)"), "dx is 0 where x was kept, and dy where it was dropped"),
    (REST.format("dy", "dy * (mask - self.p) / (1 - self.p)"), "and −p · dy / (1 − p) where it was dropped"),
    (REST.format("dy", "dy * (1 - self.p) / mask"), "dx holds numbers that are not finite"),
    (REST.format("dy", "dy * mask / 7"), "dx is 0.1429 · dy in this draw where x was kept"),
]
HALVES = """
ds = self.output_norm.backward(dy, tape)
dh = ds + self.feed_forward.backward({}, tape)
dt = self.attention_norm.backward(dh, tape)
dq, dz = self.attention.backward(self.dropout.backward(dt, tape), tape)
return {}
"""
DROPPED = "self.dropout.backward(ds, tape)"
RESIDUALS = [
    (
        HALVES.format(DROPPED, "dt + dq, dq"),
        "dz is the first that attention.backward returns, and should be the second",
    ),
    (HALVES.format(f"0.7 * {DROPPED}", "dt + dq, dz"), "p is 0.3, as if a division by 1 − p was left out"),
    (HALVES.format(f"ds + {DROPPED}", "dt + dq, dz"), "would be right, but what output_norm.backward returns is added"),
]
UNKNOWN = {
    2: ("Linear.backward", LINEAR),
    3: ("GELU.value_and_slope", GELU),
    4: ("Softmax.backward", SOFTMAX),
    5: ("SoftmaxCrossEntropy.backward", LOSS),
    6: ("Embedding.backward", EMBEDDING),
    7: ("LayerNorm.backward", NORM),
    8: ("Dropout.backward", DROPOUT),
    9: ("EncoderLayer.backward", RESIDUALS),
}
CASES = [(1, bodies, says) for bodies, says in DERIVATIVES]
CASES += [(number, {name: body}, says) for number, (name, table) in UNKNOWN.items() for body, says in table]
