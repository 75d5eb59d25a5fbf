"""From text to arrays: the toy dialogue, its vocabulary, sentence pairs, masks, batches and labelled tables."""

from npbert.data.batch import Batch, Encoding, Ids, TaskData, pad_rows
from npbert.data.corpus import text_files, warn_of_known
from npbert.data.dialogue import DIALOGUES, Dialogue, load_dialogue, split_words
from npbert.data.example import (
    IS_NEXT,
    NOT_NEXT,
    Example,
    Pair,
    all_pairs,
    collate,
    draw_pairs,
    join_lines,
    join_pair,
    make_example,
    mask_each_word,
)
from npbert.data.masking import mask_words
from npbert.data.task_files import TableRow, read_table
from npbert.data.tokenizer import COUNT, Text, Tokenizer
from npbert.data.tokenizer_files import SPECIAL
from npbert.data.vocabulary import SPECIAL_TOKENS, Vocabulary

__all__ = [
    "DIALOGUES",
    "Dialogue",
    "load_dialogue",
    "split_words",
    "SPECIAL_TOKENS",
    "Vocabulary",
    "IS_NEXT",
    "NOT_NEXT",
    "Pair",
    "all_pairs",
    "draw_pairs",
    "join_pair",
    "mask_words",
    "Batch",
    "pad_rows",
    "Tokenizer",
    "Encoding",
    "Text",
    "Example",
    "join_lines",
    "make_example",
    "mask_each_word",
    "collate",
    "TableRow",
    "read_table",
    "TaskData",
    "COUNT",
    "Ids",
    "SPECIAL",
    "text_files",
    "warn_of_known",
]
