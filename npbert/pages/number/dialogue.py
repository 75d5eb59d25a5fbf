"""The page of a model that has learned a toy dialogue."""

from __future__ import annotations

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
    line of about five words, which fits on a screen.

    Raises: what write_number_page raises.
    """
    examples = []
    for line in sorted(dialogue.lines, key=lambda line: abs(len(line) - LENGTH)):
        input_ids, token_type_ids = join_pair(line, None, dialogue.vocabulary)
        example = Example(input_ids, token_type_ids, [IGNORED] * len(input_ids), IS_NEXT)
        masked = mask_each_word(example, dialogue.vocabulary)
        examples.append(masked[rng.integers(len(masked))])
    write_number_page(model, examples, dialogue.vocabulary.tokens, path, optimizer={"lr": 1e-2})
