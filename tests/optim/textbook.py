"""The algorithms of the optimisers, on one Python float at a time."""

import math

import numpy as np


def adam(theta, gradients, *, lr, betas, eps, weight_decay=0.0):
    """Kingma & Ba 2015, algorithm 1; with weight decay, Loshchilov & Hutter 2019, algorithm 2. -> θ, m, v"""
    (beta1, beta2), m, v = betas, 0.0, 0.0
    for t, g in enumerate(gradients, start=1):
        theta -= lr * weight_decay * theta
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        theta -= lr * (m / (1 - beta1**t)) / (math.sqrt(v / (1 - beta2**t)) + eps)
    return theta, m, v


def adadelta(theta, gradients, *, lr, rho, eps):
    """Zeiler 2012, algorithm 1. -> θ, v, u"""
    v = u = 0.0
    for g in gradients:
        v = rho * v + (1 - rho) * g * g
        delta = g * math.sqrt(u + eps) / math.sqrt(v + eps)
        u = rho * u + (1 - rho) * delta * delta
        theta -= lr * delta
    return theta, v, u


def by_numbers(algorithm, value, gradients, **options):
    """What the algorithm gives for each number in `value`, after the steps of gradients (steps, *shape of value)."""
    numbers = zip(value.ravel().tolist(), gradients.reshape(len(gradients), -1).T.tolist(), strict=True)
    results = [algorithm(theta, of_theta, **options) for theta, of_theta in numbers]
    return [np.reshape(column, value.shape) for column in zip(*results, strict=True)]


def take_steps(optimizer, gradients, scale=1.0):
    """A step for each of the gradients (steps, *shape) of the parameters."""
    for of_one_step in zip(*gradients, strict=True):
        for parameter, gradient in zip(optimizer.parameters, of_one_step, strict=True):
            parameter.zero_grad()
            parameter.add_grad(np.array(gradient))
        optimizer.step(scale)
