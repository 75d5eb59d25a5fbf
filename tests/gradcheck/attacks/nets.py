"""Right layers as courses and small networks in NumPy have them: `out, cache = forward(…)`, `backward(dout, cache)`."""

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def affine_forward(x, w, b):
    return x.reshape(len(x), -1) @ w + b, (x, w)


def affine_backward(dout, cache):
    x, w = cache
    return (dout @ w.T).reshape(x.shape), x.reshape(len(x), -1).T @ dout, dout.sum(axis=0)


def conv_forward(x, w, b):
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    out = np.zeros((len(x), len(w), *x.shape[2:]))
    for i in range(x.shape[2]):
        for j in range(x.shape[3]):
            window = padded[:, None, :, i : i + 3, j : j + 3]
            out[:, :, i, j] = (window * w).sum(axis=(2, 3, 4)) + b
    return out, (padded, w)


def conv_backward(dout, cache):
    padded, w = cache
    dpadded, dw = np.zeros_like(padded), np.zeros_like(w)
    for i in range(dout.shape[2]):
        for j in range(dout.shape[3]):
            at = dout[:, :, i, j]
            dpadded[:, :, i : i + 3, j : j + 3] += np.einsum("nf,fchw->nchw", at, w)
            dw += np.einsum("nf,nchw->fchw", at, padded[:, :, i : i + 3, j : j + 3])
    return dpadded[:, :, 1:-1, 1:-1], dw, np.sum(dout, axis=(0, 2, 3))


def im2col_indices(c, h, w, k):
    i = np.tile(np.repeat(np.arange(k), k), c)[:, None] + np.repeat(np.arange(h - k + 1), w - k + 1)
    j = np.tile(np.arange(k), k * c)[:, None] + np.tile(np.arange(w - k + 1), h - k + 1)
    return np.repeat(np.arange(c), k * k)[:, None], i, j


def im2col_forward(x, w):
    n, c, height, width = x.shape
    k = w.shape[2]
    at = im2col_indices(c, height, width, k)
    columns = x[(slice(None), *at)].transpose(1, 2, 0).reshape(c * k * k, -1)
    out = w.reshape(len(w), -1) @ columns
    return out.reshape(len(w), height - k + 1, width - k + 1, n).transpose(3, 0, 1, 2), (x.shape, w, columns, at)


def im2col_backward(dout, cache):
    shape, w, columns, at = cache
    flat = dout.transpose(1, 2, 3, 0).reshape(len(w), -1)
    dcolumns = (w.reshape(len(w), -1).T @ flat).reshape(len(columns), -1, shape[0]).transpose(2, 0, 1)
    dx = np.zeros(shape)
    np.add.at(dx, (slice(None), *at), dcolumns)
    return dx, (flat @ columns.T).reshape(w.shape)


def max_pool_forward(x):
    n, c, h, w = x.shape
    windows = x.reshape(n, c, h // 2, 2, w // 2, 2)
    out = windows.max(axis=3).max(axis=4)
    return out, (x, windows, out)


def max_pool_backward(dout, cache):
    x, windows, out = cache
    mask = windows == out[:, :, :, None, :, None]
    return (mask * dout[:, :, :, None, :, None]).reshape(x.shape)


def avg_pool_forward(x):
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).mean(axis=(3, 5)), x.shape


def avg_pool_backward(dout, cache):
    return np.repeat(np.repeat(dout, 2, axis=2), 2, axis=3) / 4


def batchnorm_forward(x, gamma, beta, bn_param):
    if bn_param["mode"] == "test":
        std = np.sqrt(bn_param["running_var"] + 1e-5)
        x_hat = (x - bn_param["running_mean"]) / std
        return gamma * x_hat + beta, (x_hat, std, gamma, True)
    mean, var = x.mean(axis=0), x.var(axis=0)
    bn_param["running_mean"] = 0.9 * bn_param.get("running_mean", np.zeros(x.shape[1])) + 0.1 * mean
    bn_param["running_var"] = 0.9 * bn_param.get("running_var", np.zeros(x.shape[1])) + 0.1 * var
    std = np.sqrt(var + 1e-5)
    x_hat = (x - mean) / std
    return gamma * x_hat + beta, (x_hat, std, gamma, False)


def batchnorm_backward(dout, cache):
    x_hat, std, gamma, is_test = cache
    dgamma, dbeta, dx_hat = (dout * x_hat).sum(axis=0), dout.sum(axis=0), dout * gamma
    if is_test:
        return dx_hat / std, dgamma, dbeta
    n = len(dout)
    return (n * dx_hat - dx_hat.sum(0) - x_hat * (dx_hat * x_hat).sum(0)) / (n * std), dgamma, dbeta


def groupnorm_forward(x, gamma, beta, groups):
    grouped = x.reshape(len(x), groups, -1)
    std = np.sqrt(grouped.var(axis=2, keepdims=True) + 1e-5)
    x_hat = (grouped - grouped.mean(axis=2, keepdims=True)) / std
    return gamma * x_hat.reshape(x.shape) + beta, (gamma, x_hat, std)


def groupnorm_backward(dout, cache):
    gamma, x_hat, std = cache
    d = (dout * gamma).reshape(x_hat.shape)
    dx = (d - d.mean(axis=2, keepdims=True) - x_hat * (d * x_hat).mean(axis=2, keepdims=True)) / std
    flat = x_hat.reshape(dout.shape)
    return dx.reshape(dout.shape), (dout * flat).sum(0), dout.sum(0)


def rnn_forward(x, h0, wx, wh):
    h, hs = h0, []
    for t in range(len(x)):
        h = np.tanh(x[t] @ wx + h @ wh)
        hs.append(h)
    return np.stack(hs), (x, h0, wx, wh, hs)


def rnn_backward(dout, cache):
    x, h0, wx, wh, hs = cache
    dx, dwx, dwh, dh = np.zeros(x.shape), np.zeros(wx.shape), np.zeros(wh.shape), np.zeros(h0.shape)
    for t in reversed(range(len(x))):
        draw = (dout[t] + dh) * (1 - hs[t] ** 2)
        dx[t] = draw @ wx.T
        dwx += x[t].T @ draw
        dwh += (hs[t - 1] if t else h0).T @ draw
        dh = draw @ wh.T
    return dx, dh, dwx, dwh


def lstm_forward(x, h, c, w):
    size = h.shape[1]
    a = np.hstack((x, h)) @ w
    i, f, o = (sigmoid(a[:, k * size : (k + 1) * size]) for k in range(3))
    g = np.tanh(a[:, 3 * size :])
    next_c = f * c + i * g
    tanh_c = np.tanh(next_c)
    return o * tanh_c, next_c, (x, h, c, w, i, f, o, g, tanh_c)


def lstm_backward(dh, dc, cache):
    x, h, c, w, i, f, o, g, tanh_c = cache
    dc = dc + dh * o * (1 - tanh_c**2)
    da = np.hstack((dc * g * i * (1 - i), dc * c * f * (1 - f), dh * tanh_c * o * (1 - o), dc * i * (1 - g**2)))
    dz = da @ w.T
    return dz[:, : x.shape[1]], dz[:, x.shape[1] :], dc * f, np.hstack((x, h)).T @ da


def gru_forward(x, h, w, u):
    z, r = sigmoid(x @ w[0] + h @ u[0]), sigmoid(x @ w[1] + h @ u[1])
    n = np.tanh(x @ w[2] + (r * h) @ u[2])
    return (1 - z) * n + z * h, {"x": x, "h": h, "w": w, "u": u, "z": z, "r": r, "n": n}


def gru_backward(dout, cache):
    x, h, w, u, z, r, n = (cache[key] for key in ("x", "h", "w", "u", "z", "r", "n"))
    dz, dn = dout * (h - n) * z * (1 - z), dout * (1 - z) * (1 - n * n)
    drh = dn @ u[2].T
    dr = drh * h * r * (1 - r)
    dx = dz @ w[0].T + dr @ w[1].T + dn @ w[2].T
    dh = dout * z + drh * r + dz @ u[0].T + dr @ u[1].T
    return dx, dh, np.stack([x.T @ d for d in (dz, dr, dn)]), np.stack([h.T @ dz, h.T @ dr, (r * h).T @ dn])


def svm_loss(x, y):
    rows = np.arange(len(x))
    margins = np.maximum(0, x - x[rows, y][:, None] + 1)
    margins[rows, y] = 0
    dx = np.zeros_like(x)
    dx[margins > 0] = 1
    dx[rows, y] -= np.sum(margins > 0, axis=1)
    return np.sum(margins) / len(x), dx / len(x)


def softmax_loss(x, y):
    shifted = x - x.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    dx = np.exp(log_p)
    dx[np.arange(len(x)), y] -= 1
    return -log_p[np.arange(len(x)), y].mean(), dx / len(x)


def dropout_forward(x, param):
    np.random.seed(param["seed"])
    mask = (np.random.rand(*x.shape) < param["p"]) / param["p"]
    return x * mask, (param, mask)


def dropout_backward(dout, cache):
    return dout * cache[1]


def embedding_forward(ids, w):
    return w[ids], (ids, w.shape)


def embedding_backward(dout, cache):
    ids, shape = cache
    dw = np.zeros(shape)
    np.add.at(dw, ids, dout)
    return None, dw


def gelu_forward(x):
    tanh = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))
    return 0.5 * x * (1 + tanh), {"x": x, "tanh": tanh}


def gelu_backward(dout, cache):
    x, tanh = cache["x"], cache["tanh"]
    return dout * (0.5 * (1 + tanh) + 0.5 * x * (1 - tanh**2) * np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x**2))


def attention_forward(x, wqkv, heads):
    t, d = x.shape
    q, k, v = ((x @ w).reshape(t, heads, -1).swapaxes(0, 1) for w in np.split(wqkv, 3, axis=1))
    scores = q @ k.swapaxes(1, 2) / np.sqrt(d // heads)
    scores = np.where(np.tril(np.ones((t, t))) == 1, scores, -np.inf)
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    p = p / p.sum(axis=-1, keepdims=True)
    return (p @ v).swapaxes(0, 1).reshape(t, d), {"x": x, "w": wqkv, "q": q, "k": k, "v": v, "p": p}


def attention_backward(dout, cache):
    q, k, v, p = (cache[key] for key in "qkvp")
    t, d = dout.shape
    do = dout.reshape(t, len(q), -1).swapaxes(0, 1)
    dp = do @ v.swapaxes(1, 2)
    ds = p * (dp - (dp * p).sum(axis=-1, keepdims=True)) / np.sqrt(d // len(q))
    found = ds @ k, ds.swapaxes(1, 2) @ q, p.swapaxes(1, 2) @ do
    dqkv = np.concatenate([each.swapaxes(0, 1).reshape(t, d) for each in found], axis=1)
    return dqkv @ cache["w"].T, cache["x"].T @ dqkv
