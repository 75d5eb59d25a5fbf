"""The model of the toy dialogue: its answers, and how to save it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from npbert.core import IGNORED
from npbert.data import IS_NEXT, Dialogue, collate, join_pair, split_words, word_tokenizer
from npbert.inference.task import Task
from npbert.layers import Softmax
from npbert.models import BertForPreTraining


def replies(model: BertForPreTraining, dialogue: Dialogue, text: str) -> Iterator[str]:
    """Yield the model's answer to a text, in lines: the words for each [MASK]; for two lines with | between them, the
    probability that the second follows the first; for one line without [MASK], the line that follows it.

    Raises: ValueError for an unknown word, and for a line that is too long.
    """
    vocabulary, softmax = dialogue.vocabulary, Softmax()
    words = [["[MASK]" if word == "[mask]" else word for word in split_words(part)] for part in text.split("|", 1)]
    first, *second = map(vocabulary.ids, words)
    candidates: Sequence[list[int] | None] = second or ([None] if vocabulary.mask_id in first else dialogue.lines)
    batch = collate([join_pair(first, line, vocabulary) for line in candidates], pad_id=vocabulary.pad_id)
    batch.labels = np.where(batch.input_ids == vocabulary.mask_id, 0, IGNORED)  # 0 marks a word to predict
    output = model(batch)
    for probabilities in softmax(output.prediction_logits):
        best = probabilities.argsort()[::-1][:3]
        shares = zip(vocabulary.decode(best), probabilities[best], strict=True)
        yield f"[MASK] is {', '.join(f'{word} ({share:.1%})' for word, share in shares)}"
    follows = softmax(output.seq_relationship_logits)[:, IS_NEXT]
    if second:
        yield f"the second line follows the first: {follows[0]:.1%}"
    elif len(candidates) > 1:
        yield f"{dialogue.text[follows.argmax()]} ({follows.max():.1%})"


def save_dialogue_model(
    model: BertForPreTraining, dialogue: Dialogue, folder: str | Path, *, overwrite: bool = False
) -> None:
    """Write the model and its words into a folder for `npbert` and transformers. (Extra: hf.)

    The model gets one more token, [UNK], for unknown words: the mean of all others.

    Raises: FileExistsError for a folder with another model, unless `overwrite`.
    """
    tokenizer = word_tokenizer(dialogue.vocabulary)
    larger = BertForPreTraining(replace(model.config, vocab_size=len(tokenizer)), rng=None)
    for old, new in zip(model.parameters(), larger.parameters(), strict=True):
        new.value[...] = old.value.mean(axis=0)
        new.value[: len(old.value)] = old.value
    Task(larger, tokenizer).save_pretrained(folder, overwrite=overwrite)
