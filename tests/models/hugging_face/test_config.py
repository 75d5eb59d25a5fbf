"""config.json: what is read, what is refused, what is written."""

import json
from dataclasses import replace

import numpy as np
import pytest

from npbert import BertConfig
from npbert.io.files import FileError
from npbert.models import load_config
from tests.models.small import small_config


def read(folder, stored):
    """load_config of a file with this text, or with this value as JSON."""
    (folder / "config.json").write_text(stored if isinstance(stored, str) else json.dumps(stored), encoding="utf-8")
    return load_config(str(folder))


def test_there_and_back(tmp_path):
    """Also of NumPy's numbers, and of names in other letters."""
    config = small_config(
        vocab_size=np.int64(9),
        hidden_act="gelu_new",
        layer_norm_eps=1e-5,
        type_vocab_size=4,
        initializer_range=0.5,
        classifier_dropout=0.25,
        hidden_dropout_prob=np.float32(0.375),
        attention_probs_dropout_prob=0.3,
        num_labels=np.int32(3),
        id2label=("Ort", "Größe", "人"),
    )
    config.write(tmp_path / "config.json", model="BertModel", dtype=np.float32)
    assert load_config(tmp_path) == config


def test_other_entries_stay_and_the_type_of_the_problem_is_that_of_the_head(tmp_path):
    config = read(tmp_path, {"pad_token_id": 7, "num_labels": 1, "problem_type": "regression"})
    for labels, problem in ((3, None), (1, "regression")):
        config = replace(config, num_labels=labels)
        config.write(tmp_path / "config.json", model="BertForSequenceClassification", dtype=np.float32)
        assert load_config(tmp_path) == config
        stored = json.loads((tmp_path / "config.json").read_text())
        assert (stored["pad_token_id"], stored["problem_type"]) == (7, problem)


ELEVEN = {str(index): str(-index) for index in range(11)}


@pytest.mark.parametrize(
    ("stored", "config"),
    [
        ('\ufeff{"vocab_size": 9, "torch_dtype": "float32"}', {"vocab_size": 9}),
        ({"id2label": None, "num_labels": 1, "problem_type": "regression"}, {"num_labels": 1}),
        ({"id2label": {"1": "LABEL_1", "0": "LABEL_0"}, "problem_type": None}, {}),
        ({"id2label": ELEVEN}, {"num_labels": 11, "id2label": tuple(ELEVEN.values())}),
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
        (
            {"model_type": "roberta", "position_embedding_type": "relative_key"},
            "'relative_key', wanted one of absolute",
        ),
        ({"model_type": "albert", "inner_group_num": 2}, "inner_group_num is 2, wanted 1"),
        ({"model_type": "modernbert", "norm_bias": True}, "norm_bias is True, wanted False"),
        ({"model_type": "nomic_bert", "head_dim": 4}, "head_dim is 4, wanted 64"),
        ({"model_type": "nomic_bert", "rope_parameters": {"rope_type": "yarn"}}, "rope_type is 'yarn', wanted"),
        (
            {"model_type": "nomic_bert", "rope_parameters": {"partial_rotary_factor": 0.5}},
            "partial_rotary_factor is 0.5, wanted 1.0",
        ),
        ({"problem_type": "multi_label_classification"}, "2 labels, wanted one label or one number for each"),
        ({"problem_type": "regression", "num_labels": 2}, "regression with 2 labels, wanted one label or one"),
        ({"hidden_act": ["gelu"]}, r"hidden_act is \['gelu'\], wanted one of gelu"),
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
