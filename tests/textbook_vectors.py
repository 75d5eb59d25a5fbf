"""Losses of vectors of texts as their papers have them: one text after another, one number after another."""

import itertools
import math

import numpy as np


def cosine(a, b):
    return math.fsum(a * b) / (math.hypot(*a) * math.hypot(*b))


def in_batch_negatives(layer, vectors, texts):
    """A query's own text beside every other text of the batch that is not right for it, too; and likewise backwards."""
    groups, losses = range(len(vectors)), []

    def answers(q, group, column):
        same_query = column == 1 and texts[q, 0] == texts[group, 0]
        return (group, column) != (q, 1) and bool(same_query or texts[group, column] == texts[q, 1])

    def score(q, group, column):
        return layer.scale * cosine(vectors[q, 0], vectors[group, column])

    for q in groups:
        places = [(group, column) for group in groups for column in range(1, vectors.shape[1])]
        total = math.fsum(math.exp(score(q, *place)) for place in places if not answers(q, *place))
        back = math.fsum(math.exp(score(other, q, 1)) for other in groups if not answers(other, q, 1))
        ways = [total, back] if layer.both_ways else [total]
        losses.append(math.fsum(math.log(way) - score(q, q, 1) for way in ways) / len(ways))
    return np.asarray(math.fsum(losses) / len(losses)).astype(vectors.dtype)


def cosine_loss(layer, vectors, target):
    errors = [(cosine(a, b) - wanted) ** 2 for (a, b), wanted in zip(vectors, target, strict=True)]
    return np.asarray(math.fsum(errors) / len(errors)).astype(vectors.dtype)


def cosent(layer, vectors, target):
    cosines = [layer.error.scale * cosine(a, b) for a, b in vectors]
    pairs = itertools.permutations(range(len(target)), 2)
    terms = [math.exp(cosines[j] - cosines[i]) for i, j in pairs if target[i] > target[j]]
    return np.asarray(math.log(1 + math.fsum(terms))).astype(vectors.dtype)


def triplet_loss(layer, vectors, target):
    losses = [max(0.0, math.dist(a, p) - math.dist(a, n) + layer.margin) for a, p, n in vectors]
    return np.asarray(math.fsum(losses) / len(losses)).astype(vectors.dtype)
