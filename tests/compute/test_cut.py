"""Where a batch and a product are cut: by their sizes and the model's, whatever the number of threads."""

import numpy as np
import pytest

from npbert import Batch, BertConfig, BertModel, Tape
from npbert.compute import inference_parts, matmul, training_parts
from npbert.models import PackedBatch, Reads
from tests.computing import in_pieces, nothing_is_nan, on_threads

THREADS = (1, 2, 3, 5)


@pytest.mark.parametrize(
    ("rows", "layers", "width", "parameters", "count"),
    [
        (32 * 128, 4, 256, 11.3e6, 4),  # BERT-mini
        (8 * 128, 4, 256, 11.3e6, 2),
        (8 * 128, 12, 768, 110e6, 1),  # BERT-base: two gradients would take more than the layers keep
        (512, 2, 64, 1e5, 1),  # a hidden state that is too small to pay
    ],
)
def test_parts_in_training_and_in_inference(rows, layers, width, parameters, count):
    assert training_parts(rows, layers, width, int(parameters)) == count
    assert [inference_parts(*sizes) for sizes in ((16, 384), (300, 384), (2048, 384), (9000, 768))] == [1, 2, 4, 18]


@pytest.mark.parametrize("shape", [(22, 1024, 1024), (700, 64, 300), (300, 64, 700), (9, 512, 4096)], ids=str)
def test_a_product_has_the_same_bits_on_any_threads(shape):
    n, inner, m = shape
    rng, found = np.random.default_rng(0), set()
    a, b = rng.standard_normal((n, inner), np.float32), rng.standard_normal((inner, m), np.float32)
    for threads in THREADS:
        with on_threads(threads):
            found.add(matmul(a, b, plus=b[0]).tobytes())
    assert len(found) == 1


def test_inference_in_parts_is_the_whole_and_has_the_same_bits_on_any_threads(monkeypatch):
    config = BertConfig(30, 8, 2, 2, 12, max_position_embeddings=16)
    model, rng = BertModel(config, rng=np.random.default_rng(0), dtype=np.float64), np.random.default_rng(1)
    mask = (np.arange(16) < np.array([[7], [1], [16], [4], [4], [9]])).astype(int)
    batch = Batch(rng.integers(0, 30, mask.shape), attention_mask=mask)
    monkeypatch.setattr("npbert.compute.cut.LARGEST", 40)
    for reads in ("all", "first"):
        packed = PackedBatch(batch, config, Reads(reads, "word"))
        whole, found, seen = model.encode(packed, Tape()), set(), []
        watcher = Tape(keeps=False, watcher=lambda layer, inputs, _, seen=seen: seen.append((layer, len(inputs[0]))))
        for threads in THREADS:
            with on_threads(threads), in_pieces(10**6, 10**9), nothing_is_nan():
                found.add(model.encode(packed, watcher).tobytes())
        assert sorted(rows for layer, rows in seen if layer is model.encoder) == sorted([4, 5, 7, 9, 16] * len(THREADS))
        (bits,) = found
        np.testing.assert_allclose(np.frombuffer(bits).reshape(whole.shape), whole, rtol=1e-13)
