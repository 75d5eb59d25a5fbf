"""config.json: what is read, what is refused, what is written."""

import json
from pathlib import Path

import numpy as np
import pytest

from npbert import BertConfig
from npbert.io.files import FileError
from npbert.models import load_config
from npbert.models.hugging_face import write_config
from tests.models.small import small_config


def read(folder, stored):
    """load_config of a file with this text, or with this value as JSON."""
    (folder / "config.json").write_text(stored if isinstance(stored, str) else json.dumps(stored), encoding="utf-8")
    return load_config(str(folder))


@pytest.mark.parametrize(
    "config",
    [
        BertConfig(),
        small_config(hidden_act="gelu_new", layer_norm_eps=1e-5, type_vocab_size=4, initializer_range=0.5),
        small_config(classifier_dropout=0.25, hidden_dropout_prob=0.4, attention_probs_dropout_prob=0.3),
        small_config(num_labels=3, id2label=("Ort", "Größe", "人")),
        *(small_config(num_labels=count) for count in (1, 12)),
        small_config(vocab_size=np.int64(9), hidden_dropout_prob=np.float32(0.25), num_labels=np.int32(3)),
    ],
    ids=str,
)
def test_there_and_back(config, tmp_path):
    write_config(tmp_path / "config.json", config, architecture="BertModel", dtype=np.float32)
    assert load_config(tmp_path) == config


ELEVEN = {str(index): str(-index) for index in range(11)}


@pytest.mark.parametrize(
    ("stored", "config"),
    [
        ({"hidden_size": 24, "torch_dtype": "float32"}, {"hidden_size": 24}),
        ('\ufeff{"vocab_size": 9}', {"vocab_size": 9}),
        ({"id2label": None, "num_labels": 1}, {"num_labels": 1}),
        ({"id2label": {"1": "yes", "0": "no"}}, {"id2label": ("no", "yes")}),
        ({"id2label": {"1": "LABEL_1", "0": "LABEL_0"}}, {}),
        ({"id2label": {"0": "a", "1": "b", "2": "c"}, "num_labels": 2}, {"num_labels": 3, "id2label": tuple("abc")}),
        ({"id2label": ["no", "yes"]}, {"id2label": ("no", "yes")}),
        ({"id2label": {"0": 7}}, {"num_labels": 1, "id2label": ("7",)}),
        ({"id2label": ELEVEN}, {"num_labels": 11, "id2label": tuple(ELEVEN.values())}),
        ({"model_type": "bert", "is_decoder": False, "add_cross_attention": False, "tie_word_embeddings": True}, {}),
        ({"problem_type": None, "position_embedding_type": "absolute"}, {}),
        ({"problem_type": "single_label_classification"}, {}),
        ({"problem_type": "regression", "num_labels": 1}, {"num_labels": 1}),
    ],
    ids=str,
)
def test_what_is_read(stored, config, tmp_path):
    assert read(tmp_path, stored) == BertConfig(**config)


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        ({"model_type": "bart"}, "model_type is 'bart', wanted one of bert, roberta"),
        ({"is_decoder": True}, "is_decoder is True, wanted False"),
        ({"problem_type": "multi_label_classification"}, "or 'single_label_classification', one label for"),
        ({"problem_type": "regression", "num_labels": 2}, "a regression with 2 outputs, wanted 1"),
        ({"hidden_act": ["gelu"]}, r"hidden_act is \['gelu'\], wanted one of gelu"),
        ({"id2label": "no, yes"}, "id2label is 'no, yes', wanted a name for each label"),
        ({"id2label": {"1": "no", "2": "yes"}}, "id2label is .*, wanted the keys 0 to 1, without gaps"),
        ({"id2label": {}}, "num_labels is 0, wanted at least 1"),
        ('{"vocab_size": 9,\n,}', "line 2: not valid JSON: "),
    ],
    ids=str,
)
def test_errors_name_the_file(stored, message, tmp_path):
    with pytest.raises(FileError, match=f"^{tmp_path / 'config.json'}.*{message}"):
        read(tmp_path, stored)


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=rf"^{tmp_path} is not a checkpoint: it has no config.json \(npbert"):
        load_config(tmp_path)
    with pytest.raises(FileNotFoundError, match="bert-base is not a checkpoint: it does not exist"):
        load_config("bert-base")
    (tmp_path / "file").touch()
    with pytest.raises(FileNotFoundError, match=rf"did you mean {Path.cwd()}\?\)$"):
        load_config("pyproject.toml")
    message = rf"file is not a checkpoint: it is a file, wanted a folder \(did you mean {tmp_path}\?\)$"
    with pytest.raises(FileNotFoundError, match=message):
        load_config(tmp_path / "file")
    (tmp_path / "model").mkdir()
    with pytest.raises(FileNotFoundError, match=r"it has no config\.json"):
        load_config(tmp_path)
    (tmp_path / "model" / "config.json").write_text('{"vocab_size": 9}', encoding="utf-8")
    assert load_config(tmp_path).vocab_size == 9, "of the best model of a run"
