"""Each kind of finding: found where it is true, at any seed, and never where it is not."""

import numpy as np
import pytest

from npbert.gradcheck import explain

N, D, H = 11, 6, 2
SEEDS = range(20)


class Drawn:
    """The right gradient, and what else there is: sizes are pairwise prime wherever they mean different things."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.right, self.other, self.x, self.y, self.dy = rng.standard_normal((5, N, D))
        self.square = rng.standard_normal((7, 7))
        self.gamma = rng.uniform(0.5, 2, D)
        self.sigma = rng.uniform(0.5, 2, (N, 1))
        self.directly, self.through_mu = rng.standard_normal((2, N, D))
        self.roads = {
            "directly": self.directly,
            "through μ": self.through_mu,
            "through σ": self.right - self.directly - self.through_mu,
        }
        self.is_ignored = np.arange(N) % 4 == 1
        self.noise = rng.standard_normal((N, D))
        self.rows, self.columns, self.heads = (rng.permutation(size) for size in (N, D, 3))

    def context(self):
        return {
            "sizes": {"N": N, "D": D, "the number of targets": 5},
            "numbers": {"p": 0.3},
            "known": {"gamma": self.gamma, "σ": self.sigma, "x": self.x, "y": self.y, "dy": self.dy},
            "roads": self.roads,
            "others": {"z": self.other},
            "places": {"the ignored rows": self.is_ignored[:, None]},
            "heads": H,
        }


def in_heads(right, count):
    return right.reshape(N, count, D // count)


def with_rows(of, rows, change):
    wrong = of.right.copy()
    wrong[rows] = change(wrong[rows])
    return wrong


MISTAKES = {
    # what is wrong, what is found, and what is said of it
    "sum for mean": (lambda of: of.right * D, "factor", "6.000 times too large, everywhere: 6 is D, as if a sum"),
    "mean for sum": (lambda of: of.right / N, "factor", "11.000 times too small, everywhere: 11 is N, as if a mean"),
    "sign": (lambda of: -of.right, "factor", "has the wrong sign, everywhere"),
    "twice": (
        lambda of: of.right * 2,
        "factor",
        "2.000 times too large, everywhere: as if something was counted twice",
    ),
    "half": (lambda of: of.right / 2, "factor", "2.000 times too small, everywhere: as if a 2 was left out"),
    "root": (lambda of: of.right * np.sqrt(D), "factor", "everywhere: that is a factor of √6, and 6 is D"),
    "root below": (
        lambda of: of.right / np.sqrt(D),
        "factor",
        "2.449 times too small, everywhere: that is a factor of 1/√6, and 6 is D, as if 1/√6 came in once too often",
    ),
    "other rows": (
        lambda of: of.right * D / N,
        "factor",
        "1.833 times too small, everywhere: that is a factor of 6/11",
    ),
    "keeping": (lambda of: of.right * 0.7, "factor", "p is 0.3, as if a division by 1 − p was left out"),
    "all rows": (lambda of: of.right * 5 / N, "factor", "a factor of 5/11, as if it was divided by N (11) and not by"),
    "squares": (lambda of: of.right * D / 2, "factor", "6 is D, as if the 2/6 of a mean of squares was left out"),
    "nameless": (lambda of: of.right * 1.2344, "factor", "dx is 1.234 times too large, everywhere"),
    "gamma left out": (lambda of: of.right / of.gamma, "known factor", "as if gamma was left out"),
    "sigma left out": (lambda of: of.right * of.sigma, "known factor", "as if a division by σ was left out"),
    "root of sigma": (lambda of: of.right * of.sigma**0.5, "known factor", "divided by the root of σ, and not by σ"),
    "sigma above": (lambda of: of.right * of.sigma**2, "known factor", "was multiplied by σ, and not divided by it"),
    "sigma twice": (lambda of: of.right / of.sigma, "known factor", "as if it was divided by σ once too often"),
    "dy left out": (lambda of: of.right / of.dy, "known factor", "as if dy was left out"),
    "x for y": (lambda of: of.right * of.x / of.y, "known factor", "as if x stood where y belongs"),
    "factor of rows": (
        lambda of: of.right * np.linspace(1, 3, N)[:, None] ** 3,
        "axis factor",
        "every column of a row",
    ),
    "factor of columns": (lambda of: of.right * np.linspace(1, 3, D) ** 3, "axis factor", "every row of a column"),
    "mean kept": (
        lambda of: of.right - of.right.mean(axis=1, keepdims=True),
        "axis error",
        "as if the mean over each row was subtracted, and should not be",
    ),
    "a number of rows": (lambda of: of.right + np.linspace(1, 3, N)[:, None], "axis error", "same number in every col"),
    "a number of columns": (lambda of: of.right + np.linspace(1, 3, D), "axis error", "same number in every row"),
    "a road of x": (lambda of: of.right + of.x * of.sigma, "known error", "off by a multiple of x in each row"),
    "another": (lambda of: of.other.copy(), "another", "dx is dz"),
    "transposed by reshape": (lambda of: of.right.T.reshape(N, D), "order", "transposed and then reshaped to (11, 6)"),
    "reshaped to transpose": (lambda of: of.right.reshape(D, N).T, "order", "reshaped to (6, 11) and then transposed"),
    "reversed": (lambda of: of.right[:, ::-1], "order", "its columns are in the reverse order"),
    "shifted": (lambda of: np.roll(of.right, 2, axis=0), "order", "its rows are shifted by 2"),
    "rows permuted": (lambda of: np.roll(of.right, 1, 0)[of.rows], "order", "its rows are "),
    "heads permuted": (
        lambda of: in_heads(of.right, 3)[:, [1, 0, 2]].reshape(N, D),
        "order",
        "its 3 heads are in the order (1, 0, 2)",
    ),
    "heads joined": (
        lambda of: in_heads(of.right, 2).swapaxes(0, 1).reshape(N, D),
        "order",
        "its 2 heads were put together by a reshape",
    ),
    "heads cut": (
        lambda of: of.right.reshape(2, N, 3).swapaxes(0, 1).reshape(N, D),
        "order",
        "it was cut into 2 heads by a reshape",
    ),
    "each head reshaped": (
        lambda of: np.concatenate([head.T.reshape(head.shape) for head in np.split(of.right, 2, axis=1)], axis=1),
        "order",
        "in each head (2 heads of 3 columns) a reshape stands where a transposition is needed",
    ),
    "road missing": (
        lambda of: of.right - of.roads["through σ"],
        "ledger",
        'dx = 1 · directly + 1 · through μ + 0 · through σ: "through σ" is missing',
    ),
    "road summed": (
        lambda of: of.right + 5 * of.through_mu,
        "ledger",
        '"through μ" is there 6 times (6 is D, as if a sum stood where a mean belongs)',
    ),
    "road of wrong sign": (
        lambda of: of.right - 2 * of.through_mu,
        "ledger",
        'dx = 1 · directly − 1 · through μ + 1 · through σ: "through μ" has the wrong sign',
    ),
    "factor on a road": (
        lambda of: of.right + of.through_mu * (of.gamma - 1),
        "road factor",
        'in dx, "through μ" is wrong by a factor, as if gamma was multiplied once too often; the rest is right',
    ),
    "ignored rows": (
        lambda of: with_rows(of, of.is_ignored, lambda rows: rows**2 + 1),
        "place",
        "dx is right but for the ignored rows",
    ),
    "last row": (lambda of: with_rows(of, -1, lambda row: 0 * row), "place", "the last row: it is 0 there"),
    "one row": (lambda of: with_rows(of, 4, lambda row: 2 * row), "place", "row 4 (counted from 0): there it is 2.000"),
    "one head": (
        lambda of: of.right + (np.arange(D) < 3) * of.noise,
        "place",
        "dx is right but for head 0 (counted from 0)",
    ),
    "nothing": (lambda of: 0 * of.right, "zero", "dx is 0 everywhere, though y moves with x"),
    "not moved": (lambda of: of.right, "should be zero", "dx should be 0 everywhere, as forward does not move with x"),
    "infinite": (
        lambda of: np.where(np.arange(D) == 3, np.inf, of.right),
        "not finite",
        "dx has 11 of 66 numbers that are not finite, the first at (0, 3)",
    ),
}

WITHOUT_NOISE = ("zero", "should be zero", "not finite")


@pytest.mark.parametrize(("mistake", "kind", "says"), MISTAKES.values(), ids=MISTAKES)
def test_what_is_wrong_is_said_first_at_any_seed(mistake, kind, says):
    for seed in SEEDS:
        of = Drawn(seed)
        right = 0 * of.right if kind == "should be zero" else of.right
        first, *_ = explain(mistake(of), right, name="x", **of.context())
        assert (first.what, first.where) == (kind, "x")
        assert says in first.text


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-9])
def test_nothing_is_said_of_noise(size):
    for seed in range(50):
        of = Drawn(seed)
        found = explain(of.right + size * of.noise, of.right, name="x", **of.context())
        assert [finding.what for finding in found] == (["rounded"] if size < 1e-6 else [])
        assert explain(of.noise, size * of.right, name="x", **of.context()) == []


@pytest.mark.parametrize(
    ("factor", "says"),
    [
        (1e12, "so large, as if it was divided by something that is nearly 0"),
        (1.0001, "so near to right, as if a number in it was rounded, or something small was added"),
        (D * D, "that is a factor of 6², and 6 is D, as if it was multiplied by it, and not divided"),
        (N / (N - 1), "that is a factor of 11/10, and 11 is N, as if it was divided by 11 − 1"),
        (0.7 / 1.3, "p is 0.3, as if 1 + p stood where 1 − p belongs"),
    ],
)
def test_a_factor_has_a_cause(factor, says):
    of = Drawn(0)
    assert says in explain(factor * of.right, of.right, name="x", **of.context())[0].text


def test_a_row_that_is_right_is_not_called_wrong():
    of = Drawn(0)
    wrong = of.right.copy()
    wrong[1:8] += of.noise[1:8]
    assert not any("first" in finding.text for finding in explain(wrong, of.right, name="x"))
    wrong[1:] += of.noise[1:]
    (finding,) = explain(wrong, of.right, name="x")
    assert finding.text == "only the first row of dx is right"


@pytest.mark.parametrize("huge", [1e6, 1e12, 1e18])
def test_beside_one_huge_error_the_others_still_count(huge):
    """All numbers are wrong: none of them is right, and none of the right ones is 0."""
    for seed in range(20):
        of = Drawn(seed)
        wrong = of.right + of.noise
        wrong[1, 1] += huge
        assert explain(wrong, of.right, name="x", **of.context()) == []


@pytest.mark.parametrize("name", [name for name, (_, kind, _) in MISTAKES.items() if kind not in WITHOUT_NOISE])
def test_nothing_is_said_that_is_only_nearly_true(name):
    """Each mistake, with noise of a hundred-thousandth of its error on top."""
    for seed in range(3):
        of = Drawn(seed)
        wrong = MISTAKES[name][0](of)
        noise = 1e-5 * np.abs(wrong - of.right).max() * of.noise
        assert explain(wrong + noise, of.right, name="x", **of.context()) == []


@pytest.mark.parametrize("shape", [(), (1,), (2,), (5,), (1, 1), (2, 2), (1, 7), (7, 1), (3, 5), (2, 3, 5)])
def test_nothing_is_said_of_noise_in_any_shape(shape):
    rng = np.random.default_rng(0)
    for _ in range(50):
        wrong, right, other, x = rng.standard_normal((4, *shape))
        roads = {"one": other, "two": right - other}
        context = {"known": {"x": x}, "others": {"z": x}, "roads": roads, "sizes": {"D": 7}, "numbers": {"p": 0.3}}
        assert explain(wrong, right, name="x", **context) == []


def test_what_is_right_is_not_called_wrong():
    of = Drawn(0)
    assert explain(of.right, of.right, name="x", **of.context()) == []


def test_a_single_number_has_a_factor_only_with_a_cause():
    assert [f.text for f in explain(14.0, 2.0, name="bias", sizes={"D": 7})] == [
        "dbias is 7.000 times too large: 7 is D, as if a sum stood where a mean belongs"
    ]
    assert explain(14.1, 2.0, name="bias", sizes={"D": 7}) == []


def test_a_square_one_may_be_transposed():
    for seed in SEEDS:
        square = Drawn(seed).square
        assert [f.text for f in explain(square.T, square, name="a.b", sizes={})] == [
            "the gradient of a.b has the right numbers, but it is transposed"
        ]


def test_roads_that_do_not_add_up_are_not_believed():
    of = Drawn(0)
    roads = {"one": of.noise, "other": of.x}
    assert explain(of.noise + 2 * of.x, of.right, name="x", roads=roads) == []


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda right: right.T, "transposed, it is right"),
        (lambda right: 2 * right.T, "the shape is the transposed one, but the numbers are others, too"),
        (lambda right: np.stack([right / 4, right / 2, right / 4]), "summed over axis 0, it is right"),
        (lambda right: np.stack([right / 2, right, 3 * right / 2]), "averaged over axis 0, it is right"),
        (lambda right: right[None], "summed over axis 0, it is right"),
        (lambda right: right.reshape(D, N), "its numbers are right, and a reshape would do"),
        (lambda right: right.sum(axis=0), "it is the right one, but summed over axis 0"),
        (lambda right: right.mean(axis=1), "it is the right one, but averaged over axis 1"),
    ],
)
def test_a_wrong_shape_is_said_with_what_makes_it_right(wrong, says):
    for seed in SEEDS:
        right = Drawn(seed).right
        ((what, _, text),) = explain(wrong(right), right, name="x")
        assert (what, text) == ("shape", f"dx has shape {wrong(right).shape}, and x has shape (11, 6): {says}")


def test_of_a_shape_or_dtype_that_is_just_wrong_both_are_said():
    right = Drawn(0).right
    assert explain(np.zeros(3), right, name="x")[0].text == "dx has shape (3,), and x has shape (11, 6)"
    assert explain(right.astype(np.float32), right, name="x")[0].text == "dx is float32, and x is float64"
