"""The ids of a folder with any settings: as transformers gives them, or a refusal that names the setting."""

import json

import numpy as np
import pytest

from npbert import Tokenizer
from npbert.io.files import FileError
from tests.later import later
from tests.tables import one_in

transformers = later("transformers", "transformers")
tokenizers = later("tokenizers", "-e '.[hf]'")

pytestmark = pytest.mark.torch

WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the The cat Cat cafe café Café sat 中 国 ##国 . ? < > new ##s s <s> </s> [X] x"
SPECIAL = {"cls_token": "<s>", "sep_token": "</s>", "unk_token": "the", "pad_token": "[X]", "mask_token": "x"}
TEXTS = [
    "The Café cats 中国 sat.",
    "the [MASK] <NEW>  cat new [X] x <s> the</s>",
    "",
    "Cat <new> x[CLS]?",
    "<News> NEWs",
]
PAIRS = [("the cat", "Café 国 sat the the the cat ."), ("x the cat sat the cat sat", "x")]


def pick(rng, values):
    return values[int(rng.integers(len(values)))]


def flags(rng, content):
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"content": content, **{name: bool(rng.random() < 0.4) for name in names}}


def settings_of(rng):
    """Some of all settings, for tokenizer_config.json, and what else the folder has."""
    config = {}
    values = {
        "do_lower_case": [True, False],
        "strip_accents": [True, False, None],
        "tokenize_chinese_chars": [True, False],
        "truncation_side": ["left", "right"],
        "tokenizer_class": ["BertTokenizer", "BertTokenizerFast", "PreTrainedTokenizerFast", "RobertaTokenizer"],
        "model_input_names": [["input_ids", "attention_mask"], ["input_ids", "token_type_ids", "attention_mask"]],
        "model_max_length": [9],
        "split_special_tokens": [False, False, True],
    }
    for name, possible in values.items():
        if rng.random() < (0.08 if name == "split_special_tokens" else 0.3):
            config[name] = pick(rng, possible)
    tokens = {}
    for name, token in SPECIAL.items():
        if rng.random() < 0.15:
            tokens[name] = pick(rng, [token, flags(rng, token)])
    for name in ("additional_special_tokens", "extra_special_tokens"):
        if rng.random() < 0.15:
            tokens[name] = pick(rng, [["<NEW>"], ["cat", "[X]"]])
    return config, tokens


def write_folder(rng, folder):
    config, special = settings_of(rng)
    files = {"config.json": {"model_type": "bert"}}
    if rng.random() < 0.7:
        lowercase, chinese = (bool(flag) for flag in rng.integers(2, size=2))
        vocabulary = {word: index for index, word in enumerate(WORDS.split())}
        whole = tokenizers.BertWordPieceTokenizer(vocabulary, lowercase=lowercase, handle_chinese_chars=chinese)
        if rng.random() < 0.4:
            token = flags(rng, pick(rng, ["<NEW>", "sat", "[MASK]"]))
            whole._tokenizer.add_tokens([tokenizers.AddedToken(**token)])
        if rng.random() < 0.3:
            whole._tokenizer.enable_truncation(5, direction=pick(rng, ["left", "right"]))
        whole.save(str(folder / "tokenizer.json"))
    else:
        (folder / "vocab.txt").write_text("\n".join(WORDS.split()) + "\n", encoding="utf-8")
    if rng.random() < 0.5:
        config |= {
            name: {**token, "__type": "AddedToken"} if isinstance(token, dict) else token
            for name, token in special.items()
        }
    elif special:
        files["special_tokens_map.json"] = special
    if rng.random() < 0.2:
        added = {4: flags(rng, "[MASK]"), len(WORDS.split()): flags(rng, "<NEW>"), 7: flags(rng, "cat")}
        config["added_tokens_decoder"] = {str(index): token for index, token in added.items()}
    elif rng.random() < 0.2 and "additional_special_tokens" not in files.get("special_tokens_map.json", {}):
        files["added_tokens.json"] = {"<NEW>": len(WORDS.split()), "<Old>": len(WORDS.split()) + 1}
    if config or rng.random() < 0.5:
        files["tokenizer_config.json"] = config
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    return config


def ids_of(theirs, texts, **options):
    return [theirs(*([text] if isinstance(text, str) else text), **options)["input_ids"] for text in texts]


@pytest.mark.parametrize("seed", one_in(20, range(100)))
def test_ids_and_types(tmp_path, seed):
    rng = np.random.default_rng(seed)
    config = write_folder(rng, tmp_path)
    try:
        ours = Tokenizer.from_pretrained(tmp_path)
    except FileError as error:
        named = (
            "tokenizer_class",
            "split_special_tokens",
            "vocabulary has no",
            "needs a tokenizer.json",
            "puts no",
        )
        assert any(name in str(error) for name in named), error
        return
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert [encoding.ids for encoding in ours.encode([*TEXTS, *PAIRS])] == ids_of(theirs, [*TEXTS, *PAIRS])
    cut = {"max_length": 7, "truncation": "longest_first"}
    encodings = ours.encode([*TEXTS, *PAIRS], max_length=7)
    assert [encoding.ids for encoding in encodings] == ids_of(theirs, [*TEXTS, *PAIRS], **cut)
    for (first, second), encoding in zip(PAIRS, encodings[len(TEXTS) :], strict=True):
        types = theirs(first, second, **cut).get("token_type_ids", [0] * len(encoding.ids))
        if "model_input_names" in config or config.get("tokenizer_class") != "PreTrainedTokenizerFast":
            assert ours.batch([encoding]).token_type_ids.tolist() == [types]
    assert len(ours) == len(theirs)
    ours.save_pretrained(tmp_path / "saved")
    again, theirs = (each.from_pretrained(tmp_path / "saved") for each in (Tokenizer, transformers.AutoTokenizer))
    for read in (ours, again):
        assert [encoding.ids for encoding in read.encode(TEXTS, max_length=7)] == ids_of(theirs, TEXTS, **cut)
