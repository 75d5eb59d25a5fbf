"""explain: each kind of statement is made where it is true, at any seed, and never where it is not."""

import numpy as np
import pytest

from npbert.gradcheck import explain

N, D = 11, 6
SEEDS = range(10)
SIZES, NUMBERS = {"N": N, "D": D, "the number of targets": 5}, {"p": 0.3}


def drawn(seed):
    return np.random.default_rng(seed).standard_normal((2, N, D))


def with_heads(right, count, change):
    return change(right.reshape(N, count, D // count)).reshape(N, D)


def with_rows(right, rows, factor):
    wrong = right.copy()
    wrong[rows] *= factor
    return wrong


MISTAKES = {
    # what is wrong, the kind, and what is said of it
    "sum for mean": (lambda r: r * D, "factor", "6.000 times too large, everywhere: 6 is D, as if a sum"),
    "mean for sum": (lambda r: r / N, "factor", "11.000 times too small, everywhere: 11 is N, as if a mean"),
    "sign": (lambda r: -r, "factor", "dx has the wrong sign, everywhere"),
    "twice": (lambda r: r * 2, "factor", "as if something was counted twice"),
    "root": (lambda r: r * np.sqrt(D), "factor", "that is a factor of √6, and 6 is D"),
    "root below": (lambda r: r / np.sqrt(D), "factor", "that is a factor of 1/√6, and 6 is D"),
    "other rows": (lambda r: r * D / N, "factor", "that is a factor of 6/11: 6 is D, and 11 is N"),
    "keeping": (lambda r: r * 0.7, "factor", "p is 0.3, as if a division by 1 − p was left out"),
    "nameless": (lambda r: r * 1.2344, "factor", "dx is 1.234 times too large, everywhere"),
    "huge": (lambda r: r * 1e12, "factor", "as if it was divided by something that is nearly 0"),
    "turned": (lambda r: r.T.reshape(N, D), "order", "transposed and then reshaped"),
    "turned back": (lambda r: r.reshape(D, N).T, "order", "reshaped and then transposed"),
    "reversed": (lambda r: r[::-1], "order", "its rows are in another order"),
    "columns": (lambda r: np.roll(r, 1, axis=1), "order", "its columns are in another order: place 0 has what"),
    "heads": (lambda r: with_heads(r, 3, lambda h: h[:, [1, 0, 2]]), "order", "in another order: place 0 has what"),
    "joined": (lambda r: with_heads(r, 2, lambda h: h.swapaxes(0, 1)), "order", "in another order"),
    "one row": (lambda r: with_rows(r, 4, 2.0), "place", "right but for row 4 (counted from 0)"),
    "last row": (lambda r: with_rows(r, -1, 0.0), "place", "row 10 (counted from 0): it is 0 there"),
    "nothing": (lambda r: 0 * r, "zero", "dx is 0 everywhere, though y moves with x"),
    "infinite": (lambda r: np.where(np.arange(D) == 3, np.inf, r), "not finite", "has 11 of 66 numbers that are not"),
    "float32": (lambda r: r.astype(np.float32).astype(float), "rounded", "its numbers are those of float32"),
    "other dtype": (lambda r: r.astype(np.float32), "dtype", "dx is float32, and x is float64"),
    "flat": (lambda r: r.sum(axis=0), "shape", "it is the right one, but summed over axis 0"),
    "shape": (lambda r: r.T, "shape", "dx has shape (6, 11), and x has shape (11, 6): transposed, it is right"),
    "stacked": (lambda r: np.stack([r / 2, r / 2]), "shape", "summed over axis 0, it is right"),
    "reshaped": (lambda r: r.reshape(D, N), "shape", "its numbers are right, and a reshape would do"),
}
WITHOUT_NOISE = ("zero", "not finite", "rounded", "dtype", "shape")


@pytest.mark.parametrize(("mistake", "kind", "says"), MISTAKES.values(), ids=MISTAKES)
def test_what_is_wrong_is_said_at_any_seed(mistake, kind, says):
    for seed in SEEDS:
        right, _ = drawn(seed)
        (finding,) = explain(mistake(right), right, name="x", sizes=SIZES, numbers=NUMBERS)
        assert (finding.kind, finding.subject, finding.line) == (kind, "dx", 0)
        assert says in finding.cause


@pytest.mark.parametrize("name", [name for name, (_, kind, _) in MISTAKES.items() if kind not in WITHOUT_NOISE])
def test_nothing_is_said_that_is_only_nearly_true(name):
    for seed in SEEDS:
        right, noise = drawn(seed)
        wrong = MISTAKES[name][0](right)
        wrong = wrong + 1e-4 * np.abs(wrong - right).max() * noise
        assert explain(wrong, right, name="x", sizes=SIZES, numbers=NUMBERS) == []


@pytest.mark.parametrize("shape", [(), (1,), (2,), (5,), (1, 1), (2, 2), (1, 7), (7, 1), (3, 5), (2, 3, 5)])
def test_nothing_is_said_of_noise_in_any_shape_and_of_what_is_right(shape):
    rng = np.random.default_rng(0)
    for _ in range(50):
        wrong, right = rng.standard_normal((2, *shape))
        assert explain(right, right, name="x") == []
        assert explain(wrong, right, name="x", sizes=SIZES, numbers=NUMBERS) == []


def test_an_array_that_is_known_is_named():
    for seed in SEEDS:
        right, dy = drawn(seed)
        (finding,) = explain(dy, right, name="x", known={"dy": dy})
        assert (finding.kind, finding.cause) == ("another", "dx is just dy")
