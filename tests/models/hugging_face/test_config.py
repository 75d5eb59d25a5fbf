"""config.json: what is read, what is refused, what is written."""

import json

import numpy as np
import pytest

from npbert import BertConfig
from npbert.files import FileError
from npbert.models import load_config
from npbert.models.hugging_face import write_config
from tests.models.small import small_config


def read(folder, text):
    """load_config of a file with this text, or with this value as JSON."""
    (folder / "config.json").write_text(text if isinstance(text, str) else json.dumps(text))
    return load_config(folder)


def written(folder, config, **options):
    """What write_config writes."""
    write_config(folder / "config.json", config, **{"architecture": "BertModel", "dtype": np.float32, **options})
    return json.loads((folder / "config.json").read_text())


@pytest.mark.parametrize(
    "config",
    [
        BertConfig(),
        small_config(hidden_act="gelu_new", layer_norm_eps=1e-5, type_vocab_size=3, initializer_range=0.5),
        small_config(classifier_dropout=0.25, hidden_dropout_prob=0.4, attention_probs_dropout_prob=0.3),
        small_config(num_labels=3, id2label=("Ort", "Größe", "人")),
        small_config(num_labels=1),
        small_config(num_labels=12),
        small_config(vocab_size=np.int64(9), hidden_dropout_prob=np.float32(0.25), num_labels=np.int32(3)),
    ],
    ids=str,
)
def test_there_and_back(config, tmp_path):
    written(tmp_path, config)
    assert load_config(str(tmp_path)) == config


def test_what_transformers_looks_for(tmp_path):
    config = small_config(num_labels=2, id2label=("no", "yes"), position_embedding_type="sinusoidal")
    stored = written(tmp_path, config, architecture="BertForMaskedLM", dtype=np.float64)
    wanted = {"model_type": "bert", "architectures": ["BertForMaskedLM"], "dtype": "float64"}
    wanted |= {"id2label": {"0": "no", "1": "yes"}, "label2id": {"no": 0, "yes": 1}}
    wanted |= {"position_embedding_type": "absolute", "vocab_size": 7, "hidden_act": "gelu"}
    assert {name: stored[name] for name in wanted} == wanted
    assert "num_labels" not in stored


def test_what_is_missing_has_its_default_and_what_is_unknown_is_left(tmp_path):
    assert read(tmp_path, {}) == BertConfig()
    assert read(tmp_path, {"hidden_size": 24, "torch_dtype": "float32"}) == BertConfig(hidden_size=24)
    assert read(tmp_path, '\ufeff{"vocab_size": 9}').vocab_size == 9  # a byte order mark


@pytest.mark.parametrize(
    ("stored", "names"),
    [
        ({"num_labels": 3}, ("LABEL_0", "LABEL_1", "LABEL_2")),
        ({"id2label": None, "num_labels": 1}, ("LABEL_0",)),
        ({"id2label": {"1": "yes", "0": "no"}}, ("no", "yes")),
        ({"id2label": {"0": "no", "1": "yes", "2": "so"}, "num_labels": 2}, ("no", "yes", "so")),
        ({"id2label": {"0": 7}}, ("7",)),
        ({"id2label": {str(index): str(-index) for index in range(11)}}, tuple(str(-index) for index in range(11))),
    ],
)
def test_labels(stored, names, tmp_path):
    config = read(tmp_path, stored)
    assert config.label_names == names
    assert config.num_labels == len(names)


@pytest.mark.parametrize(
    "stored",
    [
        {"model_type": "bert", "is_decoder": False, "add_cross_attention": False, "tie_word_embeddings": True},
        {"problem_type": None, "position_embedding_type": "absolute"},
        {"problem_type": "single_label_classification"},
        {"problem_type": "regression", "num_labels": 1},
    ],
    ids=str,
)
def test_settings_that_npbert_has(stored, tmp_path):
    assert read(tmp_path, stored) == BertConfig(num_labels=stored.get("num_labels", 2))


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        ({"model_type": "roberta"}, "model_type is 'roberta', wanted 'bert'"),
        ({"model_type": None}, "model_type is None, wanted 'bert'"),
        ({"is_decoder": True}, "is_decoder is True, and npbert has only False"),
        ({"add_cross_attention": True}, "add_cross_attention is True, and npbert has only False"),
        ({"tie_word_embeddings": False}, "tie_word_embeddings is False, and npbert has only True"),
        ({"problem_type": "multi_label_classification"}, "problem_type is 'multi_label_classification', and npbert has"),
        ({"problem_type": "regression", "num_labels": 3}, "a regression of 3 numbers, and npbert has only one of 1"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type is 'relative_key', wanted one of"),
        ({"hidden_act": "silu"}, "hidden_act is 'silu', wanted one of gelu"),
        ({"hidden_act": ["gelu"]}, r"hidden_act is \['gelu'\], wanted one of gelu"),
        ({"hidden_size": "768"}, "hidden_size is '768', wanted an integer"),
        ({"hidden_size": 770}, "hidden_size 770 is not divisible by num_attention_heads 12"),
        ({"hidden_dropout_prob": None}, "hidden_dropout_prob is None, wanted a number"),
        ({"num_labels": None}, "num_labels is None, wanted an integer"),
        ({"id2label": ["no", "yes"]}, r"id2label is \['no', 'yes'\], wanted an object with the keys \"0\", \"1\""),
        ({"id2label": {"1": "no", "2": "yes"}}, "id2label is .*, wanted an object with the keys"),
        ({"id2label": {}}, "num_labels is 0, wanted at least 1"),
        ([1, 2], "holds a JSON list, wanted an object"),
        (None, "holds a JSON NoneType, wanted an object"),
        ('{"vocab_size": 9,\n}', "line 2: no valid JSON: "),
        ("", "line 1: no valid JSON: "),
    ],
    ids=str,
)
def test_errors_name_the_file(stored, message, tmp_path):
    with pytest.raises(FileError, match=f"^{tmp_path / 'config.json'}.*{message}"):
        read(tmp_path, stored)


def test_no_text_and_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=rf"^{tmp_path} is no checkpoint: it has no config.json \(npbert reads"):
        load_config(tmp_path)
    with pytest.raises(FileNotFoundError, match="bert-base is no checkpoint: there is no such folder"):
        load_config("bert-base")
    (tmp_path / "model").mkdir()
    with pytest.raises(FileNotFoundError, match=rf"it has no config.json \(did you mean {tmp_path / 'model'}\?"):
        load_config(tmp_path)
    (tmp_path / "config.json").write_bytes(b'{\n"vocab_size": \xff}')
    with pytest.raises(FileError, match=rf"^{tmp_path / 'config.json'}, line 2: byte 16 \(0xff\) is not UTF-8"):
        load_config(tmp_path)
