"""Products in pieces are NumPy's own."""

import numpy as np
import pytest
from npbert.layers.product import SMALL, add_product, product, sum_of_rows

from npbert.layers import Parameter
from npbert.layers import product as module
from tests.computing import assert_same_but_for_rounding, in_pieces, nothing_is_nan, on_threads

SIZES = [
    (1, 1, 1),
    (7, 3, 5),
    (5, 3, 7),
    (4, 3, 4),
    (1, 6, 9),
    (9, 6, 1),
    (20, 1, 3),
    (3, 1, 20),
    (2, 30, 2),
    (61, 5, 4),
]


def factors(n, i, o, dtype=np.float32):
    rng = np.random.default_rng(0)
    return (rng.standard_normal(shape).astype(dtype) for shape in ((n, i), (i, o), (o,)))


def plainly(a, b, plus=0.0):
    return (a.astype(np.float64) @ b.astype(np.float64) + plus).astype(a.dtype)


@pytest.fixture(params=[1, 2, 4])
def _threads(request):
    with on_threads(request.param), nothing_is_nan():
        yield


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("pieces", [0, 1, 2, 3, 1000])
class TestPieces:
    """Products of sizes to which a piece of SMALL multiplications fits so many times; TINY is 1 less than the size."""

    @pytest.fixture(autouse=True)
    def _small(self, size, pieces, monkeypatch):
        n, i, o = size
        monkeypatch.setattr(module, "SMALL", n * i * o // pieces or 1 if pieces else n * i * o + 1)
        monkeypatch.setattr(module, "TINY", n * i * o)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_product(self, size, dtype):
        a, b, plus = factors(*size, dtype)
        assert_same_but_for_rounding(product(a, b), plainly(a, b))
        assert_same_but_for_rounding(product(a, b, plus=plus), plainly(a, b, plus))
        out = np.full((len(a), b.shape[1]), np.nan, dtype)
        assert product(a, b, plus=plus, out=out) is out
        assert_same_but_for_rounding(out, plainly(a, b, plus))

    def test_any_order_in_memory(self, size):
        a, b, plus = factors(*size)
        wanted = plainly(a, b, plus)
        for left in (a, np.asfortranarray(a), np.repeat(a, 2, axis=1)[:, ::2]):
            for right in (b, np.asfortranarray(b), b[::-1][::-1]):
                assert_same_but_for_rounding(product(left, right, plus=plus), wanted)
        out = np.full((b.shape[1], len(a)), np.nan, np.float32).T
        assert_same_but_for_rounding(product(a, b, plus=plus, out=out), wanted)

    def test_gradients_add_up(self, size):
        a, b, _ = factors(*size)
        parameter = Parameter(np.zeros((len(a), b.shape[1]), np.float32))
        for count in (1, 2, 3):
            add_product(parameter, a, b)
            assert_same_but_for_rounding(parameter.grad, count * plainly(a, b))
        parameter.grad[...] = np.nan
        parameter.zero_grad()
        add_product(parameter, a, b)
        assert_same_but_for_rounding(parameter.grad, plainly(a, b))

    def test_sum_of_rows(self, size):
        a, _, _ = factors(*size)
        assert_same_but_for_rounding(sum_of_rows(a), a.astype(np.float64).sum(axis=0).astype(np.float32))
        assert_same_but_for_rounding(sum_of_rows(a[None, :, None]), sum_of_rows(a))


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("size", [(0, 3, 4), (3, 0, 4), (3, 4, 0)], ids=str)
@pytest.mark.parametrize("small", [1, SMALL])
def test_nothing_to_multiply(size, small):
    a, b, plus = factors(*size)
    with in_pieces(1, small):
        np.testing.assert_array_equal(product(a, b, plus=plus), a @ b + plus)


def test_dtypes_are_those_of_numpy():
    a, b, _ = factors(3, 4, 5)
    assert product(a, b.astype(np.float64)).dtype == np.float64
    assert product(a * 1j, b).dtype == np.complex64
    np.testing.assert_allclose(product(a * 1j, b), 1j * (a @ b), rtol=1e-6)


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("size", [(700, 300, 200), (200, 300, 700), (250, 256, 250), (251, 256, 250)], ids=str)
def test_at_its_real_size(size):
    """Several pieces of SMALL multiplications, and sides that are equal or not."""
    a, b, plus = factors(*size)
    assert_same_but_for_rounding(product(a, b, plus=plus), plainly(a, b, plus))
    assert_same_but_for_rounding(product(a.T, product(a, b)), plainly(a.T, plainly(a, b)))


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("size", "in_slabs"),
    [
        ((1, 64, 500), False),
        ((2, 64, 500), True),
        ((16, 32, 20), True),
        ((16, 96, 300), True),
        ((17, 96, 300), False),
        ((16, 100, 300), False),
        ((16, 384, 976), True),  # 999,424 multiplications in a slab of 64
        ((16, 384, 977), True),  # and more than a million
        ((16, 384, 1953), True),  # 999,936 in a slab of 32
        ((16, 384, 1954), False),
    ],
    ids=str,
)
def test_few_rows_in_slabs(size, in_slabs, dtype, monkeypatch):
    whole = []
    matmul = np.matmul
    monkeypatch.setattr(np, "matmul", lambda *args, **options: whole.append(1) or matmul(*args, **options))
    a, b, plus = factors(*size, dtype)
    wanted = plainly(a, b, plus)
    for left in (a, np.asfortranarray(a), np.repeat(a, 2, axis=1)[:, ::2]):
        for right in (b, np.asfortranarray(b), b[::-1][::-1]):
            assert_same_but_for_rounding(product(left, right, plus=plus), wanted)
    out = np.full((size[2], size[0]), np.nan, dtype).T
    assert_same_but_for_rounding(product(a, b, plus=plus, out=out), wanted)
    assert (not whole) == in_slabs


@pytest.mark.parametrize("size", [(15, 10, 10), (10, 10, 15)])
@pytest.mark.parametrize(
    ("multiplications", "pieces"), [(100, 4), (375, 4), (376, 3), (500, 3), (750, 2), (751, 1), (1500, 1), (2000, 0)]
)
def test_as_many_pieces_of_the_larger_side_as_are_worth_it(size, multiplications, pieces, monkeypatch):
    """Of 1,500 multiplications. One thread needs one piece, four need four at most, and what is tiny needs no `run`."""
    seen = []
    run = module.run
    monkeypatch.setattr(module, "run", lambda work, items: seen.extend(items) or run(work, items))
    a, b, _ = factors(*size)
    with in_pieces(1, multiplications):
        with on_threads(1):
            product(a, b)
        assert seen == [slice(0, 15)][:pieces]
        seen.clear()
        with on_threads(4):
            product(a, b)
    assert len(seen) == pieces
    assert [piece.stop for piece in seen[-1:]] == [15][:pieces]


def test_blas_is_held_to_one_thread(count_of_blas, monkeypatch):
    """However small the product is, unless BLAS itself leaves it to one."""
    seen = []
    matmul = np.matmul

    def noting(*args, **options):
        seen.append(count_of_blas())
        return matmul(*args, **options)

    monkeypatch.setattr(np, "matmul", noting)
    for size in ((20, 20, 20), (300, 300, 300)):
        a, b, _ = factors(*size)
        for count in (1, 2):
            with on_threads(count):
                product(a, b)
    assert set(seen) == {1}
