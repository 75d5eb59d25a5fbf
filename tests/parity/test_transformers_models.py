"""BERT and its descendants beside transformers' own classes: outputs, losses, all gradients; there and back by files.

Theirs give something for padding, too, where npbert gives 0: it is made 0 before they are compared.
"""

import json
from functools import partial

import numpy as np
import pytest

import npbert
from npbert import Batch, Tape
from tests.later import later
from tests.parity import torch
from tests.tables import one_of_each

transformers = later("transformers", "transformers")
pytestmark = pytest.mark.torch

SIZES = {"vocab_size": 90, "num_hidden_layers": 4, "max_position_embeddings": 64}
SIZES |= {"hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 20}
OF_BERT = {"type_vocab_size": 3, "layer_norm_eps": 0.1, "classifier_dropout": 0.3}
SPECIAL = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "cls_token_id": 2, "sep_token_id": 3}
DISTIL = {"dim": 24, "n_layers": 4, "n_heads": 3, "hidden_dim": 20}
BASES = {
    "full_attention": {"rope_type": "default", "rope_theta": 1e4},
    "sliding_attention": {"rope_type": "default", "rope_theta": 100.0},
}
FAMILIES = {
    "Bert": SIZES | OF_BERT,
    "Roberta": SIZES | {"type_vocab_size": 1},
    "XLMRoberta": SIZES | {"type_vocab_size": 1},
    "Camembert": SIZES | {"type_vocab_size": 1},
    "DistilBert": DISTIL | {"vocab_size": 90, "max_position_embeddings": 64},
    "Electra": SIZES | {"embedding_size": 10},
    "Electra, no projection": SIZES | {"embedding_size": 24},
    "Albert": SIZES | {"embedding_size": 10},
    "MPNet": SIZES,
    "ModernBert": SIZES | SPECIAL | {"local_attention": 8},
    "ModernBert, mean": SIZES | SPECIAL | {"local_attention": 8, "classifier_pooling": "mean"},
    "NomicBert": SIZES,
    "NomicBert, dynamic": SIZES | {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 100.0, "factor": 2.0}},
    "ModernBert, bases": SIZES | SPECIAL | {"local_attention": 8, "rope_parameters": BASES},
    "Albert, groups": SIZES | {"embedding_size": 10, "num_hidden_groups": 2},
}
HEADS = ["Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification"]
HEADS += ["ForQuestionAnswering", "ForMultipleChoice"]
ALL_HEADS = [*HEADS, "ForPreTraining"]
ONLY = {  # all but the names of the classes is RoBERTa's; the mean is what a pooler takes; theirs has no other heads
    "Bert": ALL_HEADS,
    "Electra": ALL_HEADS,
    "XLMRoberta": ["ForMaskedLM"],
    "Camembert": ["ForMaskedLM"],
    "ModernBert, mean": ["ForSequenceClassification", "ForMultipleChoice"],
    "NomicBert": HEADS[:4],
}
DEEP, REGRESSION = {"num_hidden_layers": 12}, {"num_labels": 1}
CHANGED = [("Model", DEEP), ("ForMultipleChoice", DEEP), ("ForSequenceClassification", REGRESSION)]
CASES = [
    (family, head, {}, "float64")
    for family in FAMILIES
    for head in ONLY.get(family, ["ForMaskedLM"] if "," in family else HEADS)
]
CASES += [("Bert", head, {}, "float32") for head in ALL_HEADS]
CASES += [("Bert", head, changes, dtype) for head, changes in CHANGED for dtype in ("float64", "float32")]
CASES += [
    ("Bert", "ForPreTraining", {"hidden_act": act}, "float64") for act in ("gelu_new", "gelu_pytorch_tanh", "relu")
]
IN_FLOAT32 = "ModernBert", "NomicBert"
"""Their rotary angles are float32 in transformers, and their sines; so are the labels of ELECTRA's tokens."""
LENGTHS = np.array([40, 21, 9])
MASK = (np.arange(40) < LENGTHS[:, None]).astype(np.int64)


def as_torch(arrays):
    return {name: torch.tensor(array) for name, array in arrays.items()}


def assert_close(name, ours, theirs, *, tolerance, scale=0.0):
    """The same shape, dtype and numbers; the error is relative to the largest number, or to `scale` if that is more."""
    ours, expected = np.asarray(ours), theirs.detach().numpy()
    assert (ours.shape, ours.dtype) == (expected.shape, expected.dtype), name
    limit = tolerance * max(np.abs(expected).max(initial=0), scale)
    error = np.abs(ours - expected).max(initial=0)
    assert error <= limit, f"{name} differs from torch by {error:.1e}, more than {limit:.1e}"


def theirs(family, head, changes, dtype):
    """Their model with random weights, none of them 0 or 1. (Theirs keeps the row of padding from its gradient.)"""
    name = family.partition(",")[0]
    torch.manual_seed(0)
    labels = {"num_labels": 2} if head == "ForQuestionAnswering" else {"id2label": dict(enumerate(["no", "yes", "so"]))}
    config = getattr(transformers, f"{name}Config")(**{**FAMILIES[family], **labels, **changes})
    model = getattr(transformers, f"{name}{head}")(config).to(getattr(torch, dtype)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    model.tie_weights()
    model.get_input_embeddings().padding_idx = None
    return model, name


def inputs(family, head, pad):
    """Ragged sequences; of BERT with types, and with real tokens of the id of the padding."""
    rng = np.random.default_rng(0)
    ids = np.where(MASK, rng.integers(0 if family == "Bert" else 5, 90, MASK.shape), pad)
    arrays = {"input_ids": ids, "attention_mask": MASK}
    if family == "Bert":
        arrays["token_type_ids"] = rng.integers(0, 3, MASK.shape)
    if head == "ForMultipleChoice":
        arrays = {key: np.stack([value, np.roll(value, 1, axis=0)], axis=1) for key, value in arrays.items()}
    return arrays


def targets(family, head, ids, changes, dtype):
    rng = np.random.default_rng(1)
    words = np.where((rng.random(MASK.shape) < 0.3) & (MASK == 1), ids if ids.ndim == 2 else 0, -100)
    labels = {
        "ForMaskedLM": words,
        "ForPreTraining": np.where(MASK == 1, rng.integers(0, 2, MASK.shape), -100) if family == "Electra" else words,
        "ForSequenceClassification": np.array([0.5, -2, 3.25], dtype) if changes == REGRESSION else np.array([0, 2, 1]),
        "ForTokenClassification": np.where(MASK == 1, rng.integers(0, 3, MASK.shape), -100),
        "ForMultipleChoice": np.array([0, 1, 1]),
    }
    pairs = {"next_sentence_label": np.array([0, 1, 1])} if (family, head) == ("Bert", "ForPreTraining") else {}
    return {"labels": labels[head], **pairs}


def as_values(original):
    """Their gradients in place of the values, so that a file brings them to npbert's parameters."""
    with torch.no_grad():
        for parameter in original.parameters():
            parameter.copy_(torch.zeros_like(parameter) if parameter.grad is None else parameter.grad)
    return original


def assert_same_gradients(model, wanted, tolerance):
    """wanted: a model with the gradients as its values. A key's bias has the gradient 0, but for rounding."""
    largest = max(np.abs(parameter.grad).max() for parameter in model.parameters())
    assert largest > 0.05, "it must not be small by cancellation"
    for (name, ours), theirs in zip(model.named_parameters(), wanted.parameters(), strict=True):
        scale = 1e-4 if ours.grad.dtype == np.float64 else 0.1 * largest  # in float32 the terms are rounded
        assert_close(name, ours.grad, torch.tensor(theirs.value), tolerance=tolerance, scale=scale)


def padded(theirs):
    """Their output, with 0 for padding."""
    if theirs.shape[:2] != MASK.shape:
        return theirs
    return theirs * torch.tensor(MASK).reshape(*MASK.shape, *[1] * (theirs.ndim - 2))


def assert_same_outputs(ours, theirs, tolerance):
    """Of all outputs."""
    ours = ours if isinstance(ours, tuple) else (ours,)
    for our, (key, their) in zip(ours, theirs.items(), strict=False):
        if our is not None:
            assert_close(key, our, padded(their), tolerance=tolerance)


def kind_of(case):
    """Each family, each head of BERT, and float32."""
    family, head, _, dtype = case
    return family if family != "Bert" else dtype if dtype == "float32" else head


@pytest.mark.parametrize(("family", "head", "changes", "dtype"), one_of_each(kind_of, CASES))
def test_outputs_losses_and_gradients_are_theirs_and_files_go_there_and_back(family, head, changes, dtype, tmp_path):
    original, name = theirs(family, head, changes, dtype)
    tolerance = {"float64": 1e-10, "float32": 1e-5}[dtype]
    tolerance = 5e-7 if name in IN_FLOAT32 or (name, head) == ("Electra", "ForPreTraining") else tolerance
    arrays = inputs(family, head, original.config.pad_token_id or 0)
    original.save_pretrained(tmp_path / "theirs")
    load = partial(getattr(npbert, f"AutoModel{head.removeprefix('Model')}").from_pretrained, dtype=dtype)
    model = load(tmp_path / "theirs")
    outputs, tape = original(**as_torch(arrays)), Tape()
    if head in ("Model", "ForQuestionAnswering"):
        found = model(Batch(**arrays), tape)
        rng, total, dy = np.random.default_rng(2), 0.0, []
        for y in outputs.values():
            dy.append(rng.standard_normal(y.shape).astype(dtype))
            total = total + (padded(y) * torch.tensor(dy[-1])).sum()
        total.backward()
        model.backward((*dy, None)[:2], tape)
        if head == "Model":
            states = original(**as_torch(arrays), output_hidden_states=True).hidden_states
            for number, state in model.hidden_states(Batch(**arrays)).items():
                assert_same_outputs(state, {f"layer {number}": states[number]}, tolerance)
    else:
        found, labels = model(Batch(**arrays)), targets(family, head, arrays["input_ids"], changes, dtype)
        loss = original(**as_torch(arrays), **as_torch(labels)).loss
        loss.backward()
        assert model.loss(Batch(**arrays, **labels), tape).loss == pytest.approx(loss.item(), rel=tolerance)
        model.loss_backward(1.0, tape)
    assert_same_outputs(found, outputs, tolerance)

    model.save_pretrained(tmp_path / "ours")
    again, info = type(original).from_pretrained(tmp_path / "ours", output_loading_info=True)
    assert not any(info.values()), info
    assert again.config.id2label == dict(enumerate(model.config.label_names))
    for key, value in again.state_dict().items():
        assert value.dtype == getattr(torch, dtype) or value.dtype == torch.int64
        assert torch.equal(value, original.state_dict()[key]), key
    written = json.loads((tmp_path / "ours" / "config.json").read_text())
    assert written["architectures"] == [f"{name}{head}"]
    written["num_labels"] = len(written["id2label"])  # which says it
    assert (written.get("problem_type") == "regression") == (changes == REGRESSION), (
        "else they make a probability of it"
    )
    wanted = {**FAMILIES[family], **changes}
    assert {key: written.get(key) for key in wanted} == wanted
    as_values(original).save_pretrained(tmp_path / "gradients")
    assert_same_gradients(model, load(tmp_path / "gradients"), tolerance)
