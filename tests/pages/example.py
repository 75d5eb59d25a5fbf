"""A BERT small enough to see whole, trained on the toy dialogue in seconds: `python -m tests.pages.example OUT.json`."""

import json
import re
import sys
from pathlib import Path

import numpy as np

from npbert import IGNORED, AdamW, BertConfig, BertForMaskedLM, Tape, clip_by_global_norm, linear_warmup_decay
from npbert.data import DIALOGUES, Example, Vocabulary, collate, join_pair, mask_words, split_words
from npbert.pages.number.export import export

LONGEST = 12
SIZE = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
SHOWN = ("hello how are [you]", "where [are] you [going] today", "how [are] you | i am [romeo]")
"""In brackets: what is masked."""


def sentences_of(dialogue):
    """The sentences of a dialogue, each as a list of words: shorter than its lines, which hold several."""
    parts = (split_words(part) for line in dialogue for part in re.split(r"[.!?]", line))
    return [words for words in parts if words]


def shown(text, vocabulary):
    """An example from a line of SHOWN."""
    parts = [part.split() for part in text.split("|")]
    words = [[word.strip("[]") for word in part] for part in parts]
    masked = [word.startswith("[") for part in parts for word in [*part, ""]]
    ids, types = join_pair(*[vocabulary.encode(part) for part in words], *[None] * (2 - len(words)), vocabulary)
    masked = [False, *masked]
    labels = [word if hidden else IGNORED for word, hidden in zip(ids, masked, strict=True)]
    hidden = [vocabulary.mask_id if is_hidden else word for word, is_hidden in zip(ids, masked, strict=True)]
    return Example(hidden, types, labels, 0)


def train(steps=700, seed=0, **changes):
    """The model, its vocabulary and the loss of the last hundred steps."""
    sentences = sentences_of(DIALOGUES[9])
    vocabulary = Vocabulary(word for sentence in sentences for word in sentence)
    lines = [vocabulary.encode(sentence) for sentence in sentences]
    texts = [(line, None) for line in lines] + list(zip(lines[:-1], lines[1:], strict=True))
    texts = [join_pair(first, second, vocabulary) for first, second in texts]
    texts = [text for text in texts if len(text[0]) <= LONGEST]
    rng = np.random.default_rng(seed)
    no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "initializer_range": 0.3}
    sizes = {**SIZE, "vocab_size": len(vocabulary), "max_position_embeddings": LONGEST, **no_dropout, **changes}
    model = BertForMaskedLM(BertConfig(**sizes), rng=rng, dtype=np.float64)
    optimizer = AdamW(model.parameters(), lr=0.0)
    losses = []
    for step in range(steps):
        chosen = rng.choice(len(texts), 16)
        examples = [Example(*masked(texts[i], vocabulary, rng), 0) for i in chosen]
        model.zero_grad()
        tape = Tape()
        losses.append(model.loss(collate(examples, pad_id=vocabulary.pad_id), tape).loss)
        model.loss_backward(1.0, tape)
        clip_by_global_norm(model.parameters(), 1.0)
        optimizer.lr = linear_warmup_decay(step, lr=2e-2, warmup_steps=steps // 10, total_steps=steps)
        optimizer.step()
    return model, vocabulary, float(np.mean(losses[-100:])), texts


def masked(text, vocabulary, rng):
    """ids, types, labels with fresh masks."""
    ids, labels = mask_words(text[0], vocabulary, rng)
    return ids, text[1], labels


def main(path):
    model, vocabulary, loss, texts = train()
    print(f"loss {loss:.3f}")
    rng = np.random.default_rng(1)
    examples = [shown(text, vocabulary) for text in SHOWN]
    examples += [Example(*masked(text, vocabulary, rng), 0) for text in texts]
    data = export(model, examples, vocabulary.tokens, title="A dialogue", optimizer={"lr": 1e-2})
    Path(path).write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
