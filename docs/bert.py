"""BERT in one file, with every derivative by hand: read it from top to bottom, or run it, `python docs/bert.py`.

Words go in at one end, and one number comes out at the other: the loss, which says how wrong the model was. To learn,
it asks of every number x on the way: if x grew a little, how fast would the loss grow? This derivative, ∂loss/∂x, is
always called dx here. It is found from the end to the beginning. A layer makes y from x, and later layers make the loss
from y. Suppose that dy is known already. Each xᵢ moves the loss through every yⱼ that it moves, and what comes back on
all these roads is added up: dxᵢ = Σⱼ dyⱼ · ∂yⱼ/∂xᵢ. That is the chain rule.

So a layer is two functions. `layer` makes y from x, and keeps on a tape what its backward will need. `layer_backward`
is given dy, adds to the gradients of the layer's parameters, and returns dx, which is the dy of the layer before.

All arrays are rows: the N tokens (words, and signs such as [CLS]) of a batch of B texts, one below another, each as D
numbers. There is no padding. The two heads at the end read M of the rows: each [CLS] and each hidden word. H heads have
d = D/H columns each, F is the width of feed-forward, V the number of words. (Devlin et al. 2018; Vaswani et al. 2017.)
"""

import math
from types import SimpleNamespace

import numpy as np

erf = np.vectorize(math.erf, otypes=[float])  # NumPy has none of its own


class Parameter:
    """An array that is learned. Every backward that has a share in its gradient, ∂loss/∂value, adds to it."""

    def __init__(self, value):
        self.value, self.grad, self.m, self.v = value, np.zeros_like(value), 0.0, 0.0  # m and v are for Adam


class Tape(list):
    """A stack: forward puts on top what its backward will need, and backward takes it off. The layer that ran last is
    undone first, so what was kept last is wanted first. That is all the bookkeeping."""

    def __init__(self, p=0.0, rng=None):
        self.p, self.rng = p, rng  # for dropout, while the model learns: how probable it is, and where it draws from


# ----------------------------------------------------------------------------------- layers, from the smallest to BERT
def linear(x, W, b, tape):
    """y = x W + b.   x (N, I)   W (I, O)   b (O,)   y (N, O)"""
    tape.append((x, W, b))
    return x @ W.value + b.value


def linear_backward(dy, tape):
    """Number by number, y[n, o] = Σᵢ x[n, i] W[i, o] + b[o]. So

    - W[i, o] moves y[n, o] in every row n, x[n, i] times as fast:    dW[i, o] = Σₙ x[n, i] dy[n, o]
    - b[o] moves y[n, o] in every row n, as fast as itself:           db[o] = Σₙ dy[n, o]
    - x[n, i] moves every y[n, o] of its row, W[i, o] times as fast:  dx[n, i] = Σₒ dy[n, o] W[i, o]

    A matrix product sums over the letter in the middle. Transposing brings it there.
    """
    x, W, b = tape.pop()
    W.grad += x.T @ dy
    b.grad += dy.sum(axis=0)
    return dy @ W.value.T


def gelu(x, tape):
    """y = x Φ(x), number by number. Φ(x) = ½ (1 + erf(x/√2)) is the area under the bell curve φ, up to x."""
    area = (1 + erf(x / math.sqrt(2))) / 2
    tape.append((x, area))
    return x * area


def gelu_backward(dy, tape):
    """An x moves its own y alone, Φ(x) + x φ(x) times as fast (the product rule).   φ(x) = e^(−x²/2)/√(2π)"""
    x, area = tape.pop()
    curve = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return dy * (area + x * curve)


def layer_norm(x, gamma, beta, tape):
    """y = γ x̂ + β  with  x̂ = (x − μ)/σ,  μ = mean(x),  σ = √(mean((x − μ)²) + 1e-12): for each row by itself."""
    centred = x - x.mean(axis=1, keepdims=True)
    sigma = np.sqrt((centred * centred).mean(axis=1, keepdims=True) + 1e-12)
    x_hat = centred / sigma
    tape.append((x_hat, sigma, gamma, beta))
    return gamma.value * x_hat + beta.value


def layer_norm_backward(dy, tape):
    """γ and β serve every row, so they collect from every row. A yⱼ moves γⱼ times as fast as its x̂ⱼ: dx̂ = γ dy.

    An xᵢ has three roads to the x̂ of its row: to its own, and by μ and by σ to all. How fast, and what comes back:

    - directly:   ∂x̂ᵢ/∂xᵢ = 1/σ                      dx̂ᵢ / σ
    - through μ:  ∂x̂ⱼ/∂μ = −1/σ,   ∂μ/∂xᵢ = 1/D      Σⱼ dx̂ⱼ (−1/σ) (1/D)    = −mean(dx̂) / σ
    - through σ:  ∂x̂ⱼ/∂σ = −x̂ⱼ/σ,  ∂σ/∂xᵢ = x̂ᵢ/D     Σⱼ dx̂ⱼ (−x̂ⱼ/σ) (x̂ᵢ/D)  = −x̂ᵢ mean(dx̂ · x̂) / σ

    Where is x̂ᵢ/D from? σ² = Σⱼ (xⱼ − μ)²/D + 1e-12, so 2σ ∂σ/∂xᵢ = 2 (xᵢ − μ)/D; divide both sides by 2σ. (The μ in it
    moves with xᵢ, too, but this changes nothing, as Σⱼ (xⱼ − μ) = 0.)
    """
    x_hat, sigma, gamma, beta = tape.pop()
    gamma.grad += (dy * x_hat).sum(axis=0)
    beta.grad += dy.sum(axis=0)
    dx_hat = gamma.value * dy
    shift = dx_hat.mean(axis=1, keepdims=True)
    stretch = (dx_hat * x_hat).mean(axis=1, keepdims=True)
    return (dx_hat - shift - x_hat * stretch) / sigma


def dropout(x, tape):
    """y = x · mask/(1 − p), where the mask is 0 with probability p, and else 1. So on average, y is x."""
    factor = 1.0
    if tape.p:
        bits = tape.rng.integers(2**64, size=math.ceil(x.size / 4), dtype=np.uint64).view(np.uint16)
        factor = (bits[: x.size].reshape(x.shape) >= round(tape.p * 2**16)) / (1 - tape.p)  # 16 random bits each
    tape.append(factor)
    return x * factor


def dropout_backward(dy, tape):
    """y is x times a factor, so dx is dy times the same factor: not of a new mask, but of the one that forward drew."""
    return dy * tape.pop()


def embedding(ids, W, tape):
    """y = W[ids], a row of a table for each id.   ids (N,)   W (V, D)   y (N, D)"""
    tape.append((ids, W))
    return W.value[ids]


def embedding_backward(dy, tape):
    """A row of W collects dy from every place where it was read. (W.grad[ids] += dy would keep only one of them.)"""
    ids, W = tape.pop()
    np.add.at(W.grad, ids, dy)


def word_scores(h, E, c, tape):
    """s = h Eᵀ + c, how well h fits each word.   h (n, D)   E (V, D), the table of word embeddings itself   s (n, V)"""
    tape.append((h, E, c))
    return h @ E.value.T + c.value


def word_scores_backward(ds, tape):
    """As linear with W = Eᵀ, so dE = (hᵀ ds)ᵀ = dsᵀ h. E has another road, where embedding reads it: both add up."""
    h, E, c = tape.pop()
    E.grad += ds.T @ h
    c.grad += ds.sum(axis=0)
    return ds @ E.value


def softmax(s):
    """pⱼ = e^(sⱼ) / Σₖ e^(sₖ) along the last axis: scores become probabilities."""
    e = np.exp(s - s.max(axis=-1, keepdims=True))  # the factor cancels, and no e^s is too large for a float
    return e / e.sum(axis=-1, keepdims=True)


def cross_entropy(s, labels, tape):
    """loss = mean over n rows of −log p[label]  with  p = softmax(s).   s (n, C)   labels (n,)"""
    p = softmax(s)
    tape.append((p, labels))
    return -np.log(p[np.arange(len(s)), labels]).mean()


def cross_entropy_backward(dloss, tape):
    """A row has the loss log Σ e^s − s[label]. Of this, ∂ log Σ e^s/∂sⱼ = e^(sⱼ)/Σ e^s = pⱼ, and s[label] takes 1 away
    where j is the label: together p − onehot. In a mean over n rows, each has the share 1/n."""
    p, labels = tape.pop()
    return dloss * (p - np.eye(p.shape[1])[labels]) / len(p)


def attend(q, k, v, tape):
    """C = A V  with  A = Dropout(P),  P = softmax(S),  S = Q Kᵀ/√d.   q, c (H, R, d)   k, v (H, T, d)   p (H, R, T)

    Each of R queries gets a mean of T values, weighted by how well their keys fit it. A score is a sum of d products of
    either sign, so it grows like √d. Of large scores, one has nearly all weight, and the slope P(1 − P) is nearly 0.
    """
    p = softmax(q @ k.swapaxes(1, 2) / math.sqrt(q.shape[2]))
    a = dropout(p, tape)
    tape.append((q, k, v, p, a))
    return a @ v


def attend_backward(dc, tape):
    """C = A V is a product, as in linear: dV = Aᵀ dC, dA = dC Vᵀ. So is S = Q Kᵀ/√d: dQ = dS K/√d, dK = dSᵀ Q/√d.

    Softmax: log pₖ = sₖ − log Σ e^s moves δₖⱼ − pⱼ times as fast as sⱼ (δₖⱼ is 1 if k is j, else 0), and pₖ moves pₖ
    times as fast as its logarithm. So dsⱼ = Σₖ dpₖ pₖ (δₖⱼ − pⱼ) = pⱼ (dpⱼ − Σₖ dpₖ pₖ).
    """
    q, k, v, p, a = tape.pop()
    dv = a.swapaxes(1, 2) @ dc
    dp = dropout_backward(dc @ v.swapaxes(1, 2), tape)
    dqk = p * (dp - (dp * p).sum(axis=-1, keepdims=True)) / math.sqrt(q.shape[2])  # dS/√d, the gradient of Q Kᵀ
    return dqk @ k, dqk.swapaxes(1, 2) @ q, dv


def cut(rows, H):
    """Into heads: (T, D) -> (T, H, d) -> (H, T, d)."""
    return rows.reshape(len(rows), H, -1).swapaxes(0, 1)


def join(heads):
    """And back: (H, T, d) -> (T, H, d) -> (T, D)."""
    return heads.swapaxes(0, 1).reshape(heads.shape[1], -1)


def attention(x, z, texts, layer, tape):
    """y = C Wo + bo  with  Q = x Wq + bq,  K = z Wk + bk,  V = z Wv + bv: each head has d columns of each.

    x (M, D) makes the queries, z (N, D) the keys and values.   texts: for each text, which rows of x and of z are its
    own. A text is multiplied with itself alone, so there is nothing to mask.   layer: its parameters, see Bert
    """
    q, k, v = linear(x, *layer.query, tape), linear(z, *layer.key, tape), linear(z, *layer.value, tape)
    q, k, v = (cut(rows, layer.H) for rows in (q, k, v))
    c = np.empty_like(q)
    for m, t in texts:
        c[:, m] = attend(q[:, m], k[:, t], v[:, t], tape)
    tape.append((texts, k))  # k for its shape
    return linear(join(c), *layer.output, tape)


def attention_backward(dy, tape):
    """z made both keys and values, so dz is the sum of what comes back from both. Cutting only moved numbers about."""
    dc = linear_backward(dy, tape)
    texts, k = tape.pop()
    dc = cut(dc, len(k))
    dq, dk, dv = np.empty_like(dc), np.empty_like(k), np.empty_like(k)
    for m, t in reversed(texts):
        dq[:, m], dk[:, t], dv[:, t] = attend_backward(dc[:, m], tape)
    dz = linear_backward(join(dv), tape) + linear_backward(join(dk), tape)  # values first: they were kept last
    return linear_backward(join(dq), tape), dz


def encoder_layer(x, z, texts, layer, tape):
    """h = LayerNorm(x + Dropout(Attention(x, z))),  y = LayerNorm(h + Dropout(GELU(h W₁ + b₁) W₂ + b₂)). Kept in turn:
    query, key, value; each text's dropout, attend; texts; output, dropout, norm; inner, gelu, outer, dropout, norm."""
    f = attention(x, z, texts, layer, tape)
    h = layer_norm(x + dropout(f, tape), *layer.norm, tape)
    f = linear(gelu(linear(h, *layer.inner, tape), tape), *layer.outer, tape)
    return layer_norm(h + dropout(f, tape), *layer.outer_norm, tape)


def encoder_layer_backward(dy, tape):
    """A sum s = h + f hands its ds to both. So h has two roads to the loss: past the feed-forward layer, which brings
    back ds as it is, and through it. They meet in dh = ds + …, and those of x, around attention, in ds + dqueries."""
    ds = layer_norm_backward(dy, tape)
    df = dropout_backward(ds, tape)
    dh = ds + linear_backward(gelu_backward(linear_backward(df, tape), tape), tape)
    ds = layer_norm_backward(dh, tape)
    dqueries, dz = attention_backward(dropout_backward(ds, tape), tape)
    return ds + dqueries, dz


class Bert:
    """The parameters: tables of words, positions and the halves of a text; and pairs, W with b or γ with β."""

    def __init__(self, V, rng, D=128, H=4, F=512, L=2, longest=30):
        self.all = []
        self.word, self.position, self.half = self.new(*(rng.normal(0, 0.02, (rows, D)) for rows in (V, longest, 2)))
        self.norm = self.new(np.ones(D), np.zeros(D))
        self.layers = [SimpleNamespace(H=H) for _ in range(L)]
        for layer in self.layers:
            layer.query, layer.key, layer.value, layer.output = (self.new_linear(D, D, rng) for _ in range(4))
            layer.norm, layer.outer_norm = self.new(np.ones(D), np.zeros(D)), self.new(np.ones(D), np.zeros(D))
            layer.inner, layer.outer = self.new_linear(D, F, rng), self.new_linear(F, D, rng)
        self.pooler, self.transform, self.follows = (self.new_linear(D, columns, rng) for columns in (D, D, 2))
        *self.transform_norm, self.word_bias = self.new(np.ones(D), np.zeros(D), np.zeros(V))

    def new_linear(self, inputs, outputs, rng):
        return self.new(rng.normal(0, 0.02, (inputs, outputs)), np.zeros(outputs))

    def new(self, *values):
        self.all += map(Parameter, values)
        return self.all[-len(values) :]


def bert(batch, model, tape):
    """Embeddings, L encoder layers and two heads: the scores of all words for each hidden one (M − B, V), and for each
    text, from its [CLS], the scores of "its second line follows the first" and "it does not" (B, 2)."""
    word, position = embedding(batch.ids, model.word, tape), embedding(batch.positions, model.position, tape)
    half = embedding(batch.halves, model.half, tape)
    h = dropout(layer_norm(word + position + half, *model.norm, tape), tape)
    for layer in model.layers[:-1]:
        h = encoder_layer(h, h, batch.texts, layer, tape)
    h = encoder_layer(h[batch.read], h, batch.read_texts, model.layers[-1], tape)  # nobody reads the other rows
    pooled = np.tanh(linear(h[batch.cls], *model.pooler, tape))
    tape.append((batch, model, h, pooled))
    follows = linear(pooled, *model.follows, tape)
    guess = layer_norm(gelu(linear(h[batch.hidden], *model.transform, tape), tape), *model.transform_norm, tape)
    return word_scores(guess, model.word, model.word_bias, tape), follows


def bert_backward(dwords, dfollows, tape):
    """A layer is given h twice, as x and as z, so h gets dx + dz. A sum of embeddings hands its gradient to each."""
    dguess = word_scores_backward(dwords, tape)
    dhidden = linear_backward(gelu_backward(layer_norm_backward(dguess, tape), tape), tape)
    dpooled = linear_backward(dfollows, tape)
    batch, model, h, pooled = tape.pop()
    dh = np.empty_like(h)
    dh[batch.hidden] = dhidden
    dh[batch.cls] = linear_backward(dpooled * (1 - pooled * pooled), tape)  # the slope of tanh is 1 − tanh²
    dread, dh = encoder_layer_backward(dh, tape)  # of the M rows, and of all N
    dh[batch.read] += dread  # += will do here: no row is read twice
    for _ in model.layers[:-1]:
        dx, dz = encoder_layer_backward(dh, tape)
        dh = dx + dz
    dsum = layer_norm_backward(dropout_backward(dh, tape), tape)
    for _ in ("half", "position", "word"):
        embedding_backward(dsum, tape)


# ------------------------------------------------------------------------------- training, and what it is trained on
def step(parameters, t, lr, beta1=0.9, beta2=0.999, decay=0.01):
    """Step t = 1, 2, … of AdamW: θ ← θ − lr · m̂/(√v̂ + eps). (Kingma & Ba 2015; Loshchilov & Hutter 2019.)

    m is a mean of recent gradients g, and √v has their size, so each step is about lr, whatever the size of g. m̂ and v̂
    make up for m and v starting at 0. And if all g together are longer than 1, one factor shortens them all, first.
    """
    norm = math.sqrt(sum((each.grad * each.grad).sum() for each in parameters))
    for each in parameters:
        g = each.grad * min(1, 1 / (norm + 1e-6))
        each.m = beta1 * each.m + (1 - beta1) * g
        each.v = beta2 * each.v + (1 - beta2) * g * g
        m_hat, v_hat = each.m / (1 - beta1**t), each.v / (1 - beta2**t)
        each.value *= 1 - lr * decay * (g.ndim == 2)  # matrices are pulled towards 0, so that none grows without need
        each.value -= lr * m_hat / (np.sqrt(v_hat) + 1e-8)
        each.grad[...] = 0


def train(model, steps, lr, p, rng):
    """Yield both losses of each step; their sum shall fall. lr grows for a tenth of the 10 or more steps, and falls."""
    for t in range(steps):
        batch, tape = draw_batch(16, rng), Tape(p, rng)
        words, follows = bert(batch, model, tape)
        losses = cross_entropy(words, batch.targets, tape), cross_entropy(follows, batch.labels, tape)
        dfollows, dwords = cross_entropy_backward(1.0, tape), cross_entropy_backward(1.0, tape)  # ∂sum/∂loss = 1
        bert_backward(dwords, dfollows, tape)
        assert not tape, "every backward took what its forward had kept"
        step(model.all, t + 1, lr * min(t / (steps // 10), (steps - t) / (steps - steps // 10)))
        yield losses


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


def draw_batch(B, rng):
    """B pairs of lines in random order, half of them a line and the next, with some of their words hidden."""
    follows = [(a, a + 1, 0) for a in range(len(LINES) - 1)]
    others = [(a, b, 1) for a in range(len(LINES)) for b in range(len(LINES)) if b != a + 1]
    drawn = [pairs[i] for pairs in (follows, others) for i in rng.integers(len(pairs), size=B // 2)]
    return pack([hide_words(*drawn[i], rng) for i in rng.permutation(B)])


def hide_words(a, b, label, rng):
    """[CLS] line a [SEP] line b [SEP] with about 15 % of it hidden, what that was (0 for all else), and the label."""
    ids = np.array([CLS, *LINES[a], SEP, *LINES[b], SEP])
    shown, targets, words = ids.copy(), np.zeros_like(ids), np.flatnonzero(ids > MASK)
    for i in rng.choice(words, size=round(0.15 * len(ids)), replace=False):
        targets[i], draw = ids[i], rng.random()
        if draw < 0.9:  # one in ten stays as it is, so that the model must have a good vector for every word
            shown[i] = MASK if draw < 0.8 else rng.integers(MASK + 1, len(WORDS))
    return shown, targets, label


def pack(examples):
    """Texts as rows, one below another: by length, as in the library, so that both draw the same for dropout."""
    texts, targets, labels = zip(*sorted(examples, key=lambda each: (len(each[0]), sum(each[1] > 0))), strict=True)
    ids, targets, ends = np.concatenate(texts), np.concatenate(targets), np.cumsum([len(text) for text in texts])
    read = np.flatnonzero((ids == CLS) | (targets > 0))
    rows = np.split(np.arange(len(ids)), ends[:-1])
    read_rows = np.split(np.arange(len(read)), np.searchsorted(read, ends[:-1]))  # a cut where a text begins
    batch = SimpleNamespace(ids=ids, read=read, targets=targets[targets > 0], labels=np.array(labels))
    batch.cls, batch.hidden = np.flatnonzero(ids[read] == CLS), np.flatnonzero(ids[read] != CLS)  # places in read
    batch.positions = np.concatenate([np.arange(len(text)) for text in texts])
    batch.halves = np.concatenate([np.cumsum(text == SEP) - (text == SEP) for text in texts])  # 1 after the first [SEP]
    batch.texts, batch.read_texts = [*zip(rows, rows, strict=True)], [*zip(read_rows, rows, strict=True)]
    return batch


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    model = Bert(len(WORDS), rng)
    print(f"{DIALOGUE}\n\nlosses        words   next line\nguessing {math.log(len(WORDS)):10.2f} {math.log(2):11.2f}")
    for t, losses in enumerate(train(model, 400, 2e-3, 0.1, rng), start=1):
        if t % 50 == 0:
            print(f"step {t:3} {losses[0]:10.2f} {losses[1]:11.2f}", flush=True)
    print("\nWhat it says of hidden words, and how sure it is that the second line follows:")
    for a in range(len(LINES) - 1):
        shown, targets, label = hide_words(a, a + 1, 0, rng)
        shown[targets > 0] = MASK
        words, follows = bert(pack([(shown, targets, label)]), model, Tape())
        guesses = ", ".join(WORDS[i] for i in words.argmax(axis=1))
        print(*(WORDS[i] for i in shown[1:-1]), "->", guesses, f"({softmax(follows)[0, 0]:.0%})")
