"""A Tokenizer of whole words, so that a model of the toy dialogue can be saved and used like any other."""

from __future__ import annotations

from npbert.data.dialogue import PUNCTUATION
from npbert.data.tokenizer import Tokenizer
from npbert.data.vocabulary import Vocabulary
from npbert.extras import import_extra

UNKNOWN = "[UNK]"


def word_tokenizer(vocabulary: Vocabulary) -> Tokenizer:
    """A Tokenizer with the ids of `vocabulary`, and after them [UNK] for every other word: one token more.

    It cleans a text as `split_words` does: lower case, without the punctuation. (Extra: hf.)
    """
    library = import_extra("tokenizers", extra="hf")
    ids = {token: number for number, token in enumerate([*vocabulary.tokens, UNKNOWN])}
    tokenizer = library.BertWordPieceTokenizer(ids, lowercase=True)
    no_punctuation = library.normalizers.Replace(library.Regex(f"[{PUNCTUATION}]"), "")
    tokenizer.normalizer = library.normalizers.Sequence([tokenizer.normalizer, no_punctuation])
    return Tokenizer(tokenizer)
