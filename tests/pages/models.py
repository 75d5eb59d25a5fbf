"""Models and sentences small enough for the page, and everything that npbert computes of them on the way."""

import shutil

import numpy as np
import pytest

from npbert import IGNORED, BertConfig, BertForMaskedLM, BertForPreTraining, Tape, randomize
from npbert.data import Example, collate

VOCABULARY = ["you", "[PAD]", "[CLS]", "[SEP]", "[MASK]", *("how", "are", "hello", "i", "am", "romeo", "and")]


def example(text, vocabulary=VOCABULARY):
    """`how [are] you | i am`: in brackets is what is masked, and | parts two sentences."""
    words = f"[CLS] {text} [SEP]".replace(" | ", " [SEP] ").split()
    is_hidden = [word not in vocabulary for word in words]
    ids = [vocabulary.index(word if word in vocabulary else word[1:-1]) for word in words]
    labels = np.where(is_hidden, ids, IGNORED).tolist()
    shown = np.where(is_hidden, vocabulary.index("[MASK]"), ids).tolist()
    return Example(shown, [words[:at].count("[SEP]") for at in range(len(words))], labels, 0)


EXAMPLES = [
    example(text)
    for text in (
        "how are [you]",
        "[how] are you and you and [romeo]",  # a word twice, and two masks
        "hello [i] am | how are [you]",  # two sentences
        "[hello]",
        "i am romeo and you are [how] hello hello hello i",
    )
]

FOLLOWED = [
    {"name": name, "row": row, "column": column}
    for name, row, column in (
        ("bert.embeddings.position_embeddings.weight", 2, 1),
        ("bert.embeddings.word_embeddings.weight", 0, 2),  # as it comes in, and as an answer
        ("bert.encoder.layers.0.attention.query.weight", 1, 2),
        ("predictions.layer_norm.gamma", 0, 2),
    )
]
"""Numbers whose paths to the loss are asked for."""


def make_model(kind, seed, **config):
    """With random parameters, biases too."""
    defaults = {"vocab_size": len(VOCABULARY), "max_position_embeddings": 14, "initializer_range": 0.4}
    model = kind(BertConfig(**{**defaults, **config}), rng=np.random.default_rng(seed), dtype=np.float64)
    randomize(model, np.random.default_rng(seed))
    return model


def size(d, h, layers, f):
    return {"hidden_size": d, "num_attention_heads": h, "num_hidden_layers": layers, "intermediate_size": f}


def make_models():
    """Three models that differ in all that the page knows of."""
    return [
        make_model(BertForMaskedLM, 1, **size(4, 2, 2, 6)),
        make_model(
            BertForPreTraining, 2, **size(6, 1, 1, 10), hidden_act="relu", layer_norm_eps=1e-5, type_vocab_size=3
        ),
        make_model(BertForMaskedLM, 3, **size(8, 4, 2, 5), hidden_act="gelu_new", position_embedding_type="sinusoidal"),
    ]


def loss_and_gradients(model, examples):
    """The loss of the masked words alone, and the gradient of each parameter by name, by npbert's own model."""
    model.zero_grad()
    tape, batch = Tape(), collate(examples, pad_id=0)
    losses = model.loss(batch, tape)
    is_pair = isinstance(model, BertForPreTraining)
    model.loss_backward((1.0, 0.0) if is_pair else 1.0, tape)
    loss = losses.mlm_loss if is_pair else losses.loss
    return float(loss), {name: parameter.grad.copy() for name, parameter in model.named_parameters()}


def find_node():
    """Node, or the one that comes with playwright."""
    if found := shutil.which("node"):
        return found
    driver = pytest.importorskip("playwright._impl._driver", reason="there is no node: install Node.js, or playwright")
    return str(driver.compute_driver_executable()[0])
