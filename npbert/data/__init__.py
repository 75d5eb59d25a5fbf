"""From text to arrays: the toy dialogue, its vocabulary, sentence pairs, masks, batches and labelled tables."""

from npbert.data.batch import Batch
from npbert.data.dialogue import DIALOGUES, Dialogue, load_dialogue, split_words
from npbert.data.example import Example, collate, join_lines, make_example, mask_each_word
from npbert.data.masking import mask_words
from npbert.data.padding import pad_rows
from npbert.data.sentence_pairs import IS_NEXT, NOT_NEXT, Pair, all_pairs, draw_pairs, join_pair
from npbert.data.tables import Row, read_table
from npbert.data.task_data import TaskData
from npbert.data.tokenizer import Encoding, Text, Tokenizer
from npbert.data.vocabulary import SPECIAL_TOKENS, Vocabulary
from npbert.data.word_tokenizer import word_tokenizer

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
    "word_tokenizer",
    "Example",
    "join_lines",
    "make_example",
    "mask_each_word",
    "collate",
    "Row",
    "read_table",
    "TaskData",
]
