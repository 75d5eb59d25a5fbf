"""Checkpoints small enough to make for a test: a model of random weights of size 1, and a vocabulary of 20 tokens."""

import numpy as np

from npbert import BertConfig, BertModel, Embed, randomize
from tests.later import needs

for _library in ("tokenizers", "safetensors", "tqdm"):
    needs(_library, "-e '.[hf]'")

VOCABULARY = "[PAD] [UNK] [CLS] [SEP] [MASK] the a cat dog sat ran on mat road un ##aff ##able café . ?"
WORDS = VOCABULARY.split()
LONGEST = 32


def write_vocabulary(folder):
    """A folder with a vocab.txt of WORDS."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    return folder


def small_model(model_class, **changes):
    """A model over WORDS with D = 12, two layers, LONGEST positions and random parameters, biases too."""
    sizes = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2}
    sizes |= {"vocab_size": len(WORDS), "intermediate_size": 10, "max_position_embeddings": LONGEST}
    model = model_class(BertConfig(**{**sizes, **changes}), rng=None)
    randomize(model, np.random.default_rng(5))
    return model


def write_checkpoint(folder, model_class, **changes):
    """A folder with a small model and its vocabulary, as from_pretrained wants it."""
    small_model(model_class, **changes).save_pretrained(folder)
    return write_vocabulary(folder)


def write_sentence_transformer(folder, pooling, *, max_length):
    """A folder with a model of sentence-transformers that normalizes its vectors."""
    options = {"pooling": pooling, "normalize": True, "max_length": max_length}
    Embed.from_pretrained(write_checkpoint(folder, BertModel), **options).save_pretrained(folder, overwrite=True)
    return folder
