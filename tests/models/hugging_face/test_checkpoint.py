"""Checkpoints: the same model comes out again, and a file that does not fit is refused with all that is wrong."""

import json
import tracemalloc

import numpy as np
import pytest

from npbert import BertForMaskedLM, BertForPreTraining, BertForSequenceClassification, BertModel
from npbert.io.files import FileError
from npbert.models.hugging_face.checkpoint import WEIGHTS_FILE, hugging_face_tensors
from tests.models.hugging_face import checkpoints
from tests.models.hugging_face.checkpoints import assert_loads, load, problems, random_float32, write_checkpoint
from tests.models.own import NoBert, Score, TwoTower
from tests.models.small import CLASSES, as_list, assert_all_close, each_class, fixed_batch, random_model


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cls", [*CLASSES, Score, TwoTower, NoBert])
def test_there_and_back_bit_for_bit(cls, dtype, tmp_path):
    model = random_model(cls, dtype=dtype, num_labels=3, hidden_act="relu", classifier_dropout=0.3)
    model.save_pretrained(tmp_path / "new" / "folder")
    assert assert_loads(model, str(tmp_path / "new" / "folder"), dtype=dtype).config == model.config


@pytest.mark.parametrize("stored", [np.float64, np.float32, np.float16, checkpoints.bfloat16])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_kind_of_float_is_read_into_every_dtype(stored, dtype, tmp_path):
    model = random_model(BertModel, dtype=dtype)
    for parameter in model.parameters():  # numbers that every kind can hold
        parameter.value[...] = np.round(parameter.value * 16) / 16
    tensors = hugging_face_tensors(model).items()
    checkpoints.write_tensors(tmp_path, model, {name: stored(np.ascontiguousarray(tensor)) for name, tensor in tensors})
    assert_loads(model, tmp_path, dtype=dtype)


def other_prefix(name):
    return name.removeprefix("bert.") if name.startswith("bert.") else f"bert.{name}"


def old_ending(name):
    return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")


@pytest.mark.parametrize("rename", [other_prefix, old_ending])
@each_class
def test_with_the_prefix_or_without_and_with_the_endings_of_old_files(cls, rename, tmp_path):
    model = random_float32(cls)
    renamed = {rename(name): tensor for name, tensor in hugging_face_tensors(model).items()}
    assert_loads(model, checkpoints.write_tensors(tmp_path, model, renamed))


TWINS = {
    "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("cls", [BertForMaskedLM, BertForPreTraining])
def test_a_tied_tensor_may_be_there_twice_if_both_are_equal(cls, twin, tmp_path):
    model, name = random_float32(cls), TWINS[twin]
    tensor = hugging_face_tensors(model)[name]
    assert_loads(model, write_checkpoint(tmp_path, model, {twin: tensor}))
    write_checkpoint(tmp_path, model, {twin: np.where(tensor == tensor.flat[0], tensor + 1e-3, tensor)})
    assert problems(cls, tmp_path) == [f"not tied: {twin} differs from {name}, wanted the same"]
    write_checkpoint(tmp_path, model, {name: None, twin: tensor})  # it does not stand for what is missing
    assert problems(cls, tmp_path) == [f"missing: {name.removeprefix('bert.')} {tensor.shape}"]


@pytest.mark.parametrize("second", ["bert.pooler.dense.bias", "embeddings.LayerNorm.gamma"])
def test_two_names_for_one_tensor(second, tmp_path):
    write_checkpoint(tmp_path, random_float32(BertModel), {second: np.zeros(6, np.float32)})
    with pytest.raises(FileError, match=f"^{tmp_path / WEIGHTS_FILE} has both .*{second}"):
        BertModel.from_pretrained(tmp_path)


def test_sinusoidal_positions_are_saved_as_the_table_that_they_are(tmp_path):
    model = random_float32(BertModel, position_embedding_type="sinusoidal")
    model.save_pretrained(tmp_path)
    loaded, warned = load(BertModel, tmp_path, new_head=False)
    assert (warned, loaded.config.position_embedding_type) == ([], "absolute")
    assert_all_close(loaded(fixed_batch()), as_list(model(fixed_batch())))


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"hidden_dropout_prob": 0.5, "hidden_act": "relu"}, ("no", "yes")),
        ({"id2label": ("a", "b", "c")}, ("a", "b", "c")),
        ({"num_labels": 1}, ("LABEL_0",)),
    ],
)
def test_changes_to_the_configuration_and_for_the_constructor(changes, names, tmp_path):
    random_float32(BertForPreTraining, id2label=("no", "yes")).save_pretrained(tmp_path)
    model, _ = load(BertForSequenceClassification, tmp_path, **changes)
    assert (model.config.label_names, model(fixed_batch()).shape) == (names, (2, len(names)))
    assert {name: getattr(model.config, name) for name in changes} == changes
    assert load(BertModel, tmp_path, add_pooling_layer=False)[0].pooler is None
    with pytest.raises(TypeError, match="add_pooling_layers"):
        BertModel.from_pretrained(tmp_path, add_pooling_layers=False)


@pytest.mark.parametrize(("name", "number"), [("bert.pooler.dense.bias", np.nan), ("classifier.bias", 1e39)])
def test_a_number_that_is_not_finite_is_refused_with_its_tensor(name, number, tmp_path):
    """Or that is not in the dtype of the model: float64 has 1e39, float32 has not."""
    model = random_model(BertForSequenceClassification, dtype=np.float64)
    changed = hugging_face_tensors(model)[name].copy()
    changed[-1] = number
    write_checkpoint(tmp_path, model, {name: changed})
    with pytest.raises(FileError, match=f"{WEIGHTS_FILE}: {name} holds a number that is not finite, or too large"):
        BertForSequenceClassification.from_pretrained(tmp_path)


@pytest.mark.parametrize(
    "changes", [{"num_hidden_layers": 10**7}, {"hidden_size": 2**24, "num_attention_heads": 1}, {"num_labels": 2**24}]
)
def test_a_configuration_that_asks_for_far_more_than_the_file_holds_takes_no_memory(changes, tmp_path):
    random_float32(BertForSequenceClassification).save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"id2label": None} | changes))
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match=r"has [\d,]+ numbers, wanted at least [\d,]{9,}, as in its config.json"):
            BertForSequenceClassification.from_pretrained(tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()
