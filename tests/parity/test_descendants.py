"""BERT's descendants beside transformers' own classes: outputs, losses, all gradients; and there and back by files."""

import json

import numpy as np
import pytest

import npbert
from npbert import Batch, Tape
from npbert.models.hugging_face.names import stored_parameters

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.torch

SIZES = {"vocab_size": 90, "num_hidden_layers": 4, "max_position_embeddings": 64}
SIZES |= {"hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 20}
SPECIAL = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "cls_token_id": 2, "sep_token_id": 3}
DISTIL = {"dim": 24, "n_layers": 4, "n_heads": 3, "hidden_dim": 20}
FAMILIES = {
    "Roberta": SIZES | {"type_vocab_size": 1},
    "XLMRoberta": SIZES | {"type_vocab_size": 1},
    "Camembert": SIZES | {"type_vocab_size": 1},
    "DistilBert": DISTIL | {"vocab_size": 90, "max_position_embeddings": 64},
    "Electra": SIZES | {"embedding_size": 10},
    "Albert": SIZES | {"embedding_size": 10},
    "MPNet": SIZES,
    "ModernBert": SIZES | SPECIAL | {"local_attention": 8},
    "ModernBert, mean": SIZES | SPECIAL | {"local_attention": 8, "classifier_pooling": "mean"},
    "NomicBert": SIZES,
}
HEADS = ["Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification"]
HEADS += ["ForQuestionAnswering", "ForMultipleChoice"]
ONLY = {  # all but the names of the classes is RoBERTa's; the mean is what a pooler takes; theirs has no other heads
    "XLMRoberta": ["ForMaskedLM"],
    "Camembert": ["ForMaskedLM"],
    "ModernBert, mean": ["ForSequenceClassification", "ForMultipleChoice"],
    "NomicBert": HEADS[:4],
}
KINDS = [(family, head) for family in FAMILIES for head in ONLY.get(family, HEADS)]
IN_FLOAT32 = "ModernBert", "NomicBert"
"""Their rotary angles are float32 in transformers, and so are their sines."""
IN_NOMIC = {"emb_ln": "embeddings.LayerNorm", "encoder.layers": "layers", "attn.out_proj": "self_attn.o_proj"}
IN_NOMIC |= {"fc11": "up_proj", "fc12": "gate_proj", "fc2": "down_proj", "attn.Wqkv": "self_attn.{}_proj"}
IN_NOMIC |= {"norm1": "post_attention_layernorm", "norm2": "post_mlp_layernorm"}
LENGTHS = np.array([40, 21, 9])
MASK = (np.arange(40) < LENGTHS[:, None]).astype(np.int64)


def theirs(family, head):
    """Their model in float64 with random weights, none of them 0 or 1."""
    name = family.partition(",")[0]
    torch.manual_seed(0)
    labels = 2 if head == "ForQuestionAnswering" else 3
    config = getattr(transformers, f"{name}Config")(**FAMILIES[family], num_labels=labels)
    model = getattr(transformers, f"{name}{head}")(config).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    model.tie_weights()
    return model, name


def targets(head, rng, ids):
    some = (rng.random(MASK.shape) < 0.3) & (MASK == 1)
    return {
        "ForMaskedLM": {"labels": np.where(some, ids, -100)},
        "ForSequenceClassification": {"labels": np.array([0, 2, 1])},
        "ForTokenClassification": {"labels": np.where(MASK == 1, rng.integers(0, 3, MASK.shape), -100)},
        "ForMultipleChoice": {"labels": np.array([0, 1, 1])},
    }[head]


def gradient_of(name, part, gradients):
    """Their gradient of what the file calls `name`; Nomic's classes have other names than its files."""
    if name in gradients:
        return gradients[name].numpy()
    for in_file, in_class in IN_NOMIC.items():
        name = name.replace(in_file, in_class)
    return np.concatenate(
        [gradients[name.format(letter)].numpy() for letter in "qkv"] if "{}" in name else [gradients[name].numpy()]
    )


def compare(model, original, name, tolerance):
    gradients = {key: parameter.grad for key, parameter in original.named_parameters()}
    gradients |= {key: value.grad for key, value in original.named_parameters(remove_duplicate=False)}
    pad = original.config.pad_token_id or 0
    for key, stored in stored_parameters(model).items():
        number, count = stored.part
        wanted = np.split(gradient_of(stored.name, number, gradients), count)[number].copy()
        got = np.array(stored.parameter.grad.T if stored.transposed else stored.parameter.grad)
        if stored.parameter is getattr(model, "bert", model).embeddings.word_embeddings.weight:
            wanted[pad] = got[pad] = 0  # transformers leaves its gradient at 0
        largest = max(float(np.abs(wanted).max()), 1e-4)  # a key's bias has the gradient 0, but for rounding
        np.testing.assert_allclose(got, wanted, rtol=0, atol=tolerance * largest, err_msg=f"{name}: {key}")


@pytest.mark.parametrize(("family", "head"), KINDS)
def test_outputs_losses_and_gradients_are_theirs_and_files_go_there_and_back(family, head, tmp_path):
    original, name = theirs(family, head)
    tolerance = 5e-7 if name in IN_FLOAT32 else 1e-10
    rng = np.random.default_rng(0)
    ids = np.where(MASK, rng.integers(5, 90, MASK.shape), original.config.pad_token_id or 0)
    arrays = {"input_ids": ids, "attention_mask": MASK}
    if head == "ForMultipleChoice":
        arrays = {key: np.stack([value, np.roll(value, 1, axis=0)], axis=1) for key, value in arrays.items()}
    given = {key: torch.tensor(value) for key, value in arrays.items()}
    batch = {**arrays, "token_type_ids": np.zeros_like(arrays["input_ids"])}
    original.save_pretrained(tmp_path / "theirs")
    model = getattr(npbert, f"Auto{head}" if head == "Model" else f"AutoModel{head}").from_pretrained(
        tmp_path / "theirs", dtype=np.float64
    )
    tape = Tape()
    if head in ("Model", "ForQuestionAnswering"):
        outputs = original(**given)
        names = ["last_hidden_state"] if head == "Model" else ["start_logits", "end_logits"]
        found, total, dy = model(Batch(**batch), tape), 0.0, []
        for key in names:
            y = getattr(outputs, key)
            real = MASK[..., None] if y.ndim == 3 else MASK
            np.testing.assert_allclose(
                getattr(found, key) * real, y.detach().numpy() * real, rtol=0, atol=10 * tolerance
            )
            dy.append(rng.standard_normal(y.shape) * real)
            total = total + (y * torch.tensor(dy[-1])).sum()
        total.backward()
        if head == "Model":
            pooled = None if found.pooler_output is None else np.zeros_like(found.pooler_output)
            states = original(**given, output_hidden_states=True).hidden_states
            for number, state in model.hidden_states(Batch(**batch)).items():
                wanted = states[number].detach().numpy() * MASK[..., None]
                np.testing.assert_allclose(state, wanted, rtol=0, atol=10 * tolerance)
            dy.append(pooled)
        model.backward(tuple(dy), tape)
        if head == "Model":
            for _, parameter in original.named_parameters():
                parameter.grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
    else:
        labels = targets(head, rng, ids)
        outputs = original(**given, labels=torch.tensor(labels["labels"]))
        outputs.loss.backward()
        assert model.loss(Batch(**batch, **labels), tape).loss == pytest.approx(outputs.loss.item(), rel=tolerance)
        model.loss_backward(1.0, tape)
    compare(model, original, family, tolerance)

    model.save_pretrained(tmp_path / "ours")
    again = type(original).from_pretrained(tmp_path / "ours", dtype=torch.float64)
    for key, value in again.state_dict().items():
        assert torch.equal(value, original.state_dict()[key]), key
    written = json.loads((tmp_path / "ours" / "config.json").read_text())
    assert written["architectures"] == [f"{name}{head}"]
    assert {key: written.get(key) for key in FAMILIES[family]} == FAMILIES[family]


@pytest.mark.parametrize(
    ("family", "change", "message"),
    [
        ("Albert", {"num_hidden_groups": 2}, "num_hidden_groups is 2, and npbert has only 1"),
        ("ModernBert", {"norm_bias": True}, "norm_bias is True, and npbert has only False"),
        ("DistilBert", {"sinusoidal_pos_embds": True}, "sinusoidal_pos_embds is True, and npbert has only False"),
        ("NomicBert", {"head_dim": 4}, "head_dim is 4, and npbert has only hidden_size / num_attention_heads"),
        ("NomicBert", {"rope_parameters": {"rope_type": "yarn", "rope_theta": 1e4}}, "rope_type is 'yarn'"),
        ("MPNet", {"model_type": "bart"}, "model_type is 'bart', wanted one of bert, roberta"),
    ],
)
def test_a_setting_without_a_layer_is_refused_by_name(family, change, message, tmp_path):
    original, _ = theirs(family, "Model")
    original.save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(npbert.io.FileError, match=message):
        npbert.AutoModel.from_pretrained(tmp_path)
