"""The formulas of positions that are in attention itself: a bias by distance, and rotation."""

import math

import numpy as np


def bucket(layer, distance):
    """The bucket of a distance, in words: near ones have their own, far ones share by their logarithm."""
    half = len(layer.weight.value) // 2
    near, far = half // 2, abs(distance)
    if far >= near:
        share = math.log(far / near) / math.log(layer.max_distance / near)
        far = min(half - 1, near + math.floor(share * (half - near) + 1e-9))
    return far + half if distance > 0 else far


def relative_bias(layer, distances):
    return np.array([layer.weight.value[bucket(layer, int(distance))] for distance in distances])


def rotary(layer, x, positions):
    """Each pair of a head as a complex number, turned by its angle, which is float32."""
    half = layer.features // 2
    y = x.astype(float).reshape(len(x), -1, 2, half).copy()
    for n, head, i in np.ndindex(len(x), y.shape[1], half):
        frequency = np.float32(1 / layer.base ** (2 * i / layer.features))
        angle = float(np.float32(positions[n]) * frequency)
        turned = complex(*y[n, head, :, i]) * complex(math.cos(angle), math.sin(angle))
        y[n, head, :, i] = turned.real, turned.imag
    return y.reshape(x.shape)
