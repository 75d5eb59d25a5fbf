"""Where a batch and a product are cut: by their sizes and the model's, whatever the number of threads."""

import itertools
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import Batch, BertConfig, BertModel, Tape
from npbert.compute import inference_parts, matmul, neighbours, run, training_parts
from npbert.compute.threads import WAYS, ways
from npbert.models import PackedBatch, Reads
from tests.computing import in_pieces, nothing_is_nan, on_threads

THREADS = (1, 2, 3, 5)


@given(st.lists(st.integers(1, 300), min_size=1, max_size=9), st.integers(1, 12), st.sampled_from(["u1", "i2", "i8"]))
def test_neighbours_cover_all_in_parts_of_about_one_size(lengths, count, dtype):
    parts = neighbours(np.array(lengths, "u2").astype(dtype if max(lengths) < 128 else "i8"), count)
    assert [part.start for part in parts] == [0, *(part.stop for part in parts[:-1])]
    assert parts[-1].stop == len(lengths) and len(parts) <= count
    for part in parts:
        assert part.stop > part.start
        assert sum(lengths[part]) <= sum(lengths) / count + max(lengths)


@pytest.mark.parametrize(
    ("rows", "layers", "width", "parameters", "count"),
    [
        (32 * 128, 4, 256, 11.3e6, 4),  # BERT-mini
        (8 * 128, 4, 256, 11.3e6, 2),
        (1 * 128, 4, 256, 3.7e6, 1),
        (8 * 128, 12, 768, 110e6, 1),  # BERT-base: two gradients would take more than the layers keep
        (32 * 128, 12, 768, 110e6, 4),
        (24, 2, 8, 2e3, 1),  # as in the tests
        (10**6, 2, 8, 2e3, 4),
    ],
)
def test_parts_in_training(rows, layers, width, parameters, count):
    assert training_parts(rows, layers, width, int(parameters)) == count


@pytest.mark.parametrize(
    ("rows", "width", "count"),
    [(16, 384, 1), (300, 384, 2), (2048, 384, 4), (9000, 768, 18)],
)
def test_parts_in_inference(rows, width, count):
    assert inference_parts(rows, width) == count


def test_ways_are_divided_among_the_pieces_of_work_and_not_by_threads():
    seen = []
    for threads in THREADS:
        with on_threads(threads):
            run(lambda i: run(lambda j: seen.append(ways()), range(2)), range(2))
            run(lambda i: seen.append(ways()), range(1), of=2)
            run(lambda i: seen.append(ways()), range(9))
            assert seen == [*[max(1, WAYS // 4)] * 4, WAYS // 2, *[1] * 9]
            seen.clear()
            with pytest.raises(ZeroDivisionError):
                run(lambda i: 1 // i, range(2))
        assert ways() == WAYS


@pytest.mark.parametrize("shape", [(22, 1024, 1024), (700, 64, 300), (300, 64, 700), (9, 512, 4096)], ids=str)
def test_a_product_has_the_same_bits_on_any_threads(shape):
    n, inner, m = shape
    rng, found = np.random.default_rng(0), []
    a, b = rng.standard_normal((n, inner), np.float32), rng.standard_normal((inner, m), np.float32)
    for threads in THREADS:
        with on_threads(threads):
            found.append(matmul(a, b, plus=b[0]).tobytes())
    assert len(set(found)) == 1


@pytest.mark.parametrize("read_all", [True, False])
@pytest.mark.parametrize("largest", [None, 40])
def test_inference_in_parts_is_the_whole_and_has_the_same_bits_on_any_threads(read_all, largest, monkeypatch):
    config = BertConfig(30, 8, 2, 2, 12, max_position_embeddings=16)
    model, rng = BertModel(config, rng=np.random.default_rng(0), dtype=np.float64), np.random.default_rng(1)
    lengths = np.array([7, 1, 16, 4, 4, 9])
    mask = (np.arange(16) < lengths[:, None]).astype(int)
    labels = np.where(mask & (rng.random(mask.shape) < 0.2), 3, -100)
    batch = Batch(rng.integers(0, 30, mask.shape), attention_mask=mask, labels=None if read_all else labels)
    packed = PackedBatch(batch, config, Reads("all" if read_all else "first and labelled", "word"))
    whole, found = model.encode(packed, Tape()), []
    if largest:
        monkeypatch.setattr(import_module("npbert.compute.cut"), "LARGEST", largest)
    seen, encode = [], model.encoder.forward
    monkeypatch.setattr(model.encoder, "forward", lambda x, *args: seen.append(len(x)) or encode(x, *args))
    for threads in THREADS:
        with on_threads(threads), in_pieces(10**6, 10**9), nothing_is_nan():
            found.append(model.encode(packed))
        assert sorted(seen) == ([4, 5, 7, 9, 16] if largest else [7, 9, 9, 16])
        seen.clear()
    np.testing.assert_allclose(found[0], whole, rtol=1e-13)
    for one, other in itertools.pairwise(found):
        np.testing.assert_array_equal(one, other)
