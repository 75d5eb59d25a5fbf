"""Every layer's formula as the papers have it, with loops, one row or number at a time, in exact sums of float64; and
the models, put together from them.

A wrong forward whose backward agrees with it is invisible to gradcheck: only another forward shows it.
"""

import itertools
import math
from functools import partial

import numpy as np

from npbert.core import IGNORED, Sequences
from tests.textbook_positions import bucket, relative_bias, rotary
from tests.textbook_vectors import cosent, cosine_loss, in_batch_negatives, triplet_loss


def each(function, layer, x):
    return np.array([function(float(value)) for value in x.flat]).reshape(x.shape)


ACTIVATIONS = {
    "gelu": lambda x: x * math.erfc(-x / math.sqrt(2)) / 2,
    "gelu_new": lambda x: x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    "relu": lambda x: x if x > 0 else 0.0,
    "silu": lambda x: x / (1 + math.exp(-x)),
}
ACTIVATIONS["gelu_pytorch_tanh"] = ACTIVATIONS["gelu_new"]


def linear(layer, x):
    w, b = layer.weight.value.astype(float), layer.bias.value.astype(float)
    return np.array([[math.fsum([*(row * column), c]) for column, c in zip(w.T, b, strict=True)] for row in x])


def softmax(layer, x):
    exponentials = [[math.exp(value - max(row)) for value in row] for row in x.tolist()]
    return np.array([[e / math.fsum(row) for e in row] for row in exponentials])


def layer_norm(layer, x):
    y = np.empty(x.shape)
    for n, row in enumerate(x.astype(float)):
        mean = math.fsum(row) / len(row)
        sigma = math.sqrt(math.fsum((row - mean) ** 2) / len(row) + layer.eps)
        y[n] = layer.gamma.value * ((row - mean) / sigma) + layer.beta.value
    return y


def embedding(layer, ids):
    return np.array([layer.weight.value[int(i)] for i in ids])


def sinusoidal(t, features):
    i = np.arange(features)
    angles = t[:, None] / 10000 ** ((i - i % 2) / features)
    return np.where(i % 2, np.cos(angles), np.sin(angles))


def unpack(layer, x, places, shape):
    y = np.zeros((*shape, x.shape[1]))
    for row, place in zip(x, places.tolist(), strict=True):
        y[divmod(place, shape[1])] = row
    return y


def cross_entropy(layer, logits, labels, weights=None):
    p = softmax(None, logits)
    weights = np.ones(len(labels)) if weights is None else weights
    surprises = [-weights[n] * math.log(p[n, label]) for n, label in enumerate(labels.tolist()) if label != IGNORED]
    return np.float64(math.fsum(surprises) / len(surprises))


def binary_cross_entropy(layer, logits, labels):
    return cross_entropy(None, np.stack([0 * logits, logits], axis=-1).reshape(-1, 2), labels.reshape(-1))


def probabilities(q, k):
    """(M, T): how much each query takes from each key of its sequence, in one head of d features."""
    return shares(None, 0, q, k, np.zeros(len(q)))


def shares(layer, head, q, k, at):
    """As probabilities, for the distances from queries at the positions `at` to the keys."""
    bias, reach = getattr(layer, "bias", None), getattr(layer, "reach", None)
    scores = np.array([[query @ key / math.sqrt(len(key)) for key in k] for query in q.astype(float)])
    for i, j in np.ndindex(scores.shape):
        distance = j - int(at[i])
        scores[i, j] += bias.weight.value[bucket(bias, distance), head] if bias else 0.0
        scores[i, j] = scores[i, j] if reach is None or abs(distance) <= reach else -math.inf
    return softmax(None, scores)


def dot_product(layer, q, k, v, sequences=None):
    """Head after head, in each sequence by itself."""
    c, d = np.empty(q.shape), q.shape[1] // layer.num_heads
    query, key = 0, 0
    sequences = Sequences([len(k)], [len(q)]) if sequences is None else sequences
    for m, t in zip(sequences.query_lengths, sequences.lengths, strict=True):
        for head in range(layer.num_heads):
            features = slice(head * d, (head + 1) * d)
            own_q, own_k = q[query : query + m, features], k[key : key + t, features]
            at = sequences.query_positions[query : query + m]
            if m:
                p = shares(layer, head, own_q, own_k, at)
                c[query : query + m, features] = p @ v[key : key + t, features]
        query, key = query + m, key + t
    return c


def rotary_attention(layer, q, k, v, sequences):
    q, k = rotary(layer.rotary, q, sequences.query_positions), rotary(layer.rotary, k, sequences.positions)
    return dot_product(layer.attention, q, k, v, sequences)


def attention(layer, x, z, sequences=None):
    q, k, v = linear(layer.query, x), linear(layer.key, z), linear(layer.value, z)
    return linear(layer.output, dot_product(layer.dot_product, q, k, v, sequences))


def feed_forward(layer, x, activation="gelu"):
    return linear(layer.output, each(ACTIVATIONS[activation], None, linear(layer.intermediate, x)))


def encoder_layer(layer, x, z, sequences, activation="gelu"):
    h = layer_norm(layer.attention_norm, x + attention(layer.attention, x, z, sequences))
    return layer_norm(layer.output_norm, h + feed_forward(layer.feed_forward, h, activation))


def gated_feed_forward(layer, x, activation="gelu"):
    gate = each(ACTIVATIONS[activation], None, linear(layer.gate, x))
    return linear(layer.output, gate * linear(layer.intermediate, x))


def pre_norm_layer(layer, x, z, sequences):
    n_x, n_z = (layer_norm(layer.attention_norm, rows) for rows in (x, z))
    h = x + attention(layer.attention, n_x, n_z, sequences)
    return h + feed_forward(layer.feed_forward, layer_norm(layer.output_norm, h))


def encoder(
    layer,
    x,
    sequences=None,
    read=None,
    activations=("gelu", "gelu_new"),
):
    for part, activation in zip(layer.layers, activations, strict=True):
        x = encoder_layer(part, x, x, sequences, activation)
    return x if read is None else x[read]


def pre_norm_encoder(layer, x, sequences, read):
    for part in layer.layers:
        x = pre_norm_layer(part, x, x, sequences)
    return layer_norm(layer.norm, x)[read]


def embeddings(layer, ids, types, t, *, is_learned=True):
    word, kind = embedding(layer.word_embeddings, ids), embedding(layer.token_type_embeddings, types)
    where = embedding(layer.position_embeddings, t) if is_learned else sinusoidal(t, word.shape[1])
    return layer_norm(layer.layer_norm, word + where + kind)


def mean_pooling(layer, x, sequences):
    parts = by_sequence(x.astype(float), sequences)
    return np.array([[math.fsum(column) / len(part) for column in part.T] for part in parts])


def masked_lm_head(layer, x, activation="gelu"):
    h = layer_norm(layer.layer_norm, each(ACTIVATIONS[activation], None, linear(layer.dense, x)))
    return h @ layer.table.value.astype(float).T + layer.bias.value


def pooler(layer, x):
    return each(math.tanh, None, linear(layer.dense, x))


def hidden_states(model, ids, types, t):
    """Of one sequence: the embeddings, and what each layer of the model makes of them."""
    bert, config = getattr(model, "bert", model), model.config
    states = [embeddings(bert.embeddings, ids, types, t, is_learned=config.position_embedding_type == "absolute")]
    for layer in bert.encoder.layers:
        states.append(encoder_layer(layer, states[-1], states[-1], None, config.hidden_act))
    return states


def head(model, h):
    """What a model makes of the last hidden state of one sequence: (T, ·) of its tokens, then (·) of the whole."""
    bert = getattr(model, "bert", model)
    pooled = pooler(bert.pooler, h[:1]) if bert.pooler else None
    if hasattr(model, "classifier"):
        return [linear(model.classifier, h) if pooled is None else linear(model.classifier, pooled)[0]]
    if hasattr(model, "predictions"):
        words = masked_lm_head(model.predictions, h, model.config.hidden_act)
        return [words, *([] if pooled is None else [linear(model.seq_relationship, pooled)[0]])]
    if hasattr(model, "qa_outputs"):
        return [linear(model.qa_outputs, h)]
    return [h.mean(axis=0)] if pooled is None else [h, pooled[0]]


def outputs(model, batch):
    """The outputs of a model for a batch without labels: each sequence by itself, and 0 for padding."""
    *leading, length = batch.input_ids.shape
    arrays = (a.reshape(-1, length) for a in (batch.input_ids, batch.token_type_ids, batch.attention_mask != 0))
    found = []
    for ids, types, real in zip(*arrays, strict=True):
        of_one = head(model, hidden_states(model, ids[real], types[real], np.flatnonzero(real))[-1])
        for n, output in enumerate(of_one):
            if output.ndim == 2:
                of_one[n] = np.zeros((length, output.shape[1]))
                of_one[n][real] = output
        found.append(of_one)
    whole = [np.array(of_all).reshape(*leading, *of_all[0].shape) for of_all in zip(*found, strict=True)]
    if type(model).__name__ == "BertForQuestionAnswering":  # start and end apart
        return [whole[0][..., 0], whole[0][..., 1]]
    return [whole[0][..., 0]] if type(model).__name__ == "BertForMultipleChoice" else whole


def by_sequence(x, sequences):
    return [x[start:stop] for start, stop in itertools.pairwise(sequences.offsets.tolist())]


def root_pooling(layer, x, sequences):
    return mean_pooling(layer, x, sequences) * np.sqrt(sequences.lengths)[:, None]


FORMULAS = {
    "Linear": linear,
    "Tanh": partial(each, math.tanh),
    "ReLU": partial(each, ACTIVATIONS["relu"]),
    "GELU": partial(each, ACTIVATIONS["gelu"]),
    "TanhGELU": partial(each, ACTIVATIONS["gelu_new"]),
    "SiLU": partial(each, ACTIVATIONS["silu"]),
    "Softmax": softmax,
    "LayerNorm": layer_norm,
    "Dropout": lambda layer, x: x,
    "Embedding": embedding,
    "Gather": lambda layer, x, rows: np.array([x[int(row)] for row in rows]).reshape(-1, x.shape[1]),
    "Unpack": unpack,
    "SoftmaxCrossEntropy": cross_entropy,
    "WeightedCrossEntropy": cross_entropy,
    "BinaryCrossEntropy": binary_cross_entropy,
    "MeanSquaredError": lambda layer, y, target: np.float64(math.fsum(((y - target) ** 2).flat) / y.size),
    "DotProductAttention": dot_product,
    "DistanceAttention": dot_product,
    "Rotary": rotary,
    "RelativeBias": relative_bias,
    "FeedForward": feed_forward,
    "FeedForward, gelu_new": partial(feed_forward, activation="gelu_new"),
    "FeedForward, relu": partial(feed_forward, activation="relu"),
    "GatedFeedForward": gated_feed_forward,
    "GatedFeedForward, silu, no biases": partial(gated_feed_forward, activation="silu"),
    "MultiHeadAttention": attention,
    "RotaryAttention": rotary_attention,
    "EncoderLayer": encoder_layer,
    "PreNormEncoderLayer": pre_norm_layer,
    "Checkpointed": lambda layer, *inputs: encoder_layer(layer.layer, *inputs),
    "Encoder": encoder,
    "Encoder, one layer three times": partial(encoder, activations=("gelu",) * 3),
    "Encoder, pre-norm": pre_norm_encoder,
    "BertEmbeddings": embeddings,
    "BertEmbeddings, sinusoidal": partial(embeddings, is_learned=False),
    "Pooler": pooler,
    "MeanPooling": mean_pooling,
    "MeanPooling, over the square root": root_pooling,
    "MaxPooling": lambda layer, x, sequences: np.array([rows.max(axis=0) for rows in by_sequence(x, sequences)]),
    "UnitLength": lambda layer, x: np.array([row / math.hypot(*row) for row in x]),
    "InBatchNegatives": in_batch_negatives,
    "CosineLoss": cosine_loss,
    "CoSENT": cosent,
    "TripletLoss": triplet_loss,
    "MaskedLMHead": masked_lm_head,
    "NextSentenceHead": linear,
    "ReplacedTokenHead": feed_forward,
}
"""By the names of the catalogue, or the part of them before a comma."""
