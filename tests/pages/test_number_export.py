"""The data that the page gets of a model, and the lines of npbert that it shows."""

import copy
import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import npbert
from npbert import IGNORED, BertForMaskedLM, BertForSequenceClassification
from npbert.data import Example
from npbert.pages.number.export import export
from npbert.training.settings import TrainerSettings
from tests.pages import models

TRAINER = {name: getattr(TrainerSettings(), name) for name in ("weight_decay", "max_grad_norm")}
PACKAGE = Path(npbert.__file__).parent.parent


def exported(model=0, **changes):
    return export(models.make_models()[model], models.EXAMPLES, models.VOCABULARY, **changes)


@pytest.mark.parametrize("model", range(3))
def test_every_digit_of_every_parameter_comes_back(model):
    original = models.make_models()[model]
    data = json.loads(json.dumps(exported(model), allow_nan=False))
    read = {name: parameter for name, parameter in original.named_parameters() if name in data["parameters"]}
    assert list(read) == list(data["parameters"])
    for name, parameter in read.items():
        found = data["parameters"][name]
        assert np.array_equal(np.reshape(found["values"], found["shape"]), parameter.value)
    left_out = {name.split(".")[0] for name, _ in original.named_parameters() if name not in read} - {"bert"}
    assert left_out == ({"seq_relationship"} if model == 1 else set())
    assert list(data["constants"]) == (["bert.embeddings.position_embeddings.table"] if model == 2 else [])


def test_sentences_have_their_text_and_the_optimizer_is_adamw_as_it_comes():
    data = exported()
    assert [one["text"] for one in data["examples"]][:3] == [
        "how are [MASK]",
        "[MASK] are you and you and [MASK]",
        "hello [MASK] am | how are [MASK]",
    ]
    for one, example in zip(data["examples"], models.EXAMPLES, strict=True):
        assert all(one[name] == list(getattr(example, name)) for name in ("input_ids", "token_type_ids", "labels"))
    assert data["optimizer"] == {"lr": 1e-3, "betas": [0.9, 0.999], "eps": 1e-8, **TRAINER}
    assert exported(optimizer={"lr": 0.5})["optimizer"]["lr"] == 0.5


def test_the_model_is_left_as_it_is():
    model = models.make_models()[0]
    models.loss_and_gradients(model, models.EXAMPLES)
    before = copy.deepcopy(model)
    export(model, models.EXAMPLES, models.VOCABULARY)
    for one, other in zip(model.parameters(), before.parameters(), strict=True):
        assert np.array_equal(one.value, other.value) and np.array_equal(one.grad, other.grad)


def changed(**changes):
    """The first example, with something else in it."""
    return {"examples": [dataclasses.replace(models.EXAMPLES[0], **changes)]}


def long(count):
    return {"examples": [Example([1] * count, [0] * count, [5] * count, 0)]}


@pytest.mark.parametrize(
    ("sizes", "changes", "message"),
    [
        ({}, {"examples": []}, "at least one with a masked word"),
        ({}, changed(labels=[IGNORED] * 5), "the labels of '.*MASK"),
        ({}, changed(input_ids=[1, 4, 5, 99, 2]), "input_ids has 99, wanted 0 to 11"),
        ({}, changed(token_type_ids=[0, 0, 0, 2, 0]), "token_type_ids has 2, wanted 0 to 1"),
        ({}, changed(labels=[-100, -100, -100, 12, -100]), "labels has 12, wanted 0 to 11"),
        ({}, long(15), "15 tokens, wanted 1 to 14"),
        ({}, long(0), "0 tokens"),
        ({"max_position_embeddings": 40}, long(17), "17 tokens, wanted 1 to 16"),  # where the model would take it
        ({"hidden_size": 34}, {}, "hidden_size is 34, wanted at most 32 for the page"),
        ({"num_hidden_layers": 5}, {}, "num_hidden_layers is 5, wanted at most 4 for the page"),
        ({"intermediate_size": 129}, {}, "intermediate_size is 129"),
        ({"vocab_size": 8000}, {"vocabulary": ["a"] * 8000}, "numbers, wanted at most 30,000 for the page"),
        ({}, {"vocabulary": ["a", "b", "c"]}, "has 3 tokens, wanted 12, the vocab_size"),
        ({}, {"optimizer": {"rate": 1}}, "optimizer has rate, wanted only lr"),
        (
            {"of": BertForSequenceClassification},
            {},
            "model is a BertForSequenceClassification, wanted",
        ),
        ({"bias": np.nan}, {}, r"predictions.bias has numbers that are not finite"),
    ],
)
def test_what_does_not_fit_is_refused(sizes, changes, message):
    sizes = {"of": BertForMaskedLM, "bias": 0.0, **sizes}
    kind, bias = sizes.pop("of"), sizes.pop("bias")
    model = kind(dataclasses.replace(models.make_models()[0].config, **sizes), rng=None)
    if kind is BertForMaskedLM:
        model.predictions.bias.value[3] = bias
    with pytest.raises((TypeError, ValueError), match=message):
        export(model, **{"examples": models.EXAMPLES, "vocabulary": models.VOCABULARY, **changes})


@pytest.fixture(scope="module", params=range(3))
def source(request):
    return exported(request.param)["source"]


def test_lines_are_those_of_the_files_and_without_docstrings(source):
    assert source["files"] == sorted({code["file"] for code in source["functions"].values()})
    for name, code in source["functions"].items():
        text = (PACKAGE / code["file"]).read_text(encoding="utf-8").splitlines()
        assert all(text[number - 1].strip() == line.strip() for number, line in code["lines"])
        assert any(f"def {name.split('.')[-1]}(" in line for _, line in code["lines"][:2])
        assert '"""' not in "".join(line for _, line in code["lines"])
    for step, frames in source["steps"].items():
        assert frames or "SinusoidalPositions" in step
        for name, lines in frames:
            assert set(lines) < {number for number, _ in source["functions"][name]["lines"]}


def lit(source, part, phase, kind):
    """By the name of each function, the innermost first, the text of the lines in it that light up."""
    return {
        name: "\n".join(line for number, line in source["functions"][name]["lines"] if number in lines)
        for name, lines in source["steps"][f"{phase} {kind} {part}"]
    }


LAYER = "bert.encoder.layers.0"
DOT_PRODUCT = f"{LAYER}.attention.dot_product"


@pytest.mark.parametrize(
    ("part", "phase", "kind", "function", "texts"),
    [
        ("bert.embeddings", "forward", "Add", "BertEmbeddings.forward", ["word + position + token_type"]),
        ("bert.embeddings", "backward", "Add", "BertEmbeddings.backward", ["self.word_embeddings.backward(dsum"]),
        (f"{LAYER}.attention", "forward", "Fork", "MultiHeadAttention.forward", ["self.query(", "self.value("]),
        (f"{LAYER}.attention", "backward", "Fork", "MultiHeadAttention.backward", ["+ self.key.backward"]),
        (f"{LAYER}.feed_forward", "backward", "Fork", "EncoderLayer.backward", ["dh = ds + self.feed_forward."]),
        (f"{LAYER}.attention", "forward", "Add", "EncoderLayer.forward", ["self.attention_norm(x + "]),
        (f"{LAYER}.feed_forward", "forward", "Add", "EncoderLayer.forward", ["self.output_norm(h + "]),
        (f"{LAYER}.attention", "backward", "Add", "EncoderLayer.backward", ["df = "]),
        (f"{LAYER}.attention_norm", "backward", "LayerNorm", "LayerNorm.three_roads", ["stretch = ", "dx /= sigma"]),
        (f"{LAYER}.attention.key", "backward", "Linear", "Linear.backward", ["matmul(x.T, dy)", "return matmul(dy"]),
        (DOT_PRODUCT, "forward", "Scores", "_probabilities", ["_transposed(k)"]),
        (DOT_PRODUCT, "forward", "Softmax", "softmax", ["np.exp(", "row_sums("]),
        (DOT_PRODUCT, "backward", "WeightedMean", "DotProductAttention.attend_backward", ["dv = ", "da = dc @ "]),
        (DOT_PRODUCT, "backward", "Softmax", "softmax_backward", ["dp - dot_rows"]),
        (DOT_PRODUCT, "backward", "Scores", "DotProductAttention.attend_backward", ["return dqk @ k"]),
        ("gather", "backward", "Gather", "Gather.backward", ["scatter_add(dx"]),
        ("predictions", "backward", "Decoder", "MaskedLMHead.backward", ["dlogits.T, h", "dh = matmul(dlogits"]),
        ("parameters", "update", "AdamW", "adam", ["m_hat = m / (1 - beta1**t)", "theta - alpha * m_hat"]),
        ("cross_entropy", "backward", "CrossEntropy", "SoftmaxCrossEntropy.backward", ["np.exp(s - m)", "-= share"]),
    ],
)
def test_the_lines_that_light_up_are_those_that_compute(source, part, phase, kind, function, texts):
    (found, text), *_ = lit(source, part, phase, kind).items()
    assert found == function
    assert all(wanted in text for wanted in texts)
    assert "check_" not in text


def test_the_update_has_the_lines_of_clipping_and_decay_too(source):
    texts = lit(source, "parameters", "update", "AdamW")
    assert "max_norm / (norm + 1e-6)" in texts["clip_factor"]
    assert "self.lr * self.weight_decay" in texts["AdamW.kept"]


def test_the_callers_come_after_and_the_proof_is_told(source):
    assert list(lit(source, f"{LAYER}.attention.key", "backward", "Linear")) == [
        "Linear.backward",
        "MultiHeadAttention.backward",
        "EncoderLayer.backward",
        "Encoder.backward",
    ]
    model = models.make_models()[0]
    count = sum(parameter.value.size for parameter in model.parameters())
    assert exported()["proof"] == {"verdict": "proved", "derivatives": count}
