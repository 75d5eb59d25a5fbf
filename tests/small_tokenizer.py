"""A tokenizer with a vocabulary that a test chooses."""

import pytest

from npbert.data import SPECIAL, Tokenizer
from npbert.data.tokenizer_files import numbered


def small_tokenizer(tokens: str) -> Tokenizer:
    """The special tokens as ids 0 to 4, then these; it splits at spaces and punctuation, and ignores case."""
    library = pytest.importorskip("tokenizers", reason="tokenizers is not installed: pip install -e '.[hf]'")
    return Tokenizer(library.BertWordPieceTokenizer(numbered([*SPECIAL.values(), *tokens.split()])))
