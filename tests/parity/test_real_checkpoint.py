"""A real checkpoint, all-MiniLM-L6-v2, on real sentences: as transformers runs it."""

import numpy as np
import pytest

from npbert.cli import main
from tests.later import later
from tests.parity import torch
from tests.parity.real_data import minilm, stsb

transformers = later("transformers", "transformers")

pytestmark = pytest.mark.torch


def test_vectors_are_made_as_the_folder_says(tmp_path):
    """`npbert embed`: of at most 256 tokens where the tokenizer says 512, their mean, of length 1, as modules.json says
    and what it names. So the cosines of sentences of STS-B go with the scores that people gave."""
    rows = stsb("dev")[::75]
    sentences = [row.first for row in rows] + [row.second for row in rows]
    texts = [*sentences, " ".join(sentences[:40])]
    (tmp_path / "texts.txt").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    assert main(["embed", str(minilm()), f"{tmp_path}/texts.txt", "--output", f"{tmp_path}/vectors.npy"]) == 0
    vectors = np.load(tmp_path / "vectors.npy")

    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm())
    model = transformers.BertModel.from_pretrained(minilm(), dtype=torch.float32).eval()
    wanted = []
    for text in texts:
        tokens = tokenizer(text, truncation=True, max_length=256, return_tensors="pt")
        with torch.no_grad():
            mean = model(**tokens).last_hidden_state[0].mean(axis=0)
        wanted.append((mean / mean.norm()).numpy())
    assert (len(texts), tokens["input_ids"].shape) == (41, (1, 256))
    np.testing.assert_allclose(vectors, wanted, rtol=0, atol=1e-6)
    cosines = (vectors[:20] * vectors[20:40]).sum(axis=1)
    assert np.corrcoef(cosines, [row.score for row in rows])[0, 1] > 0.8
