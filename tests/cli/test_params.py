"""`npbert params`: of a size, and of a checkpoint, for which no extra is needed."""

import json

import pytest

from npbert import BertConfig, BertForMaskedLM, BertForTokenClassification, BertModel
from npbert.cli import main
from npbert.models import PRESETS, parameter_rows, parameter_table, size_table
from npbert.models.hugging_face.config import write_config

SMALL = BertConfig(20, 12, 2, 2, 10, num_labels=3)


def test_of_a_size(npbert):
    assert npbert("params", "bert-tiny").out.decode().splitlines()[-1].split() == ["total", "4,385,920"]


@pytest.mark.parametrize(
    ("architecture", "model_class"),
    [(kind.__name__, kind) for kind in (BertModel, BertForMaskedLM, BertForTokenClassification)]
    + [("BertForTwoTowers", None), ("BertConfig", None)],
)
def test_of_a_checkpoint(npbert, tmp_path, architecture, model_class):
    """config.json is enough: it names the head."""
    path = tmp_path / "config.json"
    write_config(path, SMALL, architecture=architecture, dtype="float32")
    said = "" if model_class else f"npbert: npbert does not have the head in {path}: this is the BertModel without it\n"
    model = (model_class or BertModel)(SMALL, rng=None)
    assert npbert("params", tmp_path) == (0, f"{parameter_table(model)}\n".encode(), said)
    listed = json.loads(npbert("params", tmp_path, "--json").out)
    assert listed["model"] == type(model).__name__
    assert BertConfig(**listed["config"]) == SMALL
    assert [(row["name"], tuple(row["shape"]), row["count"]) for row in listed["parameters"]] == parameter_rows(model)
    path.write_text(path.read_text(encoding="utf-8").replace("architectures", "others"), encoding="utf-8")
    assert json.loads(npbert("params", tmp_path, "--json").out)["model"] == "BertModel"
    assert listed["total"] == sum(parameter.value.size for parameter in model.parameters())


def test_the_table_of_sizes_counts_what_a_model_has():
    for name in PRESETS:
        config = BertConfig.preset(name)
        (line,) = [line for line in size_table().splitlines() if name in line.split()]
        assert line.split()[-3:-1] == [str(config.num_hidden_layers), str(config.hidden_size)]


def test_what_is_neither_a_size_nor_a_folder(capsys):
    assert main(["params", "bert-smol"]) == 2
    usage, _, said, *sizes = capsys.readouterr().err.splitlines()
    assert usage == "usage: npbert params MODEL [options]"
    assert said.endswith(": 'bert-smol' is not a folder or a size; did you mean bert-small?")
    assert sizes == size_table().splitlines()
    assert max(map(len, sizes)) <= 80
