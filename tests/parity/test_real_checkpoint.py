"""A real checkpoint, all-MiniLM-L6-v2, on real sentences: as transformers runs it."""

import numpy as np
import pytest
import torch

from npbert import BertModel, Embed, Tape, Tokenizer
from npbert.cli import main
from tests.parity.real_data import minilm, stsb
from tests.parity.torch_comparison import gradients

transformers = pytest.importorskip("transformers", reason="transformers is not installed: pip install transformers")
stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed: pip install scipy")
pytest.importorskip("tokenizers", reason="tokenizers is not installed: pip install -e '.[hf]'")

pytestmark = pytest.mark.torch


def real_batch(count):
    """Pairs and single sentences of STS-B, from 2 tokens to the longest."""
    rows = sorted(stsb("dev"), key=lambda row: len(row.first))
    rows = [rows[index] for index in np.linspace(0, len(rows) - 1, count).astype(int)]
    texts = [(row.first, row.second) if index % 2 else row.first for index, row in enumerate(rows)]
    tokenizer = Tokenizer.from_pretrained(minilm())
    return tokenizer.batch(tokenizer.encode([*texts, ""]))


def theirs(dtype, **options):
    return transformers.BertModel.from_pretrained(minilm(), dtype=dtype, **options).eval()


def run_theirs(model, batch):
    return model(
        torch.tensor(batch.input_ids),
        token_type_ids=torch.tensor(batch.token_type_ids),
        attention_mask=torch.tensor(batch.attention_mask),
        output_hidden_states=True,
    )


def test_hidden_states_in_float32():
    batch = real_batch(12)
    real = batch.attention_mask == 1
    assert 0 < real.mean() < 0.6, "ragged"
    model = BertModel.from_pretrained(minilm())
    with torch.no_grad():
        wanted = run_theirs(theirs(torch.float32), batch)
    states = model.hidden_states(batch)
    exact = BertModel.from_pretrained(minilm(), dtype=np.float64).hidden_states(batch)
    assert list(states) == list(range(7))
    for layer, state in states.items():
        assert state.dtype == np.float32
        # Each float32 beside float64: beside each other both errors would add up, and theirs is the larger here.
        for in_float32 in (state, wanted.hidden_states[layer].numpy()):
            np.testing.assert_allclose(in_float32[real], exact[layer][real], rtol=0, atol=5e-6)
    output = model(batch)
    np.testing.assert_array_equal(output.last_hidden_state, states[6])
    np.testing.assert_allclose(output.pooler_output, wanted.pooler_output.numpy(), rtol=0, atol=5e-6)


def test_every_gradient_in_float64():
    """Of a fixed random weighting of both outputs, at real positions; of each tensor to 1e-9 of its largest entry."""
    batch, rng = real_batch(5), np.random.default_rng(0)
    model, module = BertModel.from_pretrained(minilm(), dtype=np.float64), theirs(torch.float64)
    module.embeddings.word_embeddings.padding_idx = None  # it would keep the row of [PAD] from its gradient
    tape = Tape()
    output = model.forward(batch, tape)
    dhidden = rng.standard_normal(output.last_hidden_state.shape) * batch.attention_mask[:, :, None]
    dpooled = rng.standard_normal(output.pooler_output.shape)
    model.backward((dhidden, dpooled), tape)
    wanted = run_theirs(module, batch)
    outputs = wanted.last_hidden_state, wanted.pooler_output
    torch.autograd.backward(outputs, (torch.tensor(dhidden), torch.tensor(dpooled)))

    pairs = gradients(model, module)
    largest = max(float(gradient.abs().max()) for _, gradient in pairs.values())
    assert len(pairs) == 103
    for name, (ours, gradient) in pairs.items():
        # A bias of the keys moves all scores of a query alike, which changes no softmax: its gradient is but rounding.
        scale = largest if name.endswith("key.bias") else float(gradient.abs().max())
        assert scale > 1e-6 * largest, name
        np.testing.assert_allclose(ours, gradient.numpy(), rtol=0, atol=1e-9 * scale, err_msg=name)


def test_sentence_similarity(tmp_path):
    """`npbert embed` on a third of STS-B dev: the cosines go with the scores as in transformers, to four digits."""
    rows = stsb("dev")[::3]
    sentences = [row.first for row in rows] + [row.second for row in rows]
    (tmp_path / "sentences.txt").write_text("".join(f"{sentence}\n" for sentence in sentences), encoding="utf-8")
    vectors = tmp_path / "vectors.npy"
    command = ["embed", str(minilm()), str(tmp_path / "sentences.txt"), "--normalize", "--output", str(vectors)]
    assert main(command) == 0
    first, second = np.load(vectors).reshape(2, 500, 384)
    cosines, scores = (first * second).sum(axis=1), [row.score for row in rows]
    assert stats.spearmanr(cosines, scores).statistic == pytest.approx(0.87825, abs=2e-5)
    assert stats.pearsonr(cosines, scores).statistic == pytest.approx(0.87197, abs=2e-5)


@pytest.mark.filterwarnings("ignore:1 of 41 texts is longer than the 256 tokens")
def test_vectors_are_made_as_the_folder_says():
    """Of at most 256 tokens where the tokenizer says 512, their mean, of length 1: modules.json and what it names."""
    sentences = [row.first for row in stsb("dev")[::38]]
    texts = [*sentences, " ".join(sentences)]
    tokenizer, model = transformers.AutoTokenizer.from_pretrained(minilm()), theirs(torch.float32)
    wanted = []
    for text in texts:
        tokens = tokenizer(text, truncation=True, max_length=256, return_tensors="pt")
        with torch.no_grad():
            mean = model(**tokens).last_hidden_state[0].mean(axis=0)
        wanted.append((mean / mean.norm()).numpy())
    assert (len(texts), tokens["input_ids"].shape) == (41, (1, 256))
    np.testing.assert_allclose(Embed.from_pretrained(minilm())(texts), wanted, rtol=0, atol=1e-6)
