"""TaskSettings: the columns of a labelled file, and the options of a task."""

from __future__ import annotations

from dataclasses import dataclass

from npbert.data.tables import DELIMITER
from npbert.io import Settings, Wanted, at_least, one_of, setting
from npbert.models import LOSSES, POOLINGS


@dataclass(frozen=True, kw_only=True)
class TaskSettings(Settings):
    """The form of a file of labelled examples, and its tokens.

    Raises: InputError for an impossible value.
    """

    task: str = setting(
        "classification",
        "classification, regression, multiple-choice, tagging, pos, squad or vectors; other names such as "
        "ner, sts or qa also work",
        value="TASK",
    )
    text: str = setting(
        "0",
        "the column of the text: its number, counted from 0, or its name; if files differ, several names with "
        "commas, such as sentence,content",
        value="COLUMN",
    )
    text_pair: str = setting("", "the column of the second text of a pair (for vectors by default 1)", value="COLUMN")
    negatives: tuple[str, ...] = setting(
        (), "for vectors: the columns of texts that do not match the first", value="COLUMN"
    )
    prompts: tuple[str, ...] = setting(
        (), "for vectors: the prompts before the first text and before the others, such as 'query: ' 'passage: '"
    )
    pooling: str = setting(
        "",
        "for vectors: how to pool the token vectors (default: the folder's, or mean)",
        value="HOW",
        wanted=one_of(("", *POOLINGS)),
    )
    loss: str = setting(
        "",
        "for vectors: in-batch (all other texts of a batch are wrong answers), both-ways (also from each text to the "
        "first) or triplet; with scores as labels, cosent or cosine",
        value="LOSS",
        wanted=one_of(("", *LOSSES)),
    )
    choices: tuple[str, ...] = setting((), "for multiple choice: the columns of the choices", value="COLUMN")
    label: str = setting(
        "", "the column of the label (default: 1), or for tagging of the tag (default: the last)", value="COLUMN"
    )
    delimiter: str = setting(
        "",
        "the separator of columns: tab (quotes are then part of the text), comma or semicolon (default: comma for "
        ".csv, else tab)",
        wanted=DELIMITER,
    )
    first_row: str = setting(
        "",
        "the first row, if columns are given as numbers: header or example (default: detect it, or stop)",
        value="WHAT",
        wanted=one_of(("", "header", "example")),
    )
    sample_weight: str = setting(
        "",
        "for classification: the column of the examples' weights in the loss (default: 1 each)",
        value="COLUMN",
    )
    positive: str = setting(
        "", "for classification: the label of the f1 score (default: the second of two)", value="LABEL"
    )
    max_length: int = setting(
        0,
        "read at most this many tokens of an example; 384 is usual for squad; 0: in training 128, or the model's limit "
        "if that is smaller, and in an evaluation as in training",
        value="TOKENS",
        wanted=Wanted("0 or at least 8", lambda value: value == 0 or at_least(8).holds(value)),
    )
    batch_size: int = setting(32, "the number of examples in a batch", wanted=at_least(1))
