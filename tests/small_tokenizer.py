"""A tokenizer with a vocabulary that a test chooses."""

import pytest

from npbert.data import SPECIAL, Tokenizer


def small_tokenizer(tokens: str) -> Tokenizer:
    """The special tokens as ids 0 to 4, then these; it splits at spaces and punctuation, and ignores case."""
    library = pytest.importorskip("tokenizers", reason="tokenizers is not installed: pip install -e '.[hf]'")
    ids = {token: number for number, token in enumerate([*SPECIAL.values(), *tokens.split()])}
    return Tokenizer(library.BertWordPieceTokenizer(ids))
