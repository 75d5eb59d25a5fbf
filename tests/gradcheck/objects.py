"""Objects that keep on themselves what backward needs, in many styles, and right: test_objects.py makes them wrong."""

import numpy as np

RNG = np.random.default_rng(0)


def n(*shape):
    return RNG.standard_normal(shape)


class Dense:
    """Gradients in attributes: self.dW."""

    def __init__(self, rows=4, columns=3):
        self.W, self.b, self.dW, self.db = n(rows, columns), np.zeros(columns), None, None

    def forward(self, x):
        self.x = x
        return x @ self.W + self.b

    def backward(self, dout):
        self.dW = self.x.T @ dout
        self.db = dout.sum(axis=0)
        return dout @ self.W.T


class InDicts(Dense):
    """Parameters and gradients in dicts, made in the first forward."""

    def __init__(self):
        self.params, self.grads, self.ctx = {}, {}, {}

    def forward(self, x):
        if not self.params:
            self.params = {"W": np.random.randn(x.shape[1], 3), "b": np.zeros(3)}
        self.ctx = {"x": x}
        return x @ self.params["W"] + self.params["b"]

    def backward(self, grad):
        self.grads["W"] = self.ctx["x"].T @ grad
        self.grads["b"] = grad.sum(axis=0)
        return grad @ self.params["W"].T


class InLists:
    """Parameters and gradients in lists, whose arrays are filled."""

    def __init__(self):
        self.params = [n(4, 4), n(4)]
        self.grads = [np.zeros_like(p) for p in self.params]

    def __call__(self, x):
        self.cache = x
        return x @ self.params[0] + self.params[1]

    def backward(self, dy):
        self.grads[0][...] = self.cache.T @ dy
        self.grads[1][...] = dy.sum(axis=0)
        return dy @ self.params[0].T


class Weight:
    """A parameter with its gradient, as in many small frameworks."""

    def __init__(self, data):
        self.data = data
        self.grad = np.zeros_like(data)


class Added:
    """param.grad += ..., and rows of a table."""

    def __init__(self):
        self.table, self.scale = Weight(n(5, 4)), Weight(np.ones(4))

    def forward(self, ids):
        self.ids = ids
        return self.table.data[ids] * self.scale.data

    def backward(self, dy):
        np.add.at(self.table.grad, self.ids, dy * self.scale.data)
        self.scale.grad += (dy * self.table.data[self.ids]).sum(axis=0)


class Returned(Dense):
    """dx, dW, db."""

    def backward(self, dout):
        return dout @ self.W.T, self.x.T @ dout, dout.sum(axis=0)


class OtherNames:
    """Names that say nothing: by their shapes. m and v are an optimizer's."""

    def __init__(self):
        self.kernel, self.offset, self.g1, self.g2 = n(4, 3), n(3), None, None
        self.m, self.v = np.zeros((4, 3)), np.zeros(3)

    def compute(self, a):
        self.a = a
        return a @ self.kernel + self.offset

    def gradient(self, out_grad):
        self.g1, self.g2 = self.a.T @ out_grad, out_grad.sum(axis=0)
        return out_grad @ self.kernel.T


class Silent(Dense):
    """Nothing is returned: y is self.output, and dx is self.dinputs."""

    def forward(self, inputs):
        self.inputs = inputs
        self.output = inputs @ self.W + self.b

    def backward(self, dvalues):
        self.dW, self.db = self.inputs.T @ dvalues, dvalues.sum(axis=0)
        self.dinputs = dvalues @ self.W.T


class Steps(Dense):
    """backward(grad, learning_rate) takes a step, too."""

    def backward(self, grad, learning_rate):
        dx = grad @ self.W.T
        self.W -= learning_rate * (self.x.T @ grad)
        self.b -= learning_rate * grad.sum(axis=0)
        return dx


class Network:
    """Parts in attributes and lists."""

    def __init__(self):
        self.embedding, self.layers, self.out = Added(), [Dense(4, 3), Dense(3, 4)], Dense(4, 5)

    def forward(self, ids):
        h = self.embedding.forward(ids)
        a = self.layers[0].forward(h)
        self.mask = a > 0
        return self.out.forward(self.layers[1].forward(a * self.mask) + h)

    def backward(self, dlogits):
        dh = self.out.backward(dlogits)
        da = self.layers[1].backward(dh) * self.mask
        self.embedding.backward(dh + self.layers[0].backward(da))


class SoftmaxLoss:
    """A loss: backward is given nothing."""

    def forward(self, logits, labels):
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        self.p, self.labels = p / p.sum(axis=1, keepdims=True), labels
        return -np.log(self.p[np.arange(len(labels)), labels]).mean()

    def backward(self):
        d = self.p.copy()
        d[np.arange(len(d)), self.labels] -= 1
        return d / len(d)


class Tied:
    """One table held by two parts, each of which has its share of the gradient."""

    def __init__(self):
        self.first, self.last = Dense(4, 4), Dense(4, 4)
        self.last.W = self.first.W

    def forward(self, x):
        return self.last.forward(self.first.forward(x) ** 2)

    def backward(self, dy):
        return self.first.backward(2 * self.last.backward(dy) * (self.first.x @ self.first.W + self.first.b))


class CourseNet:
    """CS231n's: loss, grads = net.loss(X, y)."""

    def __init__(self):
        self.reg, self.params = 0.1, {"W1": n(4, 5), "b1": np.zeros(5), "W2": n(5, 3), "b2": np.zeros(3)}

    def loss(self, x, y=None):
        p = self.params
        a = x @ p["W1"] + p["b1"]
        h = np.maximum(0, a)
        end = SoftmaxLoss()
        loss = end.forward(h @ p["W2"] + p["b2"], y) + 0.5 * self.reg * np.sum(p["W1"] ** 2)
        d = end.backward()
        da = (d @ p["W2"].T) * (a > 0)
        grads = {"W2": h.T @ d, "b2": d.sum(axis=0), "W1": x.T @ da + self.reg * p["W1"], "b1": da.sum(axis=0)}
        return loss, grads
