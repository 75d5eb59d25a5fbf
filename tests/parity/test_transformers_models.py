"""Every model against Hugging Face's: weights go there and back, and outputs and gradients are the same."""

import numpy as np
import pytest
import torch
from npbert.models.hugging_face_names import to_hugging_face

from npbert import Batch, BertConfig, BertForPreTraining, models
from npbert.gradcheck import randomize
from npbert.layers import IGNORED
from tests.torch_comparison import EXACT, assert_close, assert_gradients_close

transformers = pytest.importorskip("transformers", reason="transformers is not installed: pip install transformers")
pytest.importorskip("safetensors", reason="safetensors is not installed: pip install 'npbert[hf]'")
bert = pytest.importorskip("transformers.models.bert.modeling_bert")
transformers.utils.logging.disable_progress_bar()

pytestmark = pytest.mark.torch

TOLERANCES = {"float64": EXACT, "float32": 1e-5}
# With larger weights, or fewer features, twelve layers make of all tokens nearly one vector, and gradients are
# what is left when large terms cancel: in float32, rounding.
WEIGHT_SCALE, WIDTH = 0.07, 32
V, B, C, T = 20, 3, 4, 6
MASK = np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0], [1, 1, 1, 0, 0, 0]])
WORDS = np.array([[IGNORED, 4, 0, 19, IGNORED, 2], [7, IGNORED, 7, 3, IGNORED, IGNORED], [IGNORED, 1] + 4 * [IGNORED]])
PAIRS = np.array([0, 1, 1])
MODELS = {  # name: class, num_labels, targets
    "BertModel": ("BertModel", 2, {}),
    "BertForPreTraining": ("BertForPreTraining", 2, {"labels": WORDS, "next_sentence_label": PAIRS}),
    "BertForMaskedLM": ("BertForMaskedLM", 2, {"labels": WORDS}),
    "BertForSequenceClassification": ("BertForSequenceClassification", 3, {"labels": np.array([2, 0, 1])}),
    "regression": ("BertForSequenceClassification", 1, {"labels": np.array([0.5, -2.0, 3.25])}),
    "BertForMultipleChoice": ("BertForMultipleChoice", 2, {"labels": np.array([3, 0, 2])}),
    "BertForTokenClassification": (
        "BertForTokenClassification",
        3,
        {"labels": np.where(WORDS == IGNORED, IGNORED, WORDS % 3)},
    ),
    "BertForQuestionAnswering": (
        "BertForQuestionAnswering",
        2,
        {"start_positions": np.array([1, 3, 0]), "end_positions": np.array([1, 5, 2])},
    ),
}
each_model = pytest.mark.parametrize("name", MODELS)
each_depth = pytest.mark.parametrize("depth", [1, 2, 12])
each_dtype = pytest.mark.parametrize("dtype", TOLERANCES)


def config(name, depth):
    return {
        "vocab_size": V,
        "hidden_size": WIDTH,
        "num_hidden_layers": depth,
        "num_attention_heads": 4,
        "intermediate_size": 24,
        "max_position_embeddings": 8,
        "num_labels": MODELS[name][1],
        "layer_norm_eps": 1e-5,
    }


def make_batch(name, dtype, *, with_targets=True):
    """Ragged sequences with repeated ids, and the targets of the model."""
    rng = np.random.default_rng(0)
    shape = (B, C, T) if name == "BertForMultipleChoice" else (B, T)
    mask = MASK if len(shape) == 2 else np.repeat(MASK, C, axis=0).reshape(shape)
    targets = {
        key: target.astype(dtype) if target.dtype.kind == "f" else target for key, target in MODELS[name][2].items()
    }
    arrays = {"input_ids": rng.integers(V, size=shape), "token_type_ids": rng.integers(2, size=shape)}
    return {**arrays, "attention_mask": mask, **(targets if with_targets else {})}


def make_theirs(name, depth, dtype, **changes):
    """Hugging Face's model with random weights, for evaluation. (Its padding row has a gradient; see below.)"""
    theirs = getattr(bert, MODELS[name][0])(transformers.BertConfig(**config(name, depth) | changes))
    generator = torch.Generator().manual_seed(depth)
    for key, parameter in theirs.named_parameters():
        scale = 1.0 if "embeddings" in key and parameter.ndim == 2 else WEIGHT_SCALE
        torch.nn.init.normal_(parameter, 1.0 if key.endswith("LayerNorm.weight") else 0.0, scale, generator)
    theirs.base_model.embeddings.word_embeddings.padding_idx = None
    return theirs.to(getattr(torch, dtype)).eval()


def as_torch(arrays):
    return {key: torch.tensor(array) for key, array in arrays.items()}


def outputs(theirs, arrays):
    """What the model gives for arrays without targets, in npbert's order."""
    with torch.no_grad():
        result = theirs(**as_torch(arrays))
    return tuple(value for key, value in result.items() if key != "loss")


def assert_same_outputs(ours, theirs, arrays, tolerance):
    called = ours(Batch(**arrays))
    wanted = outputs(theirs, arrays)
    for our, their in zip(called if isinstance(called, tuple) else (called,), wanted, strict=True):
        assert_close("output", our, their, tolerance=tolerance)


def gradients(ours, theirs):
    """Both gradients of every parameter, by npbert's names."""
    left_over = dict(theirs.named_parameters())
    pairs = {}
    for name, parameter in ours.named_parameters():
        stored = to_hugging_face(name)
        their = left_over.pop(stored.name).grad
        pairs[name] = parameter.grad, their.T if stored.transposed else their
    assert not left_over
    return pairs


@each_dtype
@each_depth
@each_model
def test_outputs_and_gradients_with_their_weights(name, depth, dtype, tmp_path):
    theirs = make_theirs(name, depth, dtype)
    theirs.save_pretrained(tmp_path)
    ours = getattr(models, MODELS[name][0]).from_pretrained(tmp_path, dtype=dtype)
    tolerance = TOLERANCES[dtype]
    assert_same_outputs(ours, theirs, make_batch(name, dtype, with_targets=False), tolerance)

    arrays = make_batch(name, dtype)
    if name == "BertModel":
        rng = np.random.default_rng(1)
        dy = [rng.standard_normal(shape).astype(dtype) for shape in ((B, T, WIDTH), (B, WIDTH))]
        _, cache = ours.forward(Batch(**arrays))
        ours.backward(tuple(dy), cache)
        result = theirs(**as_torch(arrays))
        torch.autograd.backward([result.last_hidden_state, result.pooler_output], [torch.tensor(part) for part in dy])
    else:
        losses, cache = ours.loss(Batch(**arrays))
        ours.backward(cache)
        result = theirs(**as_torch(arrays))
        result.loss.backward()
        assert_close("loss", losses[0] if isinstance(losses, tuple) else losses, result.loss, tolerance=tolerance)
    pairs = gradients(ours, theirs)
    assert max(np.abs(our).max() for our, _ in pairs.values()) > 0.05, "it must not be small by cancellation"
    assert_gradients_close(pairs, tolerance)


@each_dtype
@each_depth
@each_model
def test_they_load_ours(name, depth, dtype, tmp_path):
    rng = np.random.default_rng(depth)
    ours = getattr(models, MODELS[name][0])(BertConfig(**config(name, depth)), rng=rng, dtype=dtype)
    for parameter in ours.parameters():
        parameter.value += rng.normal(0, 0.1, parameter.value.shape)
    ours.save_pretrained(tmp_path)
    theirs, info = getattr(bert, MODELS[name][0]).from_pretrained(tmp_path, output_loading_info=True)
    assert not any(info.values()), info
    assert theirs.dtype == getattr(torch, dtype)
    assert theirs.config.num_labels == ours.config.num_labels
    assert_same_outputs(ours, theirs.eval(), make_batch(name, dtype, with_targets=False), TOLERANCES[dtype])


def test_sinusoidal_positions_are_a_table_to_them(tmp_path):
    ours = BertForPreTraining(
        BertConfig(**config("BertForPreTraining", 1), position_embedding_type="sinusoidal"), rng=None, dtype=np.float64
    )
    randomize(ours, np.random.default_rng(0))
    ours.save_pretrained(tmp_path)
    theirs, info = bert.BertForPreTraining.from_pretrained(tmp_path, output_loading_info=True)
    assert not any(info.values()), info
    assert_same_outputs(ours, theirs.eval(), make_batch("BertForPreTraining", "float64", with_targets=False), EXACT)


@pytest.mark.parametrize("activation", ["gelu_new", "gelu_pytorch_tanh", "relu"])
@each_model
def test_settings_of_the_configuration_mean_the_same(name, activation, tmp_path):
    changes = {"hidden_act": activation, "layer_norm_eps": 0.1, "type_vocab_size": 3, "classifier_dropout": 0.3}
    theirs = make_theirs(name, 1, "float64", **changes)
    theirs.save_pretrained(tmp_path)
    ours = getattr(models, MODELS[name][0]).from_pretrained(tmp_path, dtype="float64")
    assert {key: getattr(ours.config, key) for key in changes} == changes
    assert_same_outputs(ours, theirs, make_batch(name, "float64", with_targets=False), EXACT)


def test_names_of_labels_go_there_and_back(tmp_path):
    name = "BertForSequenceClassification"
    ours = models.BertForSequenceClassification(
        BertConfig(**config(name, 1), id2label=("no", "yes", "so")), rng=np.random.default_rng(0)
    )
    ours.save_pretrained(tmp_path / "ours")
    theirs = getattr(bert, name).from_pretrained(tmp_path / "ours")
    assert theirs.config.id2label == {0: "no", 1: "yes", 2: "so"}
    assert theirs.config.label2id == {"no": 0, "yes": 1, "so": 2}
    theirs.save_pretrained(tmp_path / "theirs")
    back = models.BertForSequenceClassification.from_pretrained(tmp_path / "theirs")
    assert back.config.label_names == ("no", "yes", "so")


def test_their_padding_row_alone_has_another_gradient(tmp_path):
    """transformers gives the row of id 0 no gradient from look-ups; npbert gives what the derivative is."""
    name = "BertForSequenceClassification"
    theirs = make_theirs(name, 1, "float64")
    theirs.base_model.embeddings.word_embeddings.padding_idx = 0
    theirs.save_pretrained(tmp_path)
    ours = models.BertForSequenceClassification.from_pretrained(tmp_path, dtype="float64")
    arrays = make_batch(name, "float64")
    assert (arrays["input_ids"][MASK == 1] == 0).any(), "else nothing would be seen"
    _, cache = ours.loss(Batch(**arrays))
    ours.backward(cache)
    theirs(**as_torch(arrays)).loss.backward()
    pairs = gradients(ours, theirs)
    table, theirs_of_table = pairs.pop("bert.embeddings.word_embeddings.weight")
    assert_gradients_close(pairs)
    assert_close("the other rows", table[1:], theirs_of_table[1:])
    assert table[0].any()
    assert not theirs_of_table[0].any()


def test_hidden_states_and_attention(tmp_path):
    theirs = make_theirs("BertModel", 2, "float64")
    theirs.save_pretrained(tmp_path)
    theirs.set_attn_implementation("eager")
    ours = models.BertModel.from_pretrained(tmp_path, dtype="float64")
    arrays = make_batch("BertModel", "float64")
    with torch.no_grad():
        result = theirs(**as_torch(arrays), output_hidden_states=True, output_attentions=True)
    for name, states, wanted in (
        ("hidden state", ours.hidden_states(Batch(**arrays)), result.hidden_states),
        ("attention", ours.attention_probabilities(Batch(**arrays)), result.attentions),
    ):
        for (layer, state), expected in zip(states.items(), wanted, strict=True):
            assert_close(f"{name} {layer}", state, expected)
