"""What goes into a checkpoint and comes out again."""

import json
import warnings

import numpy as np
import pytest
from npbert.models.checkpoint import hugging_face_tensors, load_parameters

from npbert import BertForMaskedLM, BertForPreTraining, BertForSequenceClassification, BertModel
from npbert.files import FileError
from npbert.models import PreTrainedModel
from tests.models.checkpoints import (
    CLASSES,
    assert_same_values,
    bfloat16,
    random_model,
    tensor_file,
    values,
    write_checkpoint,
    write_tensors,
)
from tests.models.small import fixed_batch

each_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)


def load(cls, folder, **options):
    """from_pretrained, and no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return cls.from_pretrained(folder, **options)


def error_of(cls, folder, **options):
    """What from_pretrained complains of."""
    with pytest.raises(FileError) as caught:
        cls.from_pretrained(folder, **options)
    return str(caught.value)


def test_every_model_is_tried():
    def subclasses(cls):
        return {cls}.union(*map(subclasses, cls.__subclasses__()))

    models = {cls for cls in subclasses(PreTrainedModel) if cls.__module__.startswith("npbert.")}
    assert {cls.__name__ for cls in models} == {cls.__name__ for cls in CLASSES} | {"PreTrainedModel", "TaskModel"}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@each_class
def test_there_and_back_bit_for_bit(cls, dtype, tmp_path):
    model = random_model(cls, dtype=dtype, num_labels=3, hidden_act="relu", classifier_dropout=0.3)
    model.save_pretrained(tmp_path / "new" / "folder")
    loaded = load(cls, str(tmp_path / "new" / "folder"), dtype=dtype)
    assert type(loaded) is cls
    assert loaded.config == model.config
    assert_same_values(loaded, model)


def test_a_loaded_model_learns_and_is_saved_over_the_old_one(tmp_path):
    random_model(BertModel).save_pretrained(tmp_path)
    other = random_model(BertModel, seed=1, num_hidden_layers=1)
    other.save_pretrained(tmp_path)
    loaded = load(BertModel, tmp_path)
    assert_same_values(loaded, other)
    for name, parameter in loaded.named_parameters():
        assert parameter.value.flags.writeable, name
        assert parameter.value.flags.c_contiguous, name


def test_the_dtype_of_the_file_does_not_matter(tmp_path):
    model = random_model(BertModel)
    model.save_pretrained(tmp_path)
    wide = load(BertModel, tmp_path, dtype=np.float64)
    for name, value in values(wide).items():
        assert value.dtype == np.float64
        np.testing.assert_array_equal(value, values(model)[name])


@pytest.mark.parametrize(
    ("stored", "turn"),
    [
        ("F64", lambda array: array.astype(np.float64)),
        ("F32", lambda array: array),
        ("F16", lambda array: array.astype(np.float16)),
        ("BF16", bfloat16),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_kind_of_float_is_read(stored, turn, dtype, tmp_path):
    model = random_model(BertModel)
    for parameter in model.parameters():  # numbers that every kind can hold
        parameter.value[...] = np.round(parameter.value * 16) / 16
    write_tensors(tmp_path, model, {name: turn(tensor) for name, tensor in hugging_face_tensors(model).items()})
    loaded = load(BertModel, tmp_path, dtype=dtype)
    for name, value in values(loaded).items():
        assert value.dtype == dtype
        np.testing.assert_array_equal(value, values(model)[name])


def test_a_linear_is_transposed_in_the_file(tmp_path):
    model = random_model(BertModel)
    tensors = hugging_face_tensors(model)
    layer = model.encoder.layers[1]
    stored = tensors["encoder.layer.1.intermediate.dense.weight"]
    np.testing.assert_array_equal(stored, layer.feed_forward.intermediate.weight.value.T)
    assert stored.shape == (5, 6)
    np.testing.assert_array_equal(
        tensors["embeddings.word_embeddings.weight"], model.embeddings.word_embeddings.weight.value
    )


def test_what_transformers_looks_for(tmp_path):
    random_model(BertForMaskedLM).save_pretrained(tmp_path)
    data = (tmp_path / "model.safetensors").read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    assert header["__metadata__"] == {"format": "pt"}
    assert "bert.embeddings.word_embeddings.weight" in header
    assert "cls.predictions.decoder.weight" not in header  # it is tied
    assert json.loads((tmp_path / "config.json").read_text())["architectures"] == ["BertForMaskedLM"]


@each_class
def test_with_the_prefix_or_without(cls, tmp_path):
    model = random_model(cls)
    changed = {
        name.removeprefix("bert.") if name.startswith("bert.") else f"bert.{name}": tensor
        for name, tensor in hugging_face_tensors(model).items()
    }
    write_tensors(tmp_path, model, changed)
    assert_same_values(load(cls, tmp_path), model)


def test_gamma_and_beta_of_old_files(tmp_path):
    model = random_model(BertForPreTraining)
    ends = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    old = {}
    for name, tensor in hugging_face_tensors(model).items():
        for new_end, old_end in ends.items():
            name = name.replace(new_end, old_end)
        old[name] = tensor
    assert sum(name.endswith(("gamma", "beta")) for name in old) == 2 * (1 + 2 * 2 + 1)
    write_tensors(tmp_path, model, old)
    assert_same_values(load(BertForPreTraining, tmp_path), model)


@pytest.mark.parametrize("buffer", [np.arange(5)[None], np.zeros(3, bool)], ids=["int64", "bool"])
def test_buffers_of_other_libraries_are_ignored(buffer, tmp_path):
    model = random_model(BertModel)
    write_checkpoint(tmp_path, model, {"embeddings.position_ids": buffer, "bert.embeddings.position_ids": buffer})
    assert_same_values(load(BertModel, tmp_path), model)


TWINS = {
    "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("cls", [BertForMaskedLM, BertForPreTraining])
def test_a_tied_tensor_may_be_there_twice_if_both_are_equal(cls, twin, tmp_path):
    model = random_model(cls)
    tensor = hugging_face_tensors(model)[TWINS[twin]]
    write_checkpoint(tmp_path, model, {twin: tensor})
    assert_same_values(load(cls, tmp_path), model)

    write_checkpoint(tmp_path, model, {twin: np.where(tensor == tensor.flat[0], tensor + 1e-3, tensor)})
    message = error_of(cls, tmp_path)
    assert str(tmp_path / "model.safetensors") in message
    assert f"not tied: {twin} differs from {TWINS[twin]}; in npbert they are one" in message


def test_a_twin_does_not_stand_for_what_is_missing(tmp_path):
    model = random_model(BertForMaskedLM)
    tensors = hugging_face_tensors(model)
    for twin, name in TWINS.items():
        write_checkpoint(tmp_path, model, {name: None, twin: tensors[name]})
        assert f"missing: {name.removeprefix('bert.')} " in error_of(BertForMaskedLM, tmp_path)


def test_a_model_without_the_head_does_not_mind_the_twins(tmp_path):
    model = random_model(BertForPreTraining)
    write_checkpoint(tmp_path, model, {twin: np.zeros((2, 2), np.float32) for twin in TWINS})
    assert_same_values(load(BertModel, tmp_path), model.bert)


def test_all_that_does_not_fit_is_listed_and_nothing_is_loaded(tmp_path):
    model = random_model(BertModel)
    write_checkpoint(
        tmp_path,
        model,
        {
            "embeddings.LayerNorm.bias": None,
            "encoder.layer.1.output.dense.weight": None,
            "pooler.dense.bias": np.zeros(4, np.float32),
            "encoder.layer.0.intermediate.dense.weight": np.zeros((6, 5), np.float32),
            "something.else": np.zeros((2, 3), np.float32),
        },
    )
    message = error_of(BertModel, tmp_path)
    assert set(message.split("\n  ")) == {
        f"{tmp_path / 'model.safetensors'} does not fit BertModel:",
        "missing: embeddings.LayerNorm.bias (6,)",
        "missing: encoder.layer.1.output.dense.weight (6, 5)",
        "unknown: something.else (2, 3)",
        "of another shape: pooler.dense.bias (4,), wanted (6,)",
        "of another shape: encoder.layer.0.intermediate.dense.weight (6, 5), wanted (5, 6)",
    }
    other = random_model(BertModel, seed=1)
    before = values(other)
    with pytest.raises(FileError):
        load_parameters(other, tmp_path / "model.safetensors", rng=np.random.default_rng(0), initializer_range=0.02)
    for name, value in values(other).items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)


@pytest.mark.parametrize(("stored", "wanted", "says"), [(3, 2, "unknown"), (1, 2, "missing")])
def test_layers_are_counted(stored, wanted, says, tmp_path):
    write_checkpoint(tmp_path, random_model(BertModel, num_hidden_layers=stored))
    lines = error_of(BertModel, tmp_path, num_hidden_layers=wanted).split("\n  ")[1:]
    assert len(lines) == 16
    assert all(line.startswith(f"{says}: encoder.layer.{max(stored, wanted) - 1}.") for line in lines)


@pytest.mark.parametrize("second", ["bert.pooler.dense.bias", "embeddings.LayerNorm.gamma"])
def test_two_names_for_one_tensor(second, tmp_path):
    tensors = hugging_face_tensors(random_model(BertModel))
    (tmp_path / "model.safetensors").write_bytes(tensor_file({**tensors, second: np.zeros(6, np.float32)}))
    write_checkpoint(tmp_path, random_model(BertModel), {second: np.zeros(6, np.float32)})
    message = error_of(BertModel, tmp_path)
    first = second.removeprefix("bert.").replace("gamma", "weight")
    assert message.startswith(f"{tmp_path / 'model.safetensors'} holds both ")
    assert first in message
    assert second in message


def test_sinusoidal_positions_are_saved_as_the_table_that_they_are(tmp_path):
    for cls in (BertModel, BertForMaskedLM):
        model = random_model(cls, position_embedding_type="sinusoidal")
        assert hugging_face_tensors(model).keys() == hugging_face_tensors(random_model(cls)).keys()
        model.save_pretrained(tmp_path)
        loaded = load(cls, tmp_path)
        assert loaded.config.position_embedding_type == "absolute"
        for ours, theirs in zip(loaded(fixed_batch()), model(fixed_batch()), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_changes_to_the_configuration(tmp_path):
    random_model(BertForSequenceClassification).save_pretrained(tmp_path)
    loaded = load(BertForSequenceClassification, tmp_path, hidden_dropout_prob=0.5, classifier_dropout=0.25)
    assert (loaded.config.hidden_dropout_prob, loaded.dropout.p) == (0.5, 0.25)
    assert load(BertModel, tmp_path, add_pooling_layer=False).pooler is None
    with pytest.raises(TypeError, match="add_pooling_layers"):
        BertModel.from_pretrained(tmp_path, add_pooling_layers=False)


@pytest.mark.parametrize("old", [None, ("no", "yes")])
def test_another_number_of_labels_has_other_names(old, tmp_path):
    random_model(BertForPreTraining, id2label=old).save_pretrained(tmp_path)
    names = tuple("abc")
    for changes, wanted in (
        ({}, old or ("LABEL_0", "LABEL_1")),
        ({"num_labels": 3}, ("LABEL_0", "LABEL_1", "LABEL_2")),
        ({"num_labels": 3, "id2label": names}, names),
        ({"id2label": names}, names),
        ({"num_labels": 1}, ("LABEL_0",)),
    ):
        with pytest.warns(UserWarning, match="new: classifier"):
            model = BertForSequenceClassification.from_pretrained(tmp_path, **changes)
        assert model.config.label_names == wanted
        assert model(fixed_batch()).shape == (2, len(wanted))
