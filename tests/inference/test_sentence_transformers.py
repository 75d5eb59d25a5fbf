"""Embed in a folder of sentence-transformers: modules.json and the files that it names. (The numbers were compared with
those of sentence-transformers itself by hand: it is no dependency of the tests.)"""

import json
import re
import shutil
import warnings

import numpy as np
import pytest

from npbert import BertModel, Embed
from npbert.io.files import FileError
from tests.inference.checkpoints import LONGEST, write_checkpoint

TEXTS = ["the cat sat on the mat.", "a dog", "the unaffable cat ran"]
OLD, NEW = "sentence_transformers.models.", "sentence_transformers.base.modules.some."
MODULES, POOLING = "modules.json", "1_Pooling/config.json"
TRANSFORMER, WHOLE = "sentence_bert_config.json", "config_sentence_transformers.json"
FLAGS = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")
PATHS = {"Pooling": "1_Pooling", "Normalize": "2_Normalize"}


def modules(*kinds, package=OLD):
    return [
        {"idx": number, "name": str(number), "path": PATHS.get(kind, ""), "type": package + kind}
        for number, kind in enumerate(kinds)
    ]


def flags(*true):
    """As older versions write the pooling."""
    return {"word_embedding_dimension": 12, **{f"pooling_mode_{flag}": flag in true for flag in FLAGS}}


USUAL = {
    MODULES: modules("Transformer", "Pooling"),
    POOLING: {"embedding_dimension": 12, "pooling_mode": "mean", "include_prompt": True},
    TRANSFORMER: {"max_seq_length": 9, "do_lower_case": False},
    WHOLE: {"__version__": {"sentence_transformers": "2.0.0"}},
}
NEWEST = {
    TRANSFORMER: {
        "transformer_task": "feature-extraction",
        "modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
        "module_output_name": "token_embeddings",
    },
    WHOLE: {
        "default_prompt_name": None,
        "model_type": "SentenceTransformer",
        "prompts": {"document": "", "query": ""},
        "similarity_fn_name": "cosine",
    },
}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return write_checkpoint(tmp_path_factory.mktemp("checkpoint"), BertModel)


@pytest.fixture
def folder(tmp_path, checkpoint):
    """folder({file: content}) -> the folder of a model with these files, and else the usual ones; None: it has none."""
    shutil.copytree(checkpoint, tmp_path, dirs_exist_ok=True)

    def make(files):
        for name, content in {**USUAL, **files}.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content))
            if content is None:
                (tmp_path / name).unlink()
        return tmp_path

    return make


def settings_of(embed):
    return embed.pooling, embed.normalize, embed.max_length, embed.similarity_fn_name


PLAIN = ("mean", False, LONGEST, "cosine")
OF_TOKENIZER = {"tokenizer_config.json": {"model_max_length": 12}}


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({}, ("mean", False, 9, "cosine")),
        (NEWEST, PLAIN),
        ({POOLING: flags("mean_tokens")}, ("mean", False, 9, "cosine")),
        ({POOLING: flags("cls_token")}, ("cls", False, 9, "cosine")),
        ({POOLING: flags("max_tokens")}, ("max", False, 9, "cosine")),
        ({POOLING: flags("mean_sqrt_len_tokens")}, ("mean_sqrt_len_tokens", False, 9, "cosine")),
        ({POOLING: flags()}, ("mean", False, 9, "cosine")),
        ({POOLING: {"pooling_mode": "cls", **flags("mean_tokens")}}, ("cls", False, 9, "cosine")),
        ({POOLING: {"pooling_mode": ["max"]}}, ("max", False, 9, "cosine")),
        ({MODULES: modules("BERT", "Pooling", "Normalize")}, ("mean", True, 9, "cosine")),
        ({MODULES: modules("Transformer", "Pooling", "Normalize", package=NEW)}, ("mean", True, 9, "cosine")),
        ({TRANSFORMER: {"max_seq_length": 99, "do_lower_case": True}}, PLAIN),
        ({TRANSFORMER: {"max_seq_length": None, "model_args": {}}}, PLAIN),
        ({WHOLE: {"similarity_fn_name": "dot"}}, ("mean", False, 9, "dot")),
        ({WHOLE: {"similarity_fn_name": None}}, ("mean", False, 9, "cosine")),
        ({WHOLE: {"similarity_fn_name": "dot"}, POOLING: flags("cls_token"), MODULES: None}, PLAIN),
        (OF_TOKENIZER, ("mean", False, 9, "cosine")),
        ({**OF_TOKENIZER, TRANSFORMER: {}}, ("mean", False, 12, "cosine")),
        ({**OF_TOKENIZER, TRANSFORMER: None}, ("mean", False, 12, "cosine")),
    ],
)
def test_what_the_folder_says_is_done_unless_the_caller_says_otherwise(folder, files, wanted):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        embed = Embed.from_pretrained(folder(files))
    assert settings_of(embed) == wanted
    names = ("pooling", "normalize", "max_length", "similarity_fn_name")
    by_hand = Embed(embed.model, embed.tokenizer, **dict(zip(names, wanted, strict=True)))
    np.testing.assert_array_equal(embed(TEXTS), by_hand(TEXTS))
    given = {"pooling": "pooler", "normalize": not wanted[1], "max_length": 20, "similarity_fn_name": "dot"}
    assert settings_of(Embed.from_pretrained(folder(files), **given)) == tuple(given.values())
    given = dict.fromkeys(given)
    assert settings_of(Embed.from_pretrained(folder(files), **given)) == wanted, "None is as if not given"


def test_the_bert_may_lie_in_a_folder_of_its_own(folder, tmp_path_factory):
    path, own = folder({}), tmp_path_factory.mktemp("model")
    wanted = Embed.from_pretrained(path)(TEXTS)
    shutil.copytree(path, own / "0_BERT")
    shutil.move(own / "0_BERT" / "1_Pooling", own)
    (own / MODULES).write_text(json.dumps([{**FIRST, "path": "0_BERT"}, USUAL[MODULES][1]]))
    embed = Embed.from_pretrained(str(own))
    assert embed.max_length == 9
    np.testing.assert_array_equal(embed(TEXTS), wanted)


FIRST = USUAL[MODULES][0]
CAPITALS = {TRANSFORMER: {"do_lower_case": True}, "tokenizer_config.json": {"do_lower_case": False}}
PROMPT = {"prompts": {"query": "find: "}, "default_prompt_name": "query"}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({MODULES: modules("Transformer", "Pooling", "Dense")}, f"{MODULES}: npbert does not support the module Dense"),
        (
            {MODULES: modules("Transformer", "Pooling", "Pooling")},
            f"{MODULES}: npbert does not support the module Pooling",
        ),
        (
            {MODULES: modules("Transformer", "Normalize", "Pooling")},
            f"{MODULES}: npbert does not support the module Normalize",
        ),
        (
            {MODULES: [FIRST, *modules("Pooling", package="my.")]},
            f"{MODULES}: npbert does not support the module my.Pooling",
        ),
        ({MODULES: [FIRST]}, f"{MODULES}: Pooling is missing"),
        ({POOLING: {"pooling_mode": "lasttoken"}}, f"{POOLING}: npbert does not support the pooling lasttoken"),
        ({POOLING: flags("weightedmean_tokens")}, f"{POOLING}: npbert does not support the pooling weightedmean"),
        ({POOLING: flags("cls_token", "mean_tokens")}, f"{POOLING}: npbert does not support the pooling cls + mean"),
        ({POOLING: {"pooling_mode": ["mean", 5]}}, f"{POOLING}: npbert does not support the pooling mean + 5"),
        ({POOLING: {"include_prompt": False}}, f"{POOLING}: npbert cannot exclude a prompt from the pooling"),
        (CAPITALS, f"{TRANSFORMER}: do_lower_case is true, but the tokenizer keeps capital letters"),
        ({WHOLE: PROMPT}, f"{WHOLE}: npbert does not add the prompt 'find: ' to every text"),
    ],
)
def test_what_npbert_does_not_do_is_refused_unless_the_caller_chooses_a_pooling(folder, files, message):
    path = folder(files)
    message = re.escape(f"{path / message.partition(': ')[0]}: {message.partition(': ')[2]}")
    with pytest.raises(FileError, match=f"^{message}.*; to use the model without it, give a pooling$"):
        Embed.from_pretrained(path, normalize=True)
    with pytest.warns(UserWarning, match=f"^{message}.*; the model is used without it$"):
        embed = Embed.from_pretrained(path, pooling="cls")
    np.testing.assert_array_equal(embed(TEXTS[0]).shape, (12,))


def test_prompts_are_said_and_left_to_the_caller(folder):
    path = folder({WHOLE: {"prompts": {"query": "find: ", "document": ""}, "default_prompt_name": None}})
    said = f"{path / WHOLE} has prompts; add them to your texts: query: 'find: '"
    with pytest.warns(UserWarning, match=f"^{re.escape(said)}$"):
        Embed.from_pretrained(path)


def test_a_similarity_that_npbert_does_not_have_is_refused_when_it_is_used(folder):
    embed = Embed.from_pretrained(folder({WHOLE: {"similarity_fn_name": "manhattan"}}))
    assert embed(TEXTS).shape == (3, 12)
    for compare in (embed.similarity, embed.semantic_search):
        with pytest.raises(ValueError, match="similarity_fn_name is 'manhattan', wanted cosine or dot"):
            compare(TEXTS, TEXTS)


OUT = {"idx": 1, "name": "1", "type": f"{OLD}Pooling"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (MODULES, "[", ", line 1: not valid JSON: Expecting value"),
        (MODULES, "{}", ": a module is {}, wanted an object"),
        (MODULES, "[]", ": the first module is missing, wanted a Transformer"),
        (MODULES, "[5]", ': a module is 5, wanted an object with the strings "type" and "path"'),
        (MODULES, [FIRST, {"type": "Pooling"}], ": a module is {'type': 'Pooling'}, wanted an object with the strings"),
        (MODULES, modules("CLIPModel", "Pooling"), ": the first module is CLIPModel, wanted a Transformer"),
        *[
            (MODULES, [FIRST, {**OUT, "path": path}], f": the path of a module is {path!r}, wanted one inside")
            for path in ("..", "../outside", "/etc", "1_Pooling/../../outside", "link", "a\0b")
        ],
        (POOLING, "[]", " is a JSON list, wanted an object"),
        (TRANSFORMER, {"max_seq_length": 0}, ": max_seq_length is 0, wanted a whole number of tokens, at least 1"),
        (TRANSFORMER, {"max_seq_length": "9"}, ": max_seq_length is '9', wanted a whole number of tokens, at least 1"),
    ],
)
def test_a_bad_file_is_named(folder, name, content, message, tmp_path_factory):
    path = folder({name: content})
    (path / "link").symlink_to(tmp_path_factory.mktemp("outside"))
    with pytest.raises(FileError, match="^" + re.escape(f"{path / name}{message}")):
        Embed.from_pretrained(path, pooling="cls")


def test_a_pooling_without_its_file(folder):
    with pytest.raises(FileNotFoundError, match=re.escape(POOLING)):
        Embed.from_pretrained(folder({POOLING: None}))


@pytest.mark.parametrize("pooling", ["mean", "cls", "max", "mean_sqrt_len_tokens"])
@pytest.mark.parametrize("normalize", [True, False])
def test_what_is_saved_makes_the_same_vectors(folder, tmp_path, pooling, normalize):
    """Model and tokenizer alone would lose how the vectors are made."""
    options = {"pooling": pooling, "normalize": normalize, "max_length": 6, "similarity_fn_name": "dot"}
    before = Embed.from_pretrained(folder({}), **options)
    before.save_pretrained(tmp_path / "new" / "folder")
    after = Embed.from_pretrained(tmp_path / "new" / "folder")
    with pytest.warns(UserWarning, match="cut"):
        np.testing.assert_array_equal(after(TEXTS), before(TEXTS))
    assert {name: getattr(after, name) for name in options} == options


def test_what_is_not_overwritten_or_cannot_be_saved(folder, tmp_path):
    embed = Embed.from_pretrained(folder({}))
    other = write_checkpoint(tmp_path / "other", BertModel)
    (other / "vocab.txt").unlink()
    before = {path: path.read_bytes() for path in other.iterdir()}
    with pytest.raises(
        FileExistsError, match=f"^{other} already has a model; to replace it, give overwrite=True$"
    ):
        embed.save_pretrained(other)
    assert all(path.read_bytes() == content for path, content in before.items())
    embed.save_pretrained(other, overwrite=True)
    embed.save_pretrained(other)
    for options in ({"pooling": "pooler"}, {"layer": 0}):
        with pytest.raises(ValueError, match="cannot be saved, as sentence-transformers pools only the last"):
            Embed(embed.model, embed.tokenizer, **options).save_pretrained(tmp_path / "new")
    assert not (tmp_path / "new").exists()
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "1_Pooling").symlink_to(other)
    with pytest.raises(FileError, match="1_Pooling is a link, wanted a folder"):
        embed.save_pretrained(tmp_path / "new")
