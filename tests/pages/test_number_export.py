"""The data that the page gets of a model, and the lines of npbert that it shows."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import npbert
from npbert import BertForMaskedLM
from npbert.models.architecture import Architecture
from npbert.pages.number.export import export
from npbert.training import TrainerSettings
from tests.pages import models

PACKAGE = Path(npbert.__file__).parent.parent
LAYER = "bert.encoder.layers.0"


@pytest.fixture(scope="module")
def exported():
    """A model, and its data as the page reads it."""
    model = models.make_models()[0]
    data = export(model, models.EXAMPLES, models.VOCABULARY)
    return model, json.loads(json.dumps(data, allow_nan=False))


def test_every_digit_of_every_parameter_comes_back_with_the_sentences_and_the_proof(exported):
    model, data = exported
    for name, parameter in model.named_parameters():
        found = data["parameters"].pop(name)
        assert np.array_equal(np.reshape(found["values"], found["shape"]), parameter.value)
    assert data["parameters"] == {}
    for one, example in zip(data["examples"], models.EXAMPLES, strict=True):
        assert all(one[name] == list(getattr(example, name)) for name in ("input_ids", "token_type_ids", "labels"))
    assert data["examples"][2]["text"] == "hello [MASK] am | how are [MASK]" and data["proof"] == "proved"
    assert data["optimizer"]["weight_decay"] == TrainerSettings().weight_decay


@pytest.mark.parametrize(
    ("sizes", "changes", "message"),
    [
        ({}, {"examples": [replace(models.EXAMPLES[0], labels=[-100] * 5)]}, "labels has no target"),
        ({"hidden_act": "silu"}, {}, "hidden_act is 'silu', wanted one of gelu, relu, gelu_new"),
        ({"architecture": Architecture("roberta")}, {}, "model_type is 'roberta', wanted one of bert"),
        ({"hidden_size": 34}, {}, "hidden_size is 34, wanted at most 32 for the page"),
    ],
)
def test_what_does_not_fit_is_refused(sizes, changes, message):
    config = replace(models.make_models()[0].config, **sizes)
    given = {"examples": models.EXAMPLES, "vocabulary": models.VOCABULARY, **changes}
    with pytest.raises(ValueError, match=message):
        export(BertForMaskedLM(config, rng=None), **given)


def test_lines_are_those_of_the_files_and_without_docstrings(exported):
    source = exported[1]["source"]
    for name, code in source["functions"].items():
        text = (PACKAGE / code["file"]).read_text(encoding="utf-8").splitlines()
        assert all(text[number - 1].strip() == line.strip() for number, line in code["lines"])
        assert any(f"def {name.split('.')[-1]}(" in line for _, line in code["lines"][:2])
        assert '"""' not in "".join(line for _, line in code["lines"])


def test_the_lines_that_light_up_are_those_that_compute(exported):
    source = exported[1]["source"]
    frames = source["steps"][f"backward Softmax {LAYER}.attention.dot_product"]
    assert [name for name, _ in frames] == ["softmax_backward", "DotProductAttention.attend_backward"]
    ((name, lit),) = source["steps"][f"backward Linear {LAYER}.attention.key"]
    lines = "\n".join(line for number, line in source["functions"][name]["lines"] if number in lit)
    assert "matmul(x.T, dy)" in lines and "check_" not in lines
