"""Every model against Hugging Face's: weights go there and back, and outputs and gradients are the same.

Theirs give something for padding, too, where npbert gives 0: it is made 0 before they are compared.
"""

from dataclasses import asdict

import numpy as np
import pytest

from npbert import IGNORED, Batch, BertConfig, Tape, models
from tests.later import later
from tests.parity import torch
from tests.parity.torch_comparison import (
    EXACT,
    as_torch,
    assert_close,
    assert_gradients_close,
    gradients,
    gradients_of_both,
)

transformers = later("transformers", "transformers")
pytest.importorskip("safetensors", reason="safetensors is not installed: pip install -e '.[hf]'")
bert = later("transformers.models.bert.modeling_bert", "transformers")

pytestmark = pytest.mark.torch

TOLERANCES = {"float64": EXACT, "float32": 1e-5}
# With larger weights, or fewer features, twelve layers make of all tokens nearly one vector, and gradients are
# what is left when large terms cancel: in float32, rounding.
WEIGHT_SCALE, WIDTH = 0.07, 32
V, B, C, T = 20, 3, 4, 6
MASK = np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0], [1, 1, 1, 0, 0, 0]])
WORDS = np.array([[IGNORED, 4, 0, 19, IGNORED, 2], [7, IGNORED, 7, 3, IGNORED, IGNORED], [IGNORED, 1] + 4 * [IGNORED]])
PAIRS = np.array([0, 1, 1])
ANSWERS = {"start_positions": np.array([1, 3, 0]), "end_positions": np.array([1, 3, 2])}
TAGS = np.where(WORDS == IGNORED, IGNORED, WORDS % 3)
MODELS = {  # name: class, num_labels, targets
    "BertModel": ("BertModel", 2, {}),
    "BertForPreTraining": ("BertForPreTraining", 2, {"labels": WORDS, "next_sentence_label": PAIRS}),
    "BertForMaskedLM": ("BertForMaskedLM", 2, {"labels": WORDS}),
    "BertForSequenceClassification": ("BertForSequenceClassification", 3, {"labels": np.array([2, 0, 1])}),
    "regression": ("BertForSequenceClassification", 1, {"labels": np.array([0.5, -2.0, 3.25])}),
    "BertForMultipleChoice": ("BertForMultipleChoice", 2, {"labels": np.array([3, 0, 2])}),
    "BertForTokenClassification": ("BertForTokenClassification", 3, {"labels": TAGS}),
    "BertForQuestionAnswering": ("BertForQuestionAnswering", 2, ANSWERS),
}
OTHER = {"layer_norm_eps": 0.1, "type_vocab_size": 3, "classifier_dropout": 0.3}
CASES = {  # every head once; and what they share, below heads that read every row, and the first of choices
    **{f"{name}, 1 layer": (name, 1, {}) for name in MODELS},
    **{f"{name}, 12 layers": (name, 12, {}) for name in ("BertModel", "BertForMultipleChoice")},
    **{
        act: ("BertForPreTraining", 2, {**OTHER, "hidden_act": act})
        for act in ("gelu_new", "gelu_pytorch_tanh", "relu")
    },
}
each_dtype = pytest.mark.parametrize("dtype", TOLERANCES)
IN_BOTH = [(*CASES[name], dtype) for name in CASES for dtype in TOLERANCES if dtype == "float64" or "layer" in name]


def config(name, depth=1, **changes):
    sizes = {"max_position_embeddings": 8, "num_labels": MODELS[name][1], "layer_norm_eps": 1e-5}
    sizes |= {"id2label": ("no", "yes", "so")} if MODELS[name][1] == 3 else {}
    return BertConfig(V, WIDTH, depth, 4, 24, **{**sizes, **changes})


def make_batch(name, dtype, *, with_targets=True, mask=MASK):
    """Ragged sequences with repeated ids, and the targets of the model."""
    rng = np.random.default_rng(0)
    shape = (B, C, T) if name == "BertForMultipleChoice" else (B, T)
    mask = mask if len(shape) == 2 else np.repeat(mask, C, axis=0).reshape(shape)
    arrays = {"input_ids": rng.integers(V, size=shape), "token_type_ids": rng.integers(2, size=shape)}
    targets = MODELS[name][2] if with_targets else {}
    targets = {key: target.astype(dtype) if name == "regression" else target for key, target in targets.items()}
    return {**arrays, "attention_mask": mask, **targets}


def make_theirs(name, depth, dtype, **changes):
    """Hugging Face's model with random weights, for evaluation. (Its padding row has a gradient; see below.)"""
    known = config(name, depth, **changes)
    labels = dict(enumerate(known.label_names))
    theirs = getattr(bert, MODELS[name][0])(transformers.BertConfig(**{**asdict(known), "id2label": labels}))
    generator = torch.Generator().manual_seed(depth)
    for key, parameter in theirs.named_parameters():
        scale = 1.0 if "embeddings" in key and parameter.ndim == 2 else WEIGHT_SCALE
        torch.nn.init.normal_(parameter, 1.0 if key.endswith("LayerNorm.weight") else 0.0, scale, generator)
    theirs.base_model.embeddings.word_embeddings.padding_idx = None
    return theirs.to(getattr(torch, dtype)).eval()


def make_ours(name, folder, dtype):
    return getattr(models, MODELS[name][0]).from_pretrained(folder, dtype=dtype)


def assert_same_outputs(ours, theirs, arrays, tolerance):
    """For arrays without targets."""
    called = ours(Batch(**arrays))
    with torch.no_grad():
        result = theirs(**as_torch(arrays))
    for our, (key, their) in zip(called if isinstance(called, tuple) else (called,), result.items(), strict=True):
        if their.shape[:2] == arrays["attention_mask"].shape:
            their = their * torch.tensor(arrays["attention_mask"]).reshape(B, T, *[1] * (their.ndim - 2))
        assert_close(key, our, their, tolerance=tolerance)


def loss_of(theirs, arrays):
    """Their loss; but that of the answers is computed here, with padding left out of the softmax, as npbert has it."""
    result = theirs(**as_torch(arrays))
    if "start_positions" not in arrays:
        return result.loss
    padding = torch.tensor(arrays["attention_mask"] == 0)
    logits = (part.masked_fill(padding, -torch.inf) for part in (result.start_logits, result.end_logits))
    return sum(map(torch.nn.functional.cross_entropy, logits, map(torch.tensor, ANSWERS.values()))) / 2


def assert_same_losses(ours, theirs, arrays, their_loss, tolerance):
    """The loss and all gradients."""
    tape = Tape()
    loss = ours.loss(Batch(**arrays), tape).loss
    ours.loss_backward(1.0, tape)
    their_loss.backward()
    assert_close("loss", loss, their_loss, tolerance=tolerance)
    assert_gradients_close(gradients(ours, theirs), tolerance)


@pytest.mark.parametrize(("name", "depth", "changes", "dtype"), IN_BOTH)
def test_outputs_and_gradients_with_their_weights_which_they_get_back(name, depth, changes, dtype, tmp_path):
    theirs, tolerance = make_theirs(name, depth, dtype, **changes), TOLERANCES[dtype]
    theirs.save_pretrained(tmp_path)
    ours, arrays = make_ours(name, tmp_path, dtype), make_batch(name, dtype)
    assert {key: getattr(ours.config, key) for key in changes} == changes
    assert ours.config.label_names == config(name).label_names
    assert_same_outputs(ours, theirs, make_batch(name, dtype, with_targets=False), tolerance)
    if name == "BertModel":
        assert_gradients_close(gradients_of_both(ours, theirs, Batch(**arrays)), tolerance)
    else:
        assert_same_losses(ours, theirs, arrays, loss_of(theirs, arrays), tolerance)
    assert max(np.abs(p.grad).max() for p in ours.parameters()) > 0.05, "it must not be small by cancellation"
    assert_they_load(ours, tmp_path / "ours", theirs.state_dict())


@each_dtype
def test_the_loss_of_answers_is_theirs_where_nothing_is_padded(dtype, tmp_path):
    name = "BertForQuestionAnswering"
    theirs, arrays = make_theirs(name, 2, dtype), make_batch(name, dtype, mask=np.ones_like(MASK))
    theirs.save_pretrained(tmp_path)
    their_loss = theirs(**as_torch(arrays)).loss
    assert_same_losses(make_ours(name, tmp_path, dtype), theirs, arrays, their_loss, TOLERANCES[dtype])


def assert_they_load(ours, folder, wanted):
    """transformers' model from what npbert has saved: all of it, in its dtype, and of these tensors bit for bit."""
    ours.save_pretrained(folder)
    theirs, info = getattr(bert, type(ours).__name__).from_pretrained(folder, output_loading_info=True)
    assert not any(info.values()), info
    assert theirs.config.id2label == dict(enumerate(ours.config.label_names))
    assert theirs.config.label2id == {label: number for number, label in theirs.config.id2label.items()}
    for name, tensor in theirs.state_dict().items():
        assert tensor.dtype == getattr(torch, ours.parameters()[0].value.dtype.name)
        assert name not in wanted or torch.equal(tensor, wanted[name]), name


def test_their_padding_row_alone_has_another_gradient(tmp_path):
    """transformers gives the row of id 0 no gradient from look-ups; npbert gives what the derivative is."""
    name = "BertForSequenceClassification"
    theirs, arrays, tape = make_theirs(name, 1, "float64"), make_batch(name, "float64"), Tape()
    theirs.base_model.embeddings.word_embeddings.padding_idx = 0
    theirs.save_pretrained(tmp_path)
    ours = make_ours(name, tmp_path, "float64")
    assert (arrays["input_ids"][MASK == 1] == 0).any(), "else nothing would be seen"
    ours.loss(Batch(**arrays), tape)
    ours.loss_backward(1.0, tape)
    theirs(**as_torch(arrays)).loss.backward()
    pairs = gradients(ours, theirs)
    table, theirs_of_table = pairs.pop("embeddings.word_embeddings.weight")
    assert_gradients_close(pairs)
    assert_close("the other rows", table[1:], theirs_of_table[1:])
    assert table[0].any()
    assert not theirs_of_table[0].any()
