"""Embed in a folder of sentence-transformers: modules.json and the files that it names. (The numbers were compared with
those of sentence-transformers itself by hand: it is no dependency of the tests.)"""

import json
import re
import shutil
import warnings

import numpy as np
import pytest

from npbert import Embed
from npbert.io.files import FileError
from tests.inference.checkpoints import LONGEST

TEXTS = ["the cat sat on the mat.", "a dog", "the unaffable cat ran"]
MODULES, POOLING = "modules.json", "1_Pooling/config.json"
TRANSFORMER, WHOLE = "sentence_bert_config.json", "config_sentence_transformers.json"
FLAGS = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")
PATHS = {"Pooling": "1_Pooling", "Normalize": "2_Normalize"}


def modules(*kinds, package="sentence_transformers.models."):
    return [{"path": PATHS.get(kind, ""), "type": package + kind} for kind in kinds]


def flags(*true):
    """As older versions write the pooling."""
    return {f"pooling_mode_{flag}": flag in true for flag in FLAGS}


FIRST, SECOND = modules("Transformer", "Pooling")
FILES = {MODULES: [FIRST, SECOND], POOLING: {"pooling_mode": "mean"}, TRANSFORMER: {"max_seq_length": 9}, WHOLE: {}}
USUAL = {"pooling": "mean", "normalize": False, "max_length": 9, "similarity_fn_name": "cosine"}


@pytest.fixture
def checkpoint(checkpoints):
    return checkpoints["embed"]


@pytest.fixture
def folder(tmp_path, checkpoint):
    """folder({file: content}) -> the folder of a model with these files, and else those of FILES; None: it has none."""
    shutil.copytree(checkpoint, tmp_path, dirs_exist_ok=True)

    def make(files):
        for name, content in {**FILES, **files}.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content))
            if content is None:
                (tmp_path / name).unlink()
        return tmp_path

    return make


def settings_of(embed):
    return {name: getattr(embed, name) for name in USUAL}


NORMALIZED = ("Transformer", "Pooling", "Normalize")
NEWEST = {"model_type": "SentenceTransformer", "prompts": {"query": ""}, "default_prompt_name": None}


@pytest.mark.parametrize(
    ("files", "changes"),
    [
        ({}, {}),
        ({WHOLE: NEWEST, POOLING: {"pooling_mode": ["max"]}}, {"pooling": "max"}),
        ({POOLING: flags()}, {}),
        ({POOLING: flags("cls_token")}, {"pooling": "cls"}),
        ({MODULES: modules("BERT", *NORMALIZED[1:], package="sentence_transformers.base.any.")}, {"normalize": True}),
        ({TRANSFORMER: {"max_seq_length": 99, "do_lower_case": True}}, {"max_length": LONGEST}),
        ({TRANSFORMER: None, "tokenizer_config.json": {"model_max_length": 12}}, {"max_length": 12}),
        ({WHOLE: {"similarity_fn_name": "manhattan"}}, {"similarity_fn_name": "manhattan"}),  # refused later
        ({WHOLE: {"similarity_fn_name": "dot"}, POOLING: flags("cls_token"), MODULES: None}, {"max_length": LONGEST}),
    ],
)
def test_what_the_folder_says_is_done_unless_the_caller_says_otherwise(folder, files, changes):
    path = folder(files)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for options in ({}, dict.fromkeys(USUAL)):  # None is as if not given
            assert settings_of(Embed.from_pretrained(path, **options)) == {**USUAL, **changes}
    given = {"pooling": "pooler", "normalize": True, "max_length": 20, "similarity_fn_name": "dot"}
    assert settings_of(Embed.from_pretrained(path, **given)) == given


def test_the_bert_may_lie_in_a_folder_of_its_own(folder, tmp_path_factory):
    path, own = folder({}), tmp_path_factory.mktemp("model")
    wanted = Embed.from_pretrained(path)(TEXTS)
    shutil.copytree(path, own / "0_BERT")
    shutil.move(own / "0_BERT" / "1_Pooling", own)
    (own / MODULES).write_text(json.dumps([{**FIRST, "path": "0_BERT"}, SECOND]))
    np.testing.assert_array_equal(Embed.from_pretrained(str(own))(TEXTS), wanted)


CAPITALS = {TRANSFORMER: {"do_lower_case": True}, "tokenizer_config.json": {"do_lower_case": False}}
PROMPT = {"prompts": {"query": "find: "}, "default_prompt_name": "query"}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        *[
            ({MODULES: modules("Transformer", *kinds)}, f"{MODULES}: npbert does not support the module {kinds[-1]}")
            for kinds in (("Pooling", "Dense"), ("Normalize",))
        ],
        ({MODULES: [FIRST, *modules("Pooling", package="my.")]}, f"{MODULES}: npbert does not support the module my.P"),
        ({MODULES: [FIRST]}, f"{MODULES}: Pooling is missing"),
        ({POOLING: flags("cls_token", "mean_tokens")}, f"{POOLING}: npbert does not support the pooling cls + mean"),
        ({POOLING: {"include_prompt": False}}, f"{POOLING}: npbert cannot exclude a prompt from the pooling"),
        (CAPITALS, f"{TRANSFORMER}: do_lower_case is true, but the tokenizer keeps capital letters"),
        ({WHOLE: PROMPT}, f"{WHOLE}: npbert does not add the prompt 'find: ' to every text"),
    ],
)
def test_what_npbert_does_not_do_is_refused_unless_the_caller_chooses_a_pooling(folder, files, message):
    path = folder(files)
    message = re.escape(f"{path}/{message}")
    with pytest.raises(FileError, match=f"^{message}.*; to use the model without it, give a pooling$"):
        Embed.from_pretrained(path, normalize=True)
    with pytest.warns(UserWarning, match=f"^{message}.*; the model is used without it$"):
        Embed.from_pretrained(path, pooling="cls")


def test_prompts_are_said_and_left_to_the_caller(folder):
    path = folder({WHOLE: {"prompts": {"query": "find: ", "document": ""}}})
    with pytest.warns(UserWarning, match=f"{WHOLE} has prompts; add them to your texts: {{'query': 'find: '}}$"):
        Embed.from_pretrained(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (MODULES, "{}", ": it is a JSON dict, wanted a list"),
        (MODULES, "[]", ": the modules are [], wanted a Transformer first"),
        (MODULES, [FIRST, {"type": "Pooling"}], ": a module is {'type': 'Pooling'}, wanted an object with the strings"),
        (
            MODULES,
            modules("CLIPModel", "Pooling"),
            ": the modules are ['CLIPModel', 'Pooling'], wanted a Transformer first",
        ),
        *[
            (MODULES, [FIRST, {**SECOND, "path": path}], f": the path of a module is {path!r}, wanted one inside")
            for path in ("/etc", "1_Pooling/../../outside", "link", "a\0b")
        ],
        (TRANSFORMER, {"max_seq_length": 0}, ": max_seq_length is 0, wanted a whole number of tokens, at least 1"),
    ],
)
def test_a_bad_file_is_named(folder, name, content, message, tmp_path_factory):
    path = folder({name: content})
    (path / "link").symlink_to(tmp_path_factory.mktemp("outside"))
    with pytest.raises(FileError, match="^" + re.escape(f"{path / name}{message}")):
        Embed.from_pretrained(path, pooling="cls")


@pytest.mark.parametrize("pooling", ["mean", "mean_sqrt_len_tokens"])
def test_what_is_saved_makes_the_same_vectors(checkpoint, tmp_path, pooling):
    """Model and tokenizer alone would lose how the vectors are made."""
    options = {"pooling": pooling, "normalize": pooling != "mean", "max_length": 6, "similarity_fn_name": "dot"}
    before = Embed.from_pretrained(checkpoint, **options)
    before.save_pretrained(tmp_path / "new" / "folder")
    after = Embed.from_pretrained(tmp_path / "new" / "folder")
    assert settings_of(after) == options
    np.testing.assert_array_equal(after(TEXTS[1]), before(TEXTS[1]))


def test_what_cannot_be_saved(checkpoint, tmp_path):
    embed = Embed.from_pretrained(checkpoint, pooling="pooler")
    for options in ({"pooling": "pooler"}, {"layer": 0}):
        with pytest.raises(ValueError, match="cannot be saved, as sentence-transformers pools only the last"):
            Embed(embed.model, embed.tokenizer, **options).save_pretrained(tmp_path)
    assert not any(tmp_path.iterdir())
    (tmp_path / "1_Pooling").symlink_to(checkpoint)
    with pytest.raises(FileError, match="1_Pooling is a link, wanted a folder"):
        Embed(embed.model, embed.tokenizer).save_pretrained(tmp_path)
