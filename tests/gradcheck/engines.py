"""Two autograd engines, right: one of numbers, whose gradients are numbers, and one of arrays, whose are its values."""

import math

import numpy as np


class Value:
    __slots__ = "data", "grad", "parents", "step"

    def __init__(self, data, parents=()):
        self.data, self.grad, self.parents = data, 0, parents
        self.step = lambda: None

    def __add__(self, other):
        out = Value(self.data + other.data, (self, other))

        def step():
            self.grad += out.grad
            other.grad += out.grad

        out.step = step
        return out

    def __mul__(self, other):
        out = Value(self.data * other.data, (self, other))

        def step():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out.step = step
        return out

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, (self,))

        def step():
            self.grad += (1 - t**2) * out.grad

        out.step = step
        return out

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for parent in value.parents:
                    visit(parent)
                order.append(value)

        visit(self)
        self.grad = 1
        for value in reversed(order):
            value.step()


class Neuron:
    def __init__(self, *weights):
        self.weights, self.bias = [Value(each) for each in weights], Value(0)

    def __call__(self, inputs):
        total = self.bias
        for weight, value in zip(self.weights, inputs, strict=True):
            total = total + weight * value
        return total.tanh()


class Tensor:
    def __init__(self, value, op=None, inputs=()):
        self.value, self.op, self.inputs, self.gradient = value, op, inputs, None

    def __mul__(self, other):
        return Product()(self, other)

    def backward(self, gradient=None):
        gradient = gradient or Tensor(np.ones(self.value.shape))
        self.gradient = Tensor(gradient.value + self.gradient.value) if self.gradient else gradient
        for each, part in zip(self.inputs, self.op.gradient(gradient, self) if self.op else (), strict=True):
            each.backward(part)


class Op:
    def __call__(self, *inputs):
        return Tensor(self.compute(*[each.value for each in inputs]), self, inputs)


class Product(Op):
    def compute(self, a, b):
        return a * b

    def gradient(self, out, node):
        a, b = node.inputs
        return out * b, out * a


class Power(Op):
    def __init__(self, exponent):
        self.exponent = exponent

    def compute(self, a):
        return a**self.exponent

    def gradient(self, out, node):
        a = node.inputs[0]
        return (out * Tensor(self.exponent * a.value ** (self.exponent - 1)),)


class Array:
    """PyTorch's way: a value may be a constant, and backward needs a gradient unless y is a number."""

    def __init__(self, data, requires_grad=False):
        self.data, self.grad, self.requires_grad = data, 0.0, requires_grad

    def __mul__(self, other):
        out = Array(self.data * other.data, True)
        out.factors = (self, other), (other, self)
        return out

    def backward(self, grad=None):
        if grad is None and self.data.size > 1:
            raise RuntimeError("a gradient is missing")
        for one, other in self.factors:
            if one.requires_grad:
                one.grad = one.grad + other.data * (1.0 if grad is None else grad)


class Scaled:
    """A model with a forward."""

    def __init__(self, w):
        self.w = Array(w, True)

    def forward(self, x):
        return x * self.w

    __call__ = forward
