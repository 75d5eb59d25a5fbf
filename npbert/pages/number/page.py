"""The page itself: one HTML file with data, style and program. Its sentences are texts with [MASK], or a toy
dialogue."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from npbert.core import IGNORED
from npbert.data import SPECIAL, Dialogue, Example, join_pair
from npbert.inference import FillMask
from npbert.io import counted, write_where_asked
from npbert.models import BertForMaskedLM, BertForPreTraining
from npbert.pages.html import PAGES, json_script, module_script, page, resource
from npbert.pages.number.export import export

FOLDER = "number"
STYLES = ("page", "stage", "panels", "fit")
_PART = re.compile(r"<!-- (\w+\.html) -->")
_CHAPTER = re.compile(r'<a\s+href="docs/([\w-]+)\.md">([^<]*)</a>')
MASK = SPECIAL["mask_id"]
LENGTH = 5
"""The number of words of a dialogue's line that fit on a screen."""


def write_number_page(data: dict[str, Any], path: str | Path) -> None:
    """Write the page of a small model: one HTML file, which needs no network. data: from `export`, or `dialogue_data`.

    Raises: OSError if the file cannot be written.
    """
    write_where_asked(path, [number_page(data).encode()])


def number_page(data: dict[str, Any]) -> str:
    """Return the page as HTML. data: from `export`; for the site, which has the chapters, also `is_in_site`;
    `is_guessed` where the labels are the model's own guesses."""
    chapter = r'<a href="docs/\1.html">\2</a>' if "is_in_site" in data else r"\2"
    body = _PART.sub(lambda part: resource(f"{FOLDER}/{part[1]}"), resource(f"{FOLDER}/page.html"))
    parts = [_CHAPTER.sub(chapter, body), json_script("data", data), module_script(modules())]
    style = "\n".join(resource(f"{FOLDER}/css/{name}.css") for name in STYLES)
    return page("Follow one number back", "\n".join(parts), style=style)


def modules() -> list[str]:
    """Return the paths in pages/ of all modules of the page, main.js last: only main.js runs when it is read."""
    scripts = [path.relative_to(PAGES).as_posix() for path in (PAGES / FOLDER / "js").rglob("*.js")]
    return sorted(scripts, key=lambda path: (path.endswith("/main.js"), path))


def masked_sentences(task: FillMask, texts: Sequence[str], answers: Sequence[str] = ()) -> list[Example]:
    """Return an example for each text, with the answers as the targets of its [MASK]s, in order.

    answers: a token for every [MASK] of all texts; by default the model's best guesses.

    Raises: ValueError for a text without [MASK] or too long for the model, for another number of answers, and for an
    answer that is not in the vocabulary.
    """
    tokenizer = task.tokenizer
    encodings = tokenizer.encode(texts)
    guesses = [guess.token for masks in task(texts, top_k=1) for (guess,) in masks]
    if answers and len(answers) != len(guesses):
        raise ValueError(f"{counted(len(answers), 'answer')} for {len(guesses)} {MASK}: wanted one for each, or none")
    right = iter(tokenizer.ids(answers or guesses))
    examples = []
    for encoding in encodings:
        labels = [next(right) if index == tokenizer.mask_id else IGNORED for index in encoding.ids]
        examples.append(Example(encoding.ids, encoding.type_ids, labels, 0))
    return examples


def dialogue_data(
    model: BertForMaskedLM | BertForPreTraining, dialogue: Dialogue, rng: np.random.Generator
) -> dict[str, Any]:
    """Return the data of `export`, with an example for each line of the dialogue, with one word masked, and two in the
    last line. The first is a line of about five words, which fits on a screen. Raises: as export.
    """
    examples = []
    lines = sorted(dialogue.lines, key=lambda line: abs(len(line) - LENGTH))
    for line in lines:
        whole = join_pair(line, None, dialogue.vocabulary)
        ids, labels = np.array(whole.input_ids), np.array(whole.labels)
        count = 2 if line is lines[-1] else 1  # two, for a mean over several masked words
        hidden = 1 + rng.choice(len(line), count, replace=False)
        labels[hidden], ids[hidden] = ids[hidden], dialogue.vocabulary.mask_id
        examples.append(replace(whole, input_ids=ids.tolist(), labels=labels.tolist()))
    return export(model, examples, dialogue.vocabulary.tokens)
