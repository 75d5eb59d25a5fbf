"""Tokenizer against transformers' own, on all real text there is. (How long a text may be: test_pipelines.py.)"""

from functools import cache
from itertools import chain, product

import pytest

from npbert import Tokenizer
from tests.later import later
from tests.parity.real_data import cola, lines_of, minilm, squad, stsb
from tests.shared_data import shared_file, shared_files

transformers = later("transformers", "transformers")

pytestmark = pytest.mark.torch

CHECKPOINT, VOCABULARY = "a checkpoint with tokenizer.json", "vocab.txt alone"


@pytest.fixture(scope="module", params=[CHECKPOINT, VOCABULARY])
def both(request, tmp_path_factory):
    """npbert's tokenizer and transformers', from the same files."""
    if request.param == CHECKPOINT:
        return Tokenizer.from_pretrained(minilm()), transformers.AutoTokenizer.from_pretrained(minilm())
    folder = tmp_path_factory.mktemp("vocabulary")
    vocabulary = shared_file("vocab/bert-base-uncased-vocab.txt")
    (folder / "vocab.txt").write_bytes(vocabulary.read_bytes())
    return Tokenizer.from_pretrained(folder), transformers.BertTokenizerFast.from_pretrained(folder)


def assert_same(both, texts, pairs=None, *, max_length=None):
    """The ids, and of pairs the types."""
    ours, theirs = both
    length = {"verbose": False} if max_length is None else {"truncation": "longest_first", "max_length": max_length}
    wanted = theirs(texts, pairs, return_attention_mask=False, **length)
    encodings = ours.encode(texts if pairs is None else list(zip(texts, pairs, strict=True)), max_length=max_length)
    assert len(encodings) == len(wanted["input_ids"]) > 0
    for text, encoding, ids in zip(texts, encodings, wanted["input_ids"], strict=True):
        assert encoding.ids == ids, text
    if pairs is not None:
        assert [encoding.type_ids for encoding in encodings] == wanted["token_type_ids"]


@cache
def words():
    """Every word of all the text once, twenty at a time: a word becomes the same tokens wherever it stands."""
    files = [*shared_files("gutenberg/*.txt", 17), *shared_files("wikitext2_raw/wiki.test.raw", 1)]
    files += shared_files("bert_sample_text/sample_text.txt", 1)
    pairs = [*squad(), *(row[1:] for row in stsb("train"))]
    lines = chain(cola(), chain.from_iterable(pairs), *map(lines_of, files))
    found = list(dict.fromkeys(word for line in lines for word in line.split(" ")))
    return [" ".join(found[start : start + 20]) for start in range(0, len(found), 20)]


def test_words(both, thorough):
    assert_same(both, words() if thorough else words()[::40])


ODD = [
    "",
    " \t\r\n\u00a0\u2028\u3000",
    "[MASK][SEP] [CLS] [PAD] [UNK] [mask] [ MASK ]",
    "ﬁ Ⅷ ½ Å Ǆ İstanbul ß ΑΣ",
    "中文字符 日本語テキスト 한국어 🙂👩‍👩‍👧 \U0001f1e9\U0001f1ea",
    "a\x00b\ufffdc\u200bd\u00ade e\u0301\u0327",
    "x" * 100 + " " + "x" * 101,
    "don't stop-me@now.com $5.00 #tag `quote` ~^|",
    "\ufeffmark",
]


def test_odd_text(both):
    assert_same(both, ODD)
    firsts, seconds = zip(*product(ODD, ODD), strict=True)
    assert_same(both, list(firsts), list(seconds), max_length=12)
