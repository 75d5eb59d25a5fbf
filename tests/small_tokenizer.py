"""A tokenizer with a vocabulary that a test chooses."""

import pytest

from npbert import Tokenizer
from npbert.data.tokenizer import SPECIAL


def small_tokenizer(tokens: str) -> Tokenizer:
    """The special tokens as ids 0 to 4, then these; it splits at spaces and punctuation, and ignores case."""
    library = pytest.importorskip("tokenizers", reason="tokenizers is not installed: pip install -e '.[hf]'")
    vocabulary = {token: index for index, token in enumerate([*SPECIAL.values(), *tokens.split()])}
    return Tokenizer(library.BertWordPieceTokenizer(vocabulary))
