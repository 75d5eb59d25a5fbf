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


def same(x): return x * 1.0  # fmt: skip


class Eta(Dense):
    """dy has the name of a learning rate. A helper is a single line."""

    def forward(self, x):
        return Dense.forward(self, same(x))

    def backward(self, eta):
        return Dense.backward(self, 1.0 * eta)


class Decayed:
    """The gradients that are returned are those of a part, and more."""

    def __init__(self):
        self.part, self.decay = Dense(), 0.1
        self.params = {"W": self.part.W, "b": self.part.b}

    def loss(self, x):
        self.y = self.part.forward(x)
        return 0.5 * np.sum(self.y**2) + 0.5 * self.decay * np.sum(self.part.W**2)

    def gradient(self, x):
        self.loss(x)
        self.part.backward(self.y)
        return {"W": self.part.dW + self.decay * self.part.W, "b": self.part.db}


class Accuracy:
    """A number that does not move, and its gradient as whole numbers."""

    def forward(self, x):
        self.x = x
        return float((x > 0).mean())

    def backward(self):
        return np.zeros(self.x.shape, int)


class Windows:
    """Sums of neighbours, through a view of memory."""

    def forward(self, x):
        self.count = x.shape[1]
        return self.sums(np.pad(x, ((0, 0), (1, 1))))

    def backward(self, dy):
        return self.sums(np.pad(dy, ((0, 0), (1, 1))))

    def sums(self, x):
        shape, (row, one) = (len(x), self.count, 3), x.strides
        return np.lib.stride_tricks.as_strided(x, shape, (row, one, one)).sum(axis=2)


class InDicts:
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

    def back_propagate(self, dy):
        self.grads[0][...], self.grads[1][...] = self.cache.T @ dy, dy.sum(axis=0)
        return dy @ self.params[0].T


class Returned(Dense):
    """dx, dW, db; dy has the name of forward's input."""

    def backward(self, x):
        return x @ self.W.T, self.x.T @ x, x.sum(axis=0)


class OtherNames:
    """Names that say nothing: by their shapes. m is an optimizer's."""

    def __init__(self):
        self.kernel, self.offset, self.m, self.g1, self.g2 = n(4, 3), n(3), np.zeros((4, 3)), None, None

    def compute(self, a):
        self.a = a
        return a @ self.kernel + self.offset

    def gradient(self, out_grad):
        self.g1, self.g2 = self.a.T @ out_grad, out_grad.sum(axis=0)
        return out_grad @ self.kernel.T


class Silent(Dense):
    """Nothing is returned: y is self.output, and dx is self.dinputs."""

    def forward(self, inputs):
        self.inputs, self.output = inputs, Dense.forward(self, inputs)

    def backward(self, dvalues):
        self.dinputs = Dense.backward(self, dvalues)


class Steps:
    """Methods with longer names; backward_propagation(grad, learning_rate) takes a step, too."""

    def __init__(self):
        self.W, self.b = n(4, 3), n(3)

    def forward_propagation(self, x):
        self.x = x
        return x @ self.W + self.b

    def backward_propagation(self, grad, learning_rate):
        dx = grad @ self.W.T
        self.W -= learning_rate * (self.x.T @ grad)
        self.b -= learning_rate * grad.sum(axis=0)
        return dx


def traced(function):
    """A decorator that hides the names of the arguments, and counts calls."""

    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return function(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


class Traced(Dense):
    """Methods within a decorator."""

    forward = traced(Dense.forward)

    @traced
    def backward(self, upstream, labels=None):
        self.dW, self.db = self.x.T @ upstream, upstream.sum(axis=0)
        return upstream @ self.W.T


class Weight:
    """A parameter with its gradient, as in many small frameworks."""

    def __init__(self, data):
        self.data, self.grad = data, np.zeros_like(data)


class Network:
    """Parts in attributes and lists: a table, whose gradient is added to by row, and two layers beside it."""

    def __init__(self):
        self.table, self.layers = Weight(n(5, 4)), [Dense(4, 3), Dense(3, 4)]

    def forward(self, ids):
        self.ids = ids
        h = self.table.data[ids]
        a = self.layers[0].forward(h)
        self.mask = a > 0
        return self.layers[1].forward(a * self.mask) + h

    def backward(self, dy):
        da = self.layers[1].backward(dy) * self.mask
        np.add.at(self.table.grad, self.ids, dy + self.layers[0].backward(da))


class SoftmaxLoss:
    """A loss, after the accuracy: backward is given nothing."""

    def forward(self, logits, labels):
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        self.p, self.labels = p / p.sum(axis=1, keepdims=True), labels
        return (p.argmax(axis=1) == labels).mean(), -np.log(self.p[np.arange(len(labels)), labels]).mean()

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


class Beside(Tied):
    """Both shares are equal."""

    def forward(self, x):
        return self.first.forward(x) + self.last.forward(x)

    def backward(self, dout):
        return self.first.backward(dout) + self.last.backward(dout)


class CourseNet:
    """CS231n's: loss, grads = net.loss(X, y)."""

    def __init__(self):
        self.reg, self.params = 0.1, {"W": n(4, 3), "b": np.zeros(3)}

    def loss(self, x, y=None):
        w, end = self.params["W"], SoftmaxLoss()
        loss = end.forward(x @ w + self.params["b"], y)[1] + 0.5 * self.reg * np.sum(w**2)
        d = end.backward()
        return loss, {"W": x.T @ d + self.reg * w, "b": d.sum(axis=0)}


class Twins:
    """Two parameters of one shape, and gradients whose names do not tell them apart."""

    def __init__(self):
        self.p, self.q = n(3), n(3)

    def forward(self, x):
        self.x = x
        return x**2 * self.p + x * self.q

    def backward(self, dy):
        self.one, self.two = (dy * self.x**2).sum(axis=0), (dy * self.x).sum(axis=0)
        return dy * (2 * self.x * self.p + self.q)


class Squares:
    """A loss: its dy is 1 by default, and not used. An attribute that backward changes has the name of the input."""

    def forward(self, x):
        self.x = 2 * x
        return np.sum(x**2)

    def backward(self, dout=1):
        self.x = self.x[None]
        return self.x[0]


class Flat(Dense):
    """A learning rate that is not used."""

    def backward(self, dout, _):
        return super().backward(dout)
