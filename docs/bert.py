"""BERT in one file, with every gradient derived by hand. Read it from top to bottom, or run it: `python docs/bert.py`.

Tokens go in, and the loss comes out: one number, the error of the predictions. Training needs ∂loss/∂x for every number
x on the way: how fast does the loss grow with x alone? It is called dx, and has the shape of x.

Backpropagation computes the gradients from the end to the beginning. A layer computes y from x, and later layers the
loss from y. xᵢ moves the loss through every yⱼ. These paths add up: dxᵢ = Σⱼ dyⱼ · ∂yⱼ/∂xᵢ, the chain rule.

So a layer is two functions. `layer` computes y from x, and keeps on a tape what backward needs. `layer_backward` takes
dy, adds to the gradients of the parameters, and returns dx: the dy of the layer before.

The model reads one sequence of T tokens at a time: an array (T, D), a row of D numbers for each token. There are L
encoder layers with H attention heads of dₖ = D/H columns, and F is the inner size of feed-forward. A head of the model
reads M rows. (Vaswani et al. 2017; Devlin et al. 2018. docs/symbols.md lists all letters.)
"""

import math
import os
from types import SimpleNamespace

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # these arrays are small: more threads only wait for each other
import numpy as np

erf = np.vectorize(math.erf, otypes=[float])  # NumPy has no erf


class Parameter:
    """An array that is learned. Each use of it adds to its gradient, ∂loss/∂value."""

    def __init__(self, value):
        self.value, self.grad = value, np.zeros_like(value)
        self.m = self.v = 0.0  # for AdamW


class Tape(list):
    """A stack: forward pushes what backward needs. Backward runs in reverse, so its next values are always on top."""

    def __init__(self, rate=0.0, rng=None):
        self.rate, self.rng = rate, rng  # for dropout: its probability, and a random generator


# ----------------------------------------------------------------------------------- layers, from the smallest to BERT
def linear(x, W, b, tape):
    """y = x W + b.   x (T, I)   W (I, O)   b (O,)   y (T, O)"""
    tape.append((x, W, b))
    return x @ W.value + b.value


def linear_backward(dy, tape):
    """Number by number, y[n, o] = Σᵢ x[n, i] W[i, o] + b[o]. Sum over every y that depends on a number:

    - W[i, o] moves y[n, o] in every row n, with slope x[n, i]:        dW[i, o] = Σₙ x[n, i] dy[n, o]
    - b[o] moves y[n, o] in every row n, with slope 1:                 db[o] = Σₙ dy[n, o]
    - x[n, i] moves y[n, o] in every column o, with slope W[i, o]:     dx[n, i] = Σₒ dy[n, o] W[i, o]

    A matrix product sums over the index in the middle. A transpose brings it there: dW = xᵀ dy, dx = dy Wᵀ.
    """
    x, W, b = tape.pop()
    W.grad += x.T @ dy
    b.grad += dy.sum(axis=0)
    return dy @ W.value.T


def gelu(x, tape):
    """y = x Φ(x), number by number. Φ(x) = ½ (1 + erf(x/√2)) is the area under the bell curve φ up to x."""
    area = (1 + erf(x / math.sqrt(2))) / 2
    tape.append((x, area))
    return x * area


def gelu_backward(dy, tape):
    """Each x moves only its own y, with slope Φ(x) + x φ(x), by the product rule.   φ(x) = e^(−x²/2)/√(2π)"""
    x, area = tape.pop()
    curve = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return dy * (area + x * curve)


def layer_norm(x, gamma, beta, tape):
    """y = γ x̂ + β  with  x̂ = (x − μ)/σ,  μ = mean(x),  σ = √(mean((x − μ)²) + 1e-12), for each row."""
    centered = x - x.mean(axis=1, keepdims=True)
    sigma = np.sqrt((centered * centered).mean(axis=1, keepdims=True) + 1e-12)
    x_hat = centered / sigma
    tape.append((x_hat, sigma, gamma, beta))
    return gamma.value * x_hat + beta.value


def layer_norm_backward(dy, tape):
    """All rows share γ and β, so dγ and dβ are sums over the rows. And y = γ x̂ + β gives dx̂ = γ dy.

    Each xᵢ reaches x̂ on three paths: x̂ᵢ directly, and every x̂ⱼ of its row through μ and through σ.

    - directly:   ∂x̂ᵢ/∂xᵢ = 1/σ                      adds  dx̂ᵢ / σ
    - through μ:  ∂x̂ⱼ/∂μ = −1/σ,   ∂μ/∂xᵢ = 1/D      adds  Σⱼ dx̂ⱼ (−1/σ) (1/D) = −mean(dx̂) / σ
    - through σ:  ∂x̂ⱼ/∂σ = −x̂ⱼ/σ,  ∂σ/∂xᵢ = x̂ᵢ/D     adds  Σⱼ dx̂ⱼ (−x̂ⱼ/σ) (x̂ᵢ/D) = −x̂ᵢ mean(dx̂ · x̂) / σ

    Why ∂σ/∂xᵢ = x̂ᵢ/D? Take the slope of both sides of σ² = Σⱼ (xⱼ − μ)²/D + 1e-12: 2σ ∂σ/∂xᵢ = 2 (xᵢ − μ)/D.
    (μ depends on xᵢ, too. That adds nothing, because Σⱼ (xⱼ − μ) = 0.)
    """
    x_hat, sigma, gamma, beta = tape.pop()
    gamma.grad += (dy * x_hat).sum(axis=0)
    beta.grad += dy.sum(axis=0)
    dx_hat = gamma.value * dy
    shift = dx_hat.mean(axis=1, keepdims=True)
    stretch = (dx_hat * x_hat).mean(axis=1, keepdims=True)
    return (dx_hat - shift - x_hat * stretch) / sigma


def dropout(x, tape):
    """y = x · mask/(1 − rate). The mask is 0 with probability rate, else 1, so that on average y is x."""
    factor = (tape.rng.random(x.shape) >= tape.rate) / (1 - tape.rate) if tape.rate else 1.0
    tape.append(factor)
    return x * factor


def dropout_backward(dy, tape):
    """y is x times a factor, so dx is dy times the same factor: the mask of forward, not a new one."""
    return dy * tape.pop()


def embedding(ids, W, tape):
    """y = W[ids], a row of a table for each id.   ids (T,)   W (words, D)   y (T, D)"""
    tape.append((ids, W))
    return W.value[ids]


def embedding_backward(dy, tape):
    """A row of W sums dy over all places where it was read. (W.grad[ids] += dy would add only one of them.)"""
    ids, W = tape.pop()
    np.add.at(W.grad, ids, dy)


def word_scores(h, E, b, tape):
    """s = h Eᵀ + b: how well h fits each word.   h (M, D)   E (words, D): the table of the embedding   s (M, words)"""
    tape.append((h, E, b))
    return h @ E.value.T + b.value


def word_scores_backward(ds, tape):
    """As linear with W = Eᵀ, so dE = (hᵀ ds)ᵀ = dsᵀ h. The embedding uses E, too: both backwards add to its grad."""
    h, E, b = tape.pop()
    E.grad += ds.T @ h
    b.grad += ds.sum(axis=0)
    return ds @ E.value


def softmax(s):
    """pⱼ = e^(sⱼ) / Σₖ e^(sₖ) along the last axis: scores become probabilities."""
    powers = np.exp(s - s.max(axis=-1, keepdims=True))  # e^(−max) cancels, and no e^s overflows
    return powers / powers.sum(axis=-1, keepdims=True)


def cross_entropy(s, labels, tape):
    """loss = Σ over M rows of −log p[label]  with  p = softmax(s).   s (M, classes)   labels (M,)"""
    p = softmax(s)
    tape.append((p, labels))
    return -np.log(p[np.arange(len(s)), labels]).sum()


def cross_entropy_backward(dloss, tape):
    """The loss of a row is log Σₖ e^(sₖ) − s[label]. The first term has the slope e^(sᵢ)/Σₖ e^(sₖ) = pᵢ in sᵢ. The
    second subtracts 1 at the label. Together: p − onehot."""
    p, labels = tape.pop()
    return dloss * (p - np.eye(p.shape[1])[labels])


def attention(x, layer, tape):
    """y = C Wo + bo,  C = A V,  A = Dropout(P),  P = softmax(S),  S = Q Kᵀ/√dₖ.   x, y (T, D)   S, P, A (H, T, T)

    Q = x Wq + bq, K = x Wk + bk and V = x Wv + bv. Each head has dₖ of their columns and works separately. A query gets
    a mean of the values, weighted by how well their keys match it. Why √dₖ? A score is a sum of dₖ products of either
    sign, so its size is √dₖ. Where scores are far apart, one key gets nearly all the weight, and softmax has no slope.
    """
    q, k, v = (linear(x, *pair, tape) for pair in (layer.query, layer.key, layer.value))
    q, k, v = (rows.reshape(len(x), layer.H, -1).swapaxes(0, 1) for rows in (q, k, v))  # -> (T, H, d) -> (H, T, d)
    p = softmax(q @ k.swapaxes(1, 2) / math.sqrt(q.shape[2]))
    a = dropout(p, tape)
    tape.append((q, k, v, p, a))
    c = (a @ v).swapaxes(0, 1).reshape(x.shape)  # -> (T, H, d) -> (T, D)
    return linear(c, *layer.output, tape)


def attention_backward(dy, tape):
    """C = A V is a product, as in linear: dV = Aᵀ dC, dA = dC Vᵀ. So is S = Q Kᵀ/√dₖ: dQ = dS K/√dₖ, dK = dSᵀ Q/√dₖ.

    Between them is softmax: log pⱼ = sⱼ − log Σₖ e^(sₖ). Its slope in sᵢ is δᵢⱼ − pᵢ (δᵢⱼ is 1 if i = j, else 0), and
    the slope of pⱼ is pⱼ times as large. So dsᵢ = Σⱼ dpⱼ pⱼ (δᵢⱼ − pᵢ) = pᵢ (dpᵢ − Σⱼ dpⱼ pⱼ).

    Queries, keys and values all come from x, so dx is a sum of three. Reshaping only moves numbers.
    """
    dc = linear_backward(dy, tape)
    q, k, v, p, a = tape.pop()
    dc = dc.reshape(len(dy), len(q), -1).swapaxes(0, 1)
    dv = a.swapaxes(1, 2) @ dc
    dp = dropout_backward(dc @ v.swapaxes(1, 2), tape)
    ds = p * (dp - (dp * p).sum(axis=-1, keepdims=True))
    dq = ds @ k / math.sqrt(q.shape[2])
    dk = ds.swapaxes(1, 2) @ q / math.sqrt(q.shape[2])
    dq, dk, dv = (heads.swapaxes(0, 1).reshape(dy.shape) for heads in (dq, dk, dv))
    return linear_backward(dv, tape) + linear_backward(dk, tape) + linear_backward(dq, tape)  # v was made last


def encoder_layer(x, layer, tape):
    """h = LayerNorm(x + Dropout(Attention(x))),  y = LayerNorm(h + Dropout(GELU(h W₁ + b₁) W₂ + b₂))"""
    f = attention(x, layer, tape)
    h = layer_norm(x + dropout(f, tape), *layer.norm, tape)
    f = linear(gelu(linear(h, *layer.inner, tape), tape), *layer.outer, tape)
    return layer_norm(h + dropout(f, tape), *layer.outer_norm, tape)


def encoder_layer_backward(dy, tape):
    """A sum, as in h + f, passes its gradient to both terms. So h has two paths to the loss. The path past feed-forward
    contributes dsum unchanged; the other leads through it. dh is their sum. The same holds for x, around attention."""
    dsum = layer_norm_backward(dy, tape)
    df = dropout_backward(dsum, tape)
    dh = dsum + linear_backward(gelu_backward(linear_backward(df, tape), tape), tape)
    dsum = layer_norm_backward(dh, tape)
    df = dropout_backward(dsum, tape)
    return dsum + attention_backward(df, tape)


class Bert:
    """The parameters: tables of embeddings, and pairs, W with b or γ with β."""

    def __init__(self, words, rng, D=128, H=4, F=512, L=2, longest=30):
        self.parameters = []
        tables = (rng.normal(0, 0.02, (rows, D)) for rows in (words, longest, 2))
        self.word, self.position, self.segment = self.new(*tables)
        self.norm = self.new(np.ones(D), np.zeros(D))
        self.layers = [SimpleNamespace(H=H) for _ in range(L)]
        for layer in self.layers:
            layer.query, layer.key, layer.value, layer.output = (self.new_linear(D, D, rng) for _ in range(4))
            layer.norm = self.new(np.ones(D), np.zeros(D))
            layer.inner, layer.outer = self.new_linear(D, F, rng), self.new_linear(F, D, rng)
            layer.outer_norm = self.new(np.ones(D), np.zeros(D))
        self.pooler, self.transform = self.new_linear(D, D, rng), self.new_linear(D, D, rng)
        self.transform_norm = self.new(np.ones(D), np.zeros(D))
        (self.word_bias,) = self.new(np.zeros(words))
        self.next_line = self.new_linear(D, 2, rng)

    def new_linear(self, inputs, outputs, rng):
        return self.new(rng.normal(0, 0.02, (inputs, outputs)), np.zeros(outputs))

    def new(self, *values):
        new = [Parameter(value) for value in values]
        self.parameters += new
        return new


def bert(sequence, model, tape):
    """Embeddings, L encoder layers and two heads. The first scores all words for each masked token (M, words). The
    other reads the row of [CLS] and scores "the second line follows the first" and "it does not" (1, 2)."""
    word = embedding(sequence.ids, model.word, tape)
    position = embedding(np.arange(len(sequence.ids)), model.position, tape)
    segment = embedding(sequence.segments, model.segment, tape)
    h = dropout(layer_norm(word + position + segment, *model.norm, tape), tape)
    for layer in model.layers:
        h = encoder_layer(h, layer, tape)
    pooled = np.tanh(linear(h[:1], *model.pooler, tape))
    follows = linear(pooled, *model.next_line, tape)
    guess = gelu(linear(h[sequence.masked], *model.transform, tape), tape)
    words = word_scores(layer_norm(guess, *model.transform_norm, tape), model.word, model.word_bias, tape)
    tape.append((sequence, model, h, pooled))
    return words, follows


def bert_backward(dwords, dfollows, tape):
    """Below the heads, dh is 0 in each row that neither head reads. The three embeddings are added, so all get dsum."""
    sequence, model, h, pooled = tape.pop()
    dh = np.zeros_like(h)
    dguess = layer_norm_backward(word_scores_backward(dwords, tape), tape)
    dh[sequence.masked] = linear_backward(gelu_backward(dguess, tape), tape)
    dpooled = linear_backward(dfollows, tape)
    dh[:1] = linear_backward(dpooled * (1 - pooled * pooled), tape)  # the slope of tanh is 1 − tanh²
    for _ in model.layers:
        dh = encoder_layer_backward(dh, tape)
    dsum = layer_norm_backward(dropout_backward(dh, tape), tape)
    for _ in ("segment", "position", "word"):
        embedding_backward(dsum, tape)


# ------------------------------------------------------------------------------------------------------------ training
def adamw_step(parameters, t, lr, beta1=0.9, beta2=0.999, decay=0.01):
    """Step t = 1, 2, … of AdamW: θ ← θ − lr · m̂/(√v̂ + eps). (Kingma & Ba 2015; Loshchilov & Hutter 2019.)

    m is a running mean of gradients g, and √v has their size. So each step is about lr, whatever the size of g. m̂ and
    v̂ correct for m and v starting at 0. First, all g are clipped: one factor scales them to a joint norm of at most 1.
    """
    norm = math.sqrt(sum((each.grad * each.grad).sum() for each in parameters))
    for each in parameters:
        g = each.grad * min(1, 1 / (norm + 1e-6))
        each.m = beta1 * each.m + (1 - beta1) * g
        each.v = beta2 * each.v + (1 - beta2) * g * g
        m_hat, v_hat = each.m / (1 - beta1**t), each.v / (1 - beta2**t)
        each.value *= 1 - lr * decay * (g.ndim == 2)  # pulls matrices towards 0, but not b, γ or β
        each.value -= lr * m_hat / (np.sqrt(v_hat) + 1e-8)
        each.grad[...] = 0


def train(model, steps, lr, rate, rng, B=8):
    """Yield both losses of each step: the mean over the masked tokens of B sequences, and over the sequences."""
    warm_up = steps // 10  # lr rises until here, and then falls to 0
    for t in range(steps):
        batch = [draw_sequence(rng) for _ in range(B)]
        num_masked = sum(len(sequence.masked) for sequence in batch)
        losses = np.zeros(2)
        for sequence in batch:  # the loss of the batch is a sum over its sequences, and so is its gradient
            tape = Tape(rate, rng)
            words, follows = bert(sequence, model, tape)
            losses[0] += cross_entropy(words, sequence.targets, tape) / num_masked
            losses[1] += cross_entropy(follows, sequence.label, tape) / B
            dfollows, dwords = cross_entropy_backward(1 / B, tape), cross_entropy_backward(1 / num_masked, tape)
            bert_backward(dwords, dfollows, tape)
            assert not tape, "every backward popped what its forward pushed"
        adamw_step(model.parameters, t + 1, lr * min(t / warm_up, (steps - t) / (steps - warm_up)))
        yield losses


# ---------------------------------------------------------------------------------------------------------------- data
DIALOGUE = """Hello, how are you? I am Romeo.
Hello, Romeo My name is Juliet. Nice to meet you.
Nice meet you too. How are you today?
Great. My baseball team won the competition.
Oh Congratulations, Juliet
Thank you Romeo
Where are you going today?
I am going shopping. What about you?
I am going to visit my grandmother. she is not very well"""
plain = DIALOGUE.lower().translate(str.maketrans("", "", ".,!?"))
WORDS = ["[PAD]", "[CLS]", "[SEP]", "[MASK]", *sorted({*plain.split()})]  # [PAD] is for padding, and not used here
LINES = [[WORDS.index(word) for word in line.split()] for line in plain.splitlines()]
CLS, SEP, MASK = 1, 2, 3


def draw_sequence(rng):
    """Two lines. The second is the next line half of the time, else a random one."""
    first = rng.integers(len(LINES) - 1)
    second = first + 1 if rng.random() < 0.5 else rng.integers(len(LINES))
    return mask_words(first, second, rng)


def mask_words(first, second, rng):
    """[CLS] first line [SEP] second line [SEP]. About 15 % of the tokens are chosen. 80 % of these become [MASK], 10 %
    a random word, and 10 % stay. So the model cannot tell which tokens it must predict, and learns about all."""
    ids = np.array([CLS, *LINES[first], SEP, *LINES[second], SEP])
    segments = np.repeat([0, 1], [len(LINES[first]) + 2, len(LINES[second]) + 1])
    masked = np.sort(rng.choice(np.flatnonzero(ids > MASK), size=round(0.15 * len(ids)), replace=False))
    targets = ids[masked]
    for i in masked:
        draw = rng.random()
        if draw < 0.8:
            ids[i] = MASK
        elif draw < 0.9:
            ids[i] = rng.integers(MASK + 1, len(WORDS))
    return SimpleNamespace(ids=ids, segments=segments, masked=masked, targets=targets, label=[int(second != first + 1)])


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    model = Bert(len(WORDS), rng)
    print(f"{DIALOGUE}\n\nlosses        words   next line\nguessing {math.log(len(WORDS)):10.2f} {math.log(2):11.2f}")
    for t, losses in enumerate(train(model, 400, 2e-3, 0.1, rng), start=1):
        if t % 50 == 0:
            print(f"step {t:3} {losses[0]:10.2f} {losses[1]:11.2f}", flush=True)
    print("\nPredictions of hidden words, and the probability that the second line follows:")
    for first in range(len(LINES) - 1):
        sequence = mask_words(first, first + 1, rng)
        sequence.ids[sequence.masked] = MASK
        words, follows = bert(sequence, model, Tape())
        guesses = ", ".join(WORDS[i] for i in words.argmax(axis=1))
        print(*(WORDS[i] for i in sequence.ids[1:-1]), "->", guesses, f"({softmax(follows)[0, 0]:.0%})")
