"""What students write, in the forms of their courses: right here, and with a mistake put in by test_others.py."""

import math

import numpy as np


def affine_forward(x, w, b):
    return x.reshape(x.shape[0], -1).dot(w) + b, (x, w, b)


def affine_backward(dout, cache):
    x, w, _ = cache
    dx = dout.dot(w.T).reshape(x.shape)
    dw = x.reshape(x.shape[0], -1).T.dot(dout)
    return dx, dw, np.sum(dout, axis=0)


def dense_forward(z, params):
    return z @ params["W"] + params["b"]


def dense_backward(dy, params, z):
    return {"dz": dy @ params["W"].T, "dW": z.T @ dy, "db": dy.sum(axis=0)}


def relu_forward(x):
    return np.maximum(0, x), x


def relu_backward(dout, cache):
    dx = dout
    dx[cache <= 0] = 0
    return dx


def sandwich_forward(x, w, b):
    a, fc_cache = affine_forward(x, w, b)
    out, relu_cache = relu_forward(a)
    return out, (fc_cache, relu_cache)


def sandwich_backward(dout, cache):
    fc_cache, relu_cache = cache
    da = relu_backward(dout, relu_cache)
    return affine_backward(da, fc_cache)


def dropout_forward(x, dropout_param):
    np.random.seed(dropout_param["seed"])
    mask = (np.random.rand(*x.shape) < dropout_param["p"]) / dropout_param["p"]
    return x * mask, (dropout_param, mask)


def dropout_backward(dout, cache):
    _, mask = cache
    return dout * mask


def lstm_forward(c, a, training=True):
    i, g = 1 / (1 + np.exp(-a[:, :2])), np.tanh(a[:, 2:])
    next_c = c + i * g
    return np.tanh(next_c), next_c, (i, g, next_c)


def lstm_backward(dh, dc, cache):
    i, g, next_c = cache
    dc = dc + dh * (1 - np.tanh(next_c) ** 2)
    return dc, np.hstack((dc * g * i * (1 - i), dc * i * (1 - g**2)))


class Log:
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return math.log(a)

    @staticmethod
    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return d_output / a


class Tensor:
    def __init__(self, data):
        self.data = np.array(data, dtype=np.float32)

    def __matmul__(self, other):
        return Tensor(self.data @ other.data)


class MatmulBackward:
    def __init__(self, *tensors):
        self.saved_tensors = tensors

    def apply(self, grad_output):
        a, b = self.saved_tensors
        assert isinstance(a, Tensor) and b.requires_grad
        return np.matmul(grad_output, b.data.T), np.matmul(a.data.T, grad_output)
