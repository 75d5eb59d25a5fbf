"""The page of a model that has learned a toy dialogue."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from npbert.core import IGNORED
from npbert.data import IS_NEXT, Dialogue, Example, join_pair, mask_each_word
from npbert.models import BertForMaskedLM, BertForPreTraining
from npbert.pages.number.page import write_number_page

LENGTH = 5


def write_dialogue_page(
    model: BertForMaskedLM | BertForPreTraining, dialogue: Dialogue, path: str | Path, rng: np.random.Generator
) -> None:
    """Write the page that shows all of the model, with each line of the dialogue, in which one word is masked: first a
    line of about five words, which fits on a screen. Of the last line, two words are masked.

    Raises: what write_number_page raises.
    """
    examples = []
    lines = sorted(dialogue.lines, key=lambda line: abs(len(line) - LENGTH))
    for line in lines:
        input_ids, token_type_ids = join_pair(line, None, dialogue.vocabulary)
        example = Example(input_ids, token_type_ids, [IGNORED] * len(input_ids), IS_NEXT)
        masked = mask_each_word(example, dialogue.vocabulary)
        examples.append(masked[rng.integers(len(masked))])
    if len(masked) > 1:  # of the last line, for a mean over several masked words
        examples[-1] = _both(*(masked[index] for index in rng.choice(len(masked), 2, replace=False)))
    write_number_page(model, examples, dialogue.vocabulary.tokens, path, optimizer={"lr": 1e-2})


def _both(one: Example, other: Example) -> Example:
    """The example in which both words are masked: each of the two has one of them."""
    ids = [b if one.labels[n] == IGNORED else one.input_ids[n] for n, b in enumerate(other.input_ids)]
    return replace(one, input_ids=ids, labels=np.maximum(one.labels, other.labels).tolist())
