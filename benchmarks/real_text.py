"""Batches of real text: pre-training batches from books, sentences from STS-B."""

from __future__ import annotations

import shutil
import tempfile
from itertools import islice
from pathlib import Path

import numpy as np
from task import Array, Arrays

from npbert.core import IGNORED
from npbert.data import (
    IS_NEXT,
    Batch,
    Example,
    Tokenizer,
    collate,
    draw_pairs,
    join_pair,
    load_dialogue,
    make_example,
    mask_words,
    pad_rows,
)
from npbert.data.corpus import Corpus
from npbert.data.training_data import PretrainingData

BATCHES, BATCH_SIZE, MAX_LENGTH = 4, 32, 128


def books(data: Path) -> tuple[Corpus, Tokenizer]:
    """The books, and a tokenizer with the vocabulary beside them."""
    with tempfile.TemporaryDirectory() as folder:
        return Corpus([data / "gutenberg"], document_per_file=True), vocabulary(data, Path(folder))


def vocabulary(data: Path, folder: Path) -> Tokenizer:
    """The tokenizer with the vocabulary in the data, which is copied into `folder`."""
    (file,) = sorted((data / "vocab").glob("*.txt"))
    shutil.copy(file, folder / "vocab.txt")
    return Tokenizer.from_pretrained(folder)


def arrays(batch: Batch) -> Arrays:
    return {name: array for name, array in vars(batch).items() if array is not None}


def dialogue_padded_to_30() -> list[Arrays]:
    """Six pairs of the toy dialogue's lines, as the documents train on them: all sequences 30 tokens long."""
    rng, dialogue = np.random.default_rng(0), load_dialogue(6)
    pairs = draw_pairs(len(dialogue.lines), 6, rng)
    batch = collate([make_example(dialogue, pair, rng) for pair in pairs], pad_id=dialogue.vocabulary.pad_id)
    missing = 30 - batch.input_ids.shape[1]
    return [
        {
            name: np.pad(array, ((0, 0), (0, missing)), constant_values=IGNORED if name == "labels" else 0)
            if array.ndim == 2
            else array
            for name, array in arrays(batch).items()
        }
    ]


def packed(data: Path) -> list[Arrays]:
    """Sequences as full as the paper packs them; 1 in 10 is shorter."""
    corpus, tokenizer = books(data)
    batches = PretrainingData(corpus, tokenizer, batch_size=BATCH_SIZE, max_length=MAX_LENGTH).batches(0)
    return [arrays(batch) for _, batch in islice(batches, BATCHES)]


def pairs(data: Path) -> list[Arrays]:
    """Each sequence is a sentence and the one after it, from all over the books, whatever their length."""
    corpus, tokenizer = books(data)
    rng = np.random.default_rng(0)
    examples = []
    for piece in rng.permutation(len(corpus))[: BATCHES * BATCH_SIZE]:
        sentences = tokenizer.pieces(corpus.read(int(piece)))
        place = int(rng.integers(len(sentences) - 1))
        first, second = sentences[place : place + 2]
        example = join_pair(first, second, tokenizer)
        ids, types = example.input_ids[:MAX_LENGTH], example.token_type_ids[:MAX_LENGTH]
        masked, labels = mask_words(ids, tokenizer, rng, max_predictions=len(ids))
        examples.append(Example(masked, types, labels, IS_NEXT))
    starts = range(0, len(examples), BATCH_SIZE)
    return [arrays(collate(examples[start : start + BATCH_SIZE], pad_id=tokenizer.pad_id)) for start in starts]


def stsb_ids(checkpoint: str, data: Path) -> list[Array]:
    """The tokens of each sentence of STS-B's development set, as the checkpoint's tokenizer gives them."""
    lines = (data / "stsb" / "sts-dev.csv").read_text(encoding="utf-8").split("\n")
    texts = [text for line in lines if line for text in line.split("\t")[5:7]]
    return [np.array(encoding.ids) for encoding in Tokenizer.from_pretrained(checkpoint).encode(texts)]


def one_of_16(sentences: list[Array]) -> list[Arrays]:
    return [_padded([next(ids for ids in sentences if len(ids) == 16)])]


def first_32(sentences: list[Array]) -> list[Arrays]:
    """In one batch, as they come."""
    return [_padded(sentences[:32])]


def all_by_length(sentences: list[Array]) -> list[Arrays]:
    """In batches of 128, sorted by length, so that little is padded.

    (npbert and transformers are slower in batches of 32.)
    """
    ordered = sorted(sentences, key=len)
    return [_padded(ordered[start : start + 128]) for start in range(0, len(ordered), 128)]


def _padded(sentences: list[Array]) -> Arrays:
    """[PAD] is 0 in every vocabulary of BERT."""
    ids = pad_rows([ids.tolist() for ids in sentences], 0)
    mask = pad_rows([[1] * len(ids) for ids in sentences], 0)
    return {"input_ids": ids, "token_type_ids": np.zeros_like(ids), "attention_mask": mask}
