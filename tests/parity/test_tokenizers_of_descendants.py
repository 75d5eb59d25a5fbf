"""Tokenizers of BERT's descendants beside transformers': byte-pair and unigram tokens, with their special tokens."""

import pytest

from npbert import Tokenizer
from npbert.data import load_dialogue
from tests.later import later
from tests.tables import one_in

transformers, tokenizers = (later(name, name) for name in ("transformers", "tokenizers"))
pytestmark = pytest.mark.torch

DIALOGUE = load_dialogue(9)
LINES = [" ".join(DIALOGUE.vocabulary.decode(line)) for line in DIALOGUE.lines]
TEXTS = ["The bank of the river.", "", "naïve  Café 🙂 ÉÀ", "a\tb\nc", "<s> marked </s> <mask> [MASK]", "x" * 30]
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def byte_level():
    """A tokenizer of RoBERTa's kind, or ModernBERT's, trained on a few lines."""
    models, pre = tokenizers.models, tokenizers.pre_tokenizers
    made = tokenizers.Tokenizer(models.BPE(unk_token="<unk>"))
    made.pre_tokenizer, made.decoder = pre.ByteLevel(add_prefix_space=False), tokenizers.decoders.ByteLevel()
    alphabet = pre.ByteLevel.alphabet()
    made.train_from_iterator(
        LINES, tokenizers.trainers.BpeTrainer(vocab_size=400, special_tokens=SPECIAL, initial_alphabet=alphabet)
    )
    ends = [(token, made.token_to_id(token)) for token in ("</s>", "<s>")]
    made.post_processor = tokenizers.processors.RobertaProcessing(*ends, add_prefix_space=False)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **dict(zip(NAMES, SPECIAL, strict=True)))


def unigram():
    """A tokenizer of XLM-R's kind, or ALBERT's."""
    made = tokenizers.Tokenizer(tokenizers.models.Unigram())
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    made.train_from_iterator(
        LINES, tokenizers.trainers.UnigramTrainer(vocab_size=200, special_tokens=SPECIAL, unk_token="<unk>")
    )
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **dict(zip(NAMES, SPECIAL, strict=True)))


NAMES = ["cls_token", "pad_token", "sep_token", "unk_token", "mask_token"]


@pytest.mark.parametrize("make", [byte_level, unigram])
@pytest.mark.parametrize("reads_types", [True, False])
def test_ids_of_texts_and_pairs_are_theirs_and_stay_theirs_when_saved(make, reads_types, tmp_path):
    theirs = make()
    if not reads_types:
        theirs.model_input_names = ["input_ids", "attention_mask"]
    theirs.save_pretrained(tmp_path / "theirs")
    ours = Tokenizer.from_pretrained(tmp_path / "theirs")
    ours.save_pretrained(tmp_path / "ours")
    again = transformers.AutoTokenizer.from_pretrained(tmp_path / "ours")
    for texts in ([*TEXTS, *LINES[:20]], [(TEXTS[0], text) for text in TEXTS]):
        firsts, *seconds = zip(*texts, strict=True) if isinstance(texts[0], tuple) else (texts,)
        for tokenizer in (theirs, again):
            wanted = tokenizer(list(firsts), *map(list, seconds), padding=True)
            batch = ours.batch(ours.encode(texts))
            assert batch.input_ids.tolist() == wanted["input_ids"]
            assert batch.attention_mask.tolist() == wanted["attention_mask"]
            assert batch.token_type_ids.tolist() == wanted.get(
                "token_type_ids", [[0] * len(row) for row in wanted["input_ids"]]
            )
        shorter = theirs(list(firsts), *map(list, seconds), truncation=True, max_length=9)["input_ids"]
        assert [encoding.ids for encoding in ours.encode(texts, max_length=9)] == shorter


@pytest.mark.parametrize("make", [byte_level, unigram])
def test_a_word_begins_at_its_mark_and_a_special_token_continues_none(make, tmp_path):
    make().save_pretrained(tmp_path)
    ours = Tokenizer.from_pretrained(tmp_path)
    text = "you are my old one"
    (ids,) = ours.pieces([f" {text}"])
    tokens = zip(ids, ours.decode(ids), strict=True)
    words = "".join(token if ours.continues[index] else f" {token[1:]}" for index, token in tokens)
    assert words.strip() == text
    assert not ours.continues[[ours.cls_id, ours.sep_id, ours.mask_id, ours.pad_id]].any()
    assert not ours.joins_as_bert


@pytest.mark.parametrize("name", one_in(3, ["roberta", "xlm-roberta", "camembert"]))
@pytest.mark.parametrize(("file", "text"), [("tokenizer_config", "tokenizer_class"), ("config", "model_type")])
def test_the_special_tokens_of_a_class_are_known(name, file, text, tmp_path):
    """Of the class that is named, or else of the model's."""
    theirs = byte_level()
    theirs.save_pretrained(tmp_path)
    (tmp_path / "tokenizer_config.json").unlink()
    classes = {"roberta": "RobertaTokenizer", "xlm-roberta": "XLMRobertaTokenizer", "camembert": "CamembertTokenizer"}
    value = name if file == "config" else classes[name]
    (tmp_path / f"{file}.json").write_text(f'{{"{text}": "{value}"}}')
    ours = Tokenizer.from_pretrained(tmp_path)
    assert [getattr(ours, key.replace("token", "id")) for key in NAMES[:3]] == [0, 1, 2]
    assert ours.encode(["The bank"])[0].ids == theirs("The bank")["input_ids"]
