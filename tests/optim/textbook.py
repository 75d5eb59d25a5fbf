"""The algorithms of the optimisers, as they are printed."""

import numpy as np

from npbert.optim import adam as adam_of_the_paper


def adam(theta, gradients, *, lr, weight_decay=0.0, **options):
    """Kingma & Ba 2015, algorithm 1; with weight decay, Loshchilov & Hutter 2019, algorithm 2. -> θ, m, v"""
    m = v = np.zeros(theta.shape)
    for t, g in enumerate(gradients, start=1):
        theta = theta - lr * weight_decay * theta
        theta, m, v = adam_of_the_paper(theta, g, m, v, t=t, alpha=lr, **options)
    return theta, m, v


def adadelta(theta, gradients, *, lr, rho, eps):
    """Zeiler 2012, algorithm 1. -> θ, v, u"""
    v = u = np.zeros(theta.shape)
    for g in gradients:
        v = rho * v + (1 - rho) * g * g
        delta = g * np.sqrt(u + eps) / np.sqrt(v + eps)
        u = rho * u + (1 - rho) * delta * delta
        theta = theta - lr * delta
    return theta, v, u


def take_steps(optimizer, gradients, scale=1.0):
    """A step for each of the gradients (steps, *shape) of the parameters."""
    for of_one_step in zip(*gradients, strict=True):
        for parameter, gradient in zip(optimizer.parameters, of_one_step, strict=True):
            parameter.zero_grad()
            parameter.add_grad(np.array(gradient))
        optimizer.step(scale)
