"""A real checkpoint, all-MiniLM-L6-v2, on real sentences: as transformers runs it."""

import numpy as np
import pytest

from npbert import BertModel, Tokenizer
from npbert.cli import main
from tests.later import later
from tests.parity import torch
from tests.parity.real_data import minilm, stsb
from tests.parity.torch_comparison import as_torch

transformers = later("transformers", "transformers")
pytest.importorskip("tokenizers", reason="tokenizers is not installed: pip install -e '.[hf]'")

pytestmark = pytest.mark.torch


def real_batch(count):
    """Pairs and single sentences of STS-B, from 2 tokens to the longest."""
    rows = sorted(stsb("dev"), key=lambda row: len(row.first))
    rows = [rows[index] for index in np.linspace(0, len(rows) - 1, count).astype(int)]
    texts = [(row.first, row.second) if index % 2 else row.first for index, row in enumerate(rows)]
    tokenizer = Tokenizer.from_pretrained(minilm())
    return tokenizer.batch(tokenizer.encode([*texts, ""]))


def theirs(dtype):
    return transformers.BertModel.from_pretrained(minilm(), dtype=dtype).eval()


def test_hidden_states_in_float32():
    batch = real_batch(12)
    real = batch.attention_mask == 1
    assert 0 < real.mean() < 0.6, "ragged"
    model = BertModel.from_pretrained(minilm())
    with torch.no_grad():
        wanted = theirs(torch.float32)(**as_torch(vars(batch)), output_hidden_states=True)
    states = model.hidden_states(batch)
    exact = BertModel.from_pretrained(minilm(), dtype=np.float64).hidden_states(batch)
    assert list(states) == list(range(7))
    for layer, state in states.items():
        assert state.dtype == np.float32
        # Each float32 beside float64: beside each other both errors would add up, and theirs is the larger here.
        for in_float32 in (state, wanted.hidden_states[layer].numpy()):
            np.testing.assert_allclose(in_float32[real], exact[layer][real], rtol=0, atol=5e-6)
    output = model(batch)
    # A large batch is cut into parts, and BLAS rounds a product of other rows otherwise on some processors.
    np.testing.assert_allclose(output.last_hidden_state, states[6], rtol=0, atol=5e-6)
    np.testing.assert_allclose(output.pooler_output, wanted.pooler_output.numpy(), rtol=0, atol=5e-6)


def test_vectors_are_made_as_the_folder_says(tmp_path):
    """`npbert embed`: of at most 256 tokens where the tokenizer says 512, their mean, of length 1, as modules.json says
    and what it names. So the cosines of sentences of STS-B go with the scores that people gave."""
    rows = stsb("dev")[::38]
    sentences = [row.first for row in rows] + [row.second for row in rows]
    texts = [*sentences, " ".join(sentences[:40])]
    (tmp_path / "texts.txt").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    assert main(["embed", str(minilm()), f"{tmp_path}/texts.txt", "--output", f"{tmp_path}/vectors.npy"]) == 0
    vectors = np.load(tmp_path / "vectors.npy")

    tokenizer, model = transformers.AutoTokenizer.from_pretrained(minilm()), theirs(torch.float32)
    wanted = []
    for text in texts:
        tokens = tokenizer(text, truncation=True, max_length=256, return_tensors="pt")
        with torch.no_grad():
            mean = model(**tokens).last_hidden_state[0].mean(axis=0)
        wanted.append((mean / mean.norm()).numpy())
    assert (len(texts), tokens["input_ids"].shape) == (81, (1, 256))
    np.testing.assert_allclose(vectors, wanted, rtol=0, atol=1e-6)
    cosines = (vectors[:40] * vectors[40:80]).sum(axis=1)
    assert np.corrcoef(cosines, [row.score for row in rows])[0, 1] > 0.8
