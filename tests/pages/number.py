"""A model for the tests of the page "Follow one number back", smaller than any that is shown, and its page."""

from functools import cache

import numpy as np

from npbert import IGNORED, BertConfig, BertForMaskedLM, randomize
from npbert.data import Example

VOCABULARY = [
    *["[PAD]", "[CLS]", "[SEP]", "[MASK]", "how", "are", "you", "hello", "i", "am", "well", "where"],
    "<script>alert(1)</script>",
    "\"'&",
]
HOSTILE = VOCABULARY[-2:]
SIZES = {"hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 6}
EXAMPLES = [
    ("[CLS] how are [MASK] how [SEP]", [6]),
    ("[CLS] i [MASK] [MASK] [SEP]", [9, 10]),
    ("[CLS] <script>alert(1)</script> are [MASK] \"'& [SEP]", [12]),
    ("[CLS] hello [MASK] [SEP]", [6]),
]


def example(text, answers):
    """An Example from its tokens and the ids of what is hidden."""
    ids = [VOCABULARY.index(word) for word in text.split()]
    right = iter(answers)
    return Example(ids, [0] * len(ids), [next(right) if index == 3 else IGNORED for index in ids], 0)


EXAMPLES = [example(*each) for each in EXAMPLES]


@cache
def small_model():
    """One layer, 4 wide, with random parameters, biases too."""
    sizes = {**SIZES, "vocab_size": len(VOCABULARY), "max_position_embeddings": 8}
    no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    model = BertForMaskedLM(BertConfig(**sizes, **no_dropout), rng=None, dtype=np.float64)
    randomize(model, np.random.default_rng(3))
    return model


# -- in the browser


def number(text):
    """A number as the page writes it."""
    return float(text.replace("\u2212", "-").replace("\xa0%", ""))


def choose(page, name, row, column):
    page.evaluate(f"npbert.choose({{name: '{name}', row: {row}, column: {column}}})")


def plant(page, bug):
    page.click("#tab-break")
    page.check(f"input[value='{bug}']")
