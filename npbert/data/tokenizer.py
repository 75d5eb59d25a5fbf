"""Tokenizer: text to token ids, with BERT's rules or a descendant's, by the library `tokenizers`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from npbert.data.batch import Batch, Encoding, Ids, pad
from npbert.data.corpus import Corpus
from npbert.data.tokenizer_files import CONFIG_FILE, SPECIAL, cutting_tokenizer, read_tokenizer, settings_of
from npbert.data.vocabulary import Vocabulary
from npbert.display import titled
from npbert.io import InputError, Wanted, as_file_error, import_extra, model_file, write_json, write_text

Text = str | tuple[str, str]
"""A text, or a pair of texts."""

WORD_BEGINS = "\N{LATIN CAPITAL LETTER G WITH DOT ABOVE}", "\N{LOWER ONE EIGHTH BLOCK}"
"""The first character of a token that begins a word: for byte pairs (a space, as one character), and for Unigram."""

MOST_CHARACTERS = 1000
"""The most different characters in a learned vocabulary, of equals the first; a word with another one is [UNK]."""

LONGEST_WORD = 100
"""The most characters of a word. WordPiece turns longer words into [UNK], so they teach nothing, and the learning time
grows with the square of their length."""

_MOST = 2**31 - 1
COUNT = Wanted(f"a number from 1 to {_MOST}", lambda value: 1 <= value <= _MOST)
"""The range of sizes and frequencies of the library."""

_AT_ONCE = 10_000
"""The most repetitions of a word in one text for the library."""


class Tokenizer(Vocabulary):
    """A Vocabulary that cleans a text, splits it at spaces and punctuation, and cuts each word into its longest pieces.

    A text becomes `[CLS] text [SEP]`, a pair `[CLS] first [SEP] second [SEP]` with type 1 from the second on.
    (Devlin et al. 2018, section 3; WordPiece: Wu et al. 2016, section 4.1. Extra: hf.) A word with a rest that has no
    piece is [UNK] as a whole. A descendant of BERT may have other rules, those of its tokenizer.json: byte pairs, or
    Unigram, and other special tokens.

    `max_length` is the most tokens of a text, or None. `encode` does not use it, but the models do, and it is saved
    with the tokenizer: a model then reads texts as long as in its training.

    library_tokenizer: of the library `tokenizers`. special: the special tokens with [UNK], by Hugging Face's names.
    truncation_side: the side of a long text that is cut. has_types: False for a model without token types: all are 0.
    path: its file, for errors.

    Raises: ValueError if a special token is not in the vocabulary.
    """

    unk_id: int

    def __init__(
        self,
        library_tokenizer: Any,
        *,
        max_length: int | None = None,
        special: Mapping[str, str] = SPECIAL,
        truncation_side: str = "right",
        has_types: bool = True,
        path: Path | None = None,
    ) -> None:
        library_tokenizer.no_padding()
        library_tokenizer.no_truncation()
        ids = library_tokenizer.get_vocab()
        tokens = sorted(ids, key=ids.__getitem__)
        for place, token in enumerate(tokens):
            if ids[token] != place:
                raise ValueError(f"{token!r} has the id {ids[token]}, wanted {place}, as ids count from 0 without gaps")
        super().__init__(tokens, special)
        if type(library_tokenizer.model).__name__ != "WordPiece":
            self.continues = self.is_word & [not token.startswith(WORD_BEGINS) for token in tokens]
        self.library_tokenizer, self.path = library_tokenizer, path
        self.max_length, self.truncation_side, self.has_types = max_length, truncation_side, has_types
        self.pieces(["\N{CHESTNUT}" * 2])  # the library fails here without a token for unknown words
        if self.encode([""])[0].ids != [self.cls_id, self.sep_id]:
            around = f"no {special['cls_token']} before a text and no {special['sep_token']} after it"
            raise ValueError(f"it puts {around}: its post_processor is missing or wrong")

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> Tokenizer:
        """Return the tokenizer in `folder`, as transformers reads it: its tokenizer.json, or else its vocab.txt; and
        the settings in tokenizer_config.json and special_tokens_map.json: lower case, accents, Chinese characters,
        special and added tokens, and the side that is cut. `max_length` is their model_max_length.

        The length and padding of a tokenizer.json are ignored: each call sets them.

        Raises: FileNotFoundError without these files; FileError with the file: not UTF-8, no tokenizer, another
        kind than WordPiece, byte pairs or Unigram, a missing special token, or an impossible or unsupported setting.
        """
        path = model_file(folder, "tokenizer.json", "vocab.txt")
        with as_file_error(f"{path} is not a BERT tokenizer", Exception):  # the library raises no narrower class
            return cls(**read_tokenizer(path))

    @classmethod
    def train(
        cls, files: Sequence[str | Path], *, vocab_size: int = 30522, min_frequency: int = 2, lowercase: bool = True
    ) -> Tokenizer:
        """Return a new tokenizer with a vocabulary of at most `vocab_size` tokens, learned from the text in `files`.
        The same text gives the same vocabulary.

        The training is that of `tokenizers`: byte-pair merges, with ## within words. It begins with the special tokens
        and the characters, counts each pair of neighboring pieces in all words, joins the most frequent pair (of equal
        ones the one with the lowest ids), and repeats until the vocabulary is full or no pair is frequent enough.
        (Sennrich et al. 2016, section 3.2. Wu et al. 2016 maximize a likelihood instead.)

        min_frequency: the least count of a pair that is joined.

        Raises: FileError for a file that is empty or not UTF-8; ValueError for a vocab_size below the number of special
        tokens and characters, or a min_frequency below 1.
        """
        COUNT.check("vocab_size", vocab_size)
        COUNT.check("min_frequency", min_frequency)
        build = import_extra("tokenizers").BertWordPieceTokenizer
        library = build(lowercase=lowercase)
        clean, split = library.normalizer.normalize_str, library.pre_tokenizer.pre_tokenize_str
        texts = chain.from_iterable(Corpus(files))
        words = Counter(word for text in texts for word, _ in split(clean(text)) if len(word) <= LONGEST_WORD)
        counts = Counter[str]()
        for word, count in words.items():
            for character in word:
                counts[character] += count
        characters = [character for character, _ in counts.most_common(MOST_CHARACTERS)]
        within = {character for word in words for character in word[1:]} & set(characters)
        first = [*SPECIAL.values(), *sorted(characters), *(f"##{character}" for character in sorted(within))]
        if vocab_size < len(first):
            tokens = f"{len(SPECIAL)} special tokens, and the characters of the text at the start of words and"
            raise InputError("vocab_size", vocab_size, f"at least {len(first)}: {tokens} within them")
        repeated = (
            f"{word} " * min(_AT_ONCE, count - done)
            for word, count in words.items()
            for done in range(0, count, _AT_ONCE)
        )
        library.train_from_iterator(
            repeated,
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            special_tokens=first,  # by default the library's order of pieces, and so of ties, changes each time
            initial_alphabet=characters,
            limit_alphabet=len(characters),
            show_progress=False,
        )
        return cls(build(library.get_vocab(), lowercase=lowercase))

    def save_pretrained(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write tokenizer.json, tokenizer_config.json and, for WordPiece, vocab.txt into `folder`, which is created if
        needed; each file whole or not at all. transformers reads them, and cuts at the same `max_length`.

        Raises: FileExistsError for a folder with another tokenizer than this, unless `overwrite`.
        """
        folder, text = Path(folder), self.library_tokenizer.to_str(pretty=True)
        files, stored = {folder / "tokenizer.json": text}, json.loads(text)
        if stored["model"]["type"] == "WordPiece":
            files[folder / "vocab.txt"] = "".join(f"{token}\n" for token in self.tokens)
        for path, text in files.items():
            if not overwrite and path.exists() and path.read_bytes() != text.encode():
                raise FileExistsError(f"{folder} already has another tokenizer; to replace it, give overwrite=True")
        for path, text in files.items():
            write_text(path, text)
        write_json(folder / CONFIG_FILE, settings_of(self, stored))

    @property
    def joins_as_bert(self) -> bool:
        """True if a pair becomes `[CLS] first [SEP] second [SEP]`; RoBERTa puts two [SEP] between."""
        return self.encode([("", "")])[0].ids == [self.cls_id, self.sep_id, self.sep_id]

    def __repr__(self) -> str:
        special = ", ".join(f"{token} {self._ids[token]}" for token in self.special.values())
        limit = f"{self.max_length} tokens, where a model is used" if self.max_length else "not cut"
        return titled(f"Tokenizer of {len(self):,} tokens", f"special: {special}", f"texts: {limit}")

    def pieces(self, texts: Sequence[str]) -> list[list[int]]:
        """Return all token ids of each text, without [CLS] and [SEP]."""
        return [encoding.ids for encoding in self._encodings(texts, add_special_tokens=False)]

    def encode(
        self, texts: Sequence[Text | Sequence[str]], *, max_length: int | None = None, is_pretokenized: bool = False
    ) -> list[Encoding]:
        """Return the texts, or pairs, as tokens, cut to `max_length` tokens, the longer text of a pair first.

        is_pretokenized: True for texts that are lists of words. Their `word_ids` are the numbers of the words.

        Raises: TypeError for one string, and for values that are neither texts nor pairs, or not lists of words;
        ValueError for a max_length below one token of each text, and for half of a character; FileError if the
        tokenizer fails on a text.
        """
        if isinstance(texts, str):
            raise TypeError(f"texts is one string, wanted a list of them: [{texts[:40]!r}]")
        for text in texts:
            are_strings = isinstance(text, tuple | list) and all(isinstance(part, str) for part in text)
            if is_pretokenized and not are_strings:
                raise TypeError(f"a text is {text!r}, wanted a list of words")
            if not (is_pretokenized or isinstance(text, str) or (are_strings and len(text) == 2)):
                raise TypeError(f"a text is {text!r}, wanted a string or a pair of strings")
        return self._encodings(texts, max_length, is_pretokenized=is_pretokenized)

    def encode_windows(self, question: str, passage: str, *, max_length: int, stride: int) -> list[Encoding]:
        """Return `[CLS] question [SEP] part of the passage [SEP]`, each of at most `max_length` tokens. The parts cover
        the passage, and each begins with the last `stride` tokens of the part before.

        Raises: ValueError if the question leaves room for at most `stride` tokens of the passage; FileError as encode.
        """
        special = self.library_tokenizer.num_special_tokens_to_add(is_pair=True)
        room = max_length - special - len(self.pieces([question])[0])
        if room <= stride:
            raise ValueError(f"question leaves room for {room} tokens of the passage, wanted more than stride {stride}")
        [first] = self._encodings([(question, passage)], max_length, stride)
        return [first, *first.overflowing]

    def _encodings(
        self, texts: Sequence[Any], max_length: int | None = None, stride: int | None = None, **how: bool
    ) -> list[Encoding]:
        """Return the library's encodings of the texts, cut to `max_length` tokens unless it is None (see
        cutting_tokenizer). how: options of its encode_batch."""
        tokenizer = self.library_tokenizer
        if max_length is not None:
            if stride is None and max_length < 5:
                raise ValueError(f"max_length is {max_length}, wanted at least 5, as a pair has 3 special tokens")
            tokenizer = cutting_tokenizer(tokenizer, max_length, stride, self.truncation_side)
        try:
            with as_file_error(f"{self.path or 'the tokenizer'} cannot be used on this text", ()):
                return tokenizer.encode_batch(list(texts), **how)
        except TypeError as error:
            half = next(text for text in texts if "\\ud" in ascii(text))
            raise ValueError(f"{half!a:.60} has half of a character (a lone surrogate), wanted text") from error

    def batch(self, encodings: Sequence[Encoding | Ids]) -> Batch:
        """Return the encodings as one Batch, padded at the end to the longest. Raises: TypeError for other values than
        Encodings."""
        if texts := [each for each in encodings if not hasattr(each, "ids")]:
            raise TypeError(
                f"encodings has {texts[0]!r:.40}, wanted an Encoding; use tokenizer.batch(tokenizer.encode(texts))"
            )
        types = [encoding.type_ids for encoding in encodings]
        batch = pad([encoding.ids for encoding in encodings], types, pad_id=self.pad_id)
        batch.token_type_ids *= self.has_types
        batch.names = {"input_ids": self.decode}
        return batch
