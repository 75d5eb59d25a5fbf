"""`npbert params`: of a size, and of a checkpoint, for which no extra is needed."""

import json
from fnmatch import fnmatchcase

import pytest

from npbert import BertConfig, BertForTokenClassification, BertModel
from npbert.models import parameter_table, size_table

SMALL = BertConfig(20, 12, 2, 2, 10, num_labels=3)


def test_of_a_size(npbert):
    assert npbert("params", "bert-tiny").out.decode().splitlines()[-1].split() == ["total", "4,385,920"]
    result = npbert("params", "bert-smol")
    usage, _, said, *sizes = result.err.splitlines()
    assert (result.status, usage) == (2, "usage: npbert params MODEL [options]")
    assert said.endswith(": 'bert-smol' is not a folder or a size; did you mean bert-small?")
    assert sizes == size_table().splitlines() and max(map(len, sizes)) <= 80


@pytest.mark.parametrize(
    ("architecture", "model_class", "note"),
    [
        ("BertForTokenClassification", BertForTokenClassification, ""),
        (
            "BertForTwoTowers",
            BertModel,
            "npbert: npbert does not have the head in {}: this is *\n",
        ),
    ],
)
def test_of_a_checkpoint(npbert, tmp_path, architecture, model_class, note):
    """config.json is enough: it names the head."""
    path = tmp_path / "model" / "config.json"  # as in a run
    path.parent.mkdir()
    SMALL.write(path, model=architecture, dtype="float32")
    model = model_class(SMALL, rng=None)
    status, out, err = npbert("params", tmp_path)
    assert (status, out.decode()) == (0, f"{parameter_table(model)}\n")
    assert fnmatchcase(err, note.format(tmp_path))
    listed = json.loads(npbert("params", tmp_path, "--json").out)
    rows = [(name, [*each.value.shape], each.value.size) for name, each in model.named_parameters()]
    assert [(row["name"], row["shape"], row["count"]) for row in listed["parameters"]] == rows
    del listed["config"]["architecture"]  # BERT's
    assert (listed["model"], BertConfig(**listed["config"])) == (model_class.__name__, SMALL)
    assert listed["total"] == model.num_parameters()
