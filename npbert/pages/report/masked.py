"""What a model guessed for hidden words, evaluation after evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from npbert.pages.html import escape
from npbert.pages.report.parts import isolated, paragraph, percent, section, table, text

_STEPS = 6

_WORDS = (
    "These sentences are always the same. The model has never seen them in training if the run has a held-out text. "
    "Words of them are hidden, and numbered here. Under each step stands what the model then thought most probable, "
    "with its probability; below it, the hidden word, with how probable that was to it. ✓ marks a right guess. "
    "At first the guesses are the commonest words; later they depend on the sentence."
)


def masked_section(rows: Sequence[dict[str, Any]]) -> str:
    """A table for each sentence, a row a hidden word, a column a step. rows: of shown.jsonl."""
    chosen = [rows[place] for place in np.unique(np.linspace(0, len(rows) - 1, _STEPS).round().astype(int))]
    tables = [_table(chosen, number) for number in range(len(chosen[-1]["sentences"]))]
    return section("hidden", "What it guesses for hidden words", paragraph(_WORDS), *tables)


def _table(rows: Sequence[dict[str, Any]], number: int) -> str:
    sentences = [row["sentences"][number] for row in rows]
    hidden = sentences[-1]["hidden"]
    head = ["hidden", *(f"step {row['step']:,}" for row in rows)]
    lines = [
        [f"{place}. {text(one['token'])}", *(_guess(sentence["hidden"][place - 1]) for sentence in sentences)]
        for place, one in enumerate(hidden, start=1)
    ]
    places = {one["place"]: place for place, one in enumerate(hidden, start=1)}
    sentence = isolated(_sentence(sentences[-1]["tokens"], places))
    return f'<p class="sentence">{sentence}</p>\n{table(head, lines, kind="guesses")}'


def _guess(one: dict[str, Any]) -> str:
    token, probability = one["guesses"][0]
    is_right = token == one["token"]
    guess = f"{text(token)} <span class='quiet'>{percent(probability)}</span>"
    if is_right:
        return f"<span class='right'>✓ {guess}</span>"
    return f"{guess}<br><span class='quiet'>{text(one['token'])}: {percent(one['probability'])}</span>"


def _sentence(tokens: Sequence[str], places: dict[int, int]) -> str:
    """The tokens as words again, with a number where one is hidden."""
    words: list[str] = []
    for index, token in enumerate(tokens):
        if index in places:
            words.append(f"<mark>[{places[index]}]</mark>")
        elif token.startswith("##") and words:
            words[-1] += escape(token.removeprefix("##"))
        elif not (token in ("[CLS]", "[SEP]") and index in (0, len(tokens) - 1)):
            words.append(escape(token))
    return " ".join(words)
