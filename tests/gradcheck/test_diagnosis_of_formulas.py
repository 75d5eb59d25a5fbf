"""Layers whose formula is known: the formula that a wrong backward has is told, term by term, beside the right one."""

import numpy as np
import pytest

from npbert import Init
from npbert.compute import erf
from npbert.gradcheck import check_gradients, randomize
from npbert.gradcheck.diagnosis.finding import Case, Term
from npbert.gradcheck.diagnosis.terms import wrong_terms
from npbert.layers import GELU, Dropout, Embedding, LayerNorm, Linear, Softmax, SoftmaxCrossEntropy
from tests.gradcheck.test_diagnosis_of_layers import RMSNorm, mean

N, D, V, IGNORED = 7, 5, 11, -100


def norm(change):
    """A LayerNorm with another dx, of dy, γ, x̂, dx̂ and σ."""

    def backward(self, dy, tape):
        x_hat, sigma = tape.take(self)
        self.gamma.add_grad((dy * x_hat).sum(axis=0))
        self.beta.add_grad(dy.sum(axis=0))
        return change(dy, self.gamma.value, x_hat, self.gamma.value * dy, sigma)

    return type("Norm", (LayerNorm,), {"backward": backward})


def softmax(change):
    return type("Mixed", (Softmax,), {"backward": lambda self, dp, tape: change(dp, tape.take(self))})


def cross_entropy(change):
    """change(scores, largest, total, onehot): the gradient of the n rows with a label, before it is divided by n."""

    def backward(self, dloss, tape):
        is_target, targets, scores, largest, total = tape.take(self)
        dlogits = np.zeros((len(is_target), scores.shape[1]))
        dlogits[is_target] = change(scores, largest, total, np.eye(scores.shape[1])[targets]) * dloss / len(targets)
        return dlogits

    return type("Loss", (SoftmaxCrossEntropy,), {"backward": backward})


def total(array):
    return array.sum(axis=-1, keepdims=True)


def p_of(scores):
    return np.exp(scores) / total(np.exp(scores))


FIRST, SECOND, THIRD = "dx is dx̂/σ − ", "mean(dx̂)/σ", "x̂ · mean(dx̂ · x̂)/σ"
TERMS = {
    "one sum for a mean": (
        norm(lambda dy, g, h, u, s: (u - total(u) - h * mean(u * h)) / s),
        f'{FIRST}sum(dx̂)/σ − {THIRD}: "through μ" should be −{SECOND} (dx̂ is γ · dy)',
    ),
    "another array in a mean": (
        norm(lambda dy, g, h, u, s: (u - mean(dy) - h * mean(u * h)) / s),
        f'{FIRST}mean(dy)/σ − {THIRD}: "through μ" should be',
    ),
    "one σ too many": (
        norm(lambda dy, g, h, u, s: (u - mean(u) - h * mean(u * h) / s) / s),
        f'{FIRST}{SECOND} − {THIRD}²: "through σ" should be −{THIRD}',
    ),
    "two terms not divided": (
        norm(lambda dy, g, h, u, s: u - mean(u) - h * mean(u * h) / s),
        f'dx is dx̂ − mean(dx̂) − {THIRD}: "directly" should be dx̂/σ; "through μ" should be −{SECOND}',
    ),
    "a mean of everything": (
        norm(lambda dy, g, h, u, s: (u - mean(u) - h * (u * h).mean()) / s),
        f"{FIRST}{SECOND} − x̂ · mean(dx̂ · x̂, of everything)/σ: ",
    ),
    "divided by the rows": (
        norm(lambda dy, g, h, u, s: (u - total(u) / N - h * mean(u * h)) / s),
        f'{FIRST}sum(dx̂)/N/σ − {THIRD}: "through μ" should be',
    ),
    "a lost road and another": (
        norm(lambda dy, g, h, u, s: (u - h * total(u * h)) / s),
        f'{FIRST}x̂ · sum(dx̂ · x̂)/σ: "through μ" is missing, which is −{SECOND}; "through σ" should be',
    ),
    "softmax, a mean for its sum": (
        softmax(lambda dp, p: p * dp - p * mean(dp * p)),
        'dx is p · dp − p · mean(p · dp): "the second term" should be −p · sum(p · dp)',
    ),
    "the largest is not subtracted": (
        cross_entropy(lambda scores, largest, total, onehot: np.exp(scores) / total - onehot),
        'e^score / total · dloss/n − onehot · dloss/n: "the probabilities" should be p · dloss/n',
    ),
    "the columns of all labels": (
        cross_entropy(lambda scores, largest, total, onehot: p_of(scores) - onehot.any(axis=0)),
        'p · dloss/n − [the columns of all labels] · dloss/n: "the right answers" should be −onehot · dloss/n',
    ),
}


LABELS = np.array([4, IGNORED, 0, 2, IGNORED, 4, 1, 3, 4])
IDS = np.array([5, 1, 5, 3, 1, 5, 2])


def checked(layer_class, seed):
    rng = np.random.default_rng(seed)
    init = Init(rng, dtype=np.float64)
    if issubclass(layer_class, SoftmaxCrossEntropy):
        return check_gradients(layer_class(), rng.standard_normal((len(LABELS), D)), LABELS, seed=seed)
    if issubclass(layer_class, Embedding):
        return check_gradients(layer_class(V, 3, init), IDS, seed=seed)
    layer = layer_class(D, init, eps=1e-2) if issubclass(layer_class, LayerNorm) else None
    layer = layer_class(D, 3, init) if issubclass(layer_class, Linear) else layer or layer_class()
    randomize(layer, rng)
    return check_gradients(layer, rng.standard_normal((N, D)), seed=seed)


@pytest.mark.parametrize(("layer_class", "says"), TERMS.values(), ids=TERMS)
def test_the_formula_is_told_with_the_term_that_is_another(layer_class, says):
    for seed in range(3):
        first = checked(layer_class, seed).diagnosis[0]
        assert first.what == "terms"
        assert says in first.text


def test_a_norm_of_ones_own_is_told_in_the_same_way():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        layer = RMSNorm(lambda dy, g, x, r: g * dy / r - x * mean(dy * x) / r**3, rng)
        first = check_gradients(layer, rng.standard_normal((N, 7)), seed=seed).diagnosis[0]
        assert '− x̂ · mean(dy · x̂)/(the norm): "through the norm" should be −x̂ · mean(dx̂ · x̂)/' in first.text


def linear(change):
    """change(x, dy, W): dW, db and dx."""

    def backward(self, dy, tape):
        dw, db, dx = change(tape.take(self), dy, self.weight.value)
        self.weight.add_grad(dw)
        self.bias.add_grad(db)
        return dx

    return type("Map", (Linear,), {"backward": backward})


def embedding(change):
    def backward(self, dy, tape):
        self.weight.add_grad(change(tape.take(self), dy, self.weight.value))

    return type("Table", (Embedding,), {"backward": backward})


def added(ids, dy, table):
    dw = np.zeros_like(table)
    np.add.at(dw, ids, dy)
    return dw


def activation(slope):
    return type("Bent", (GELU,), {"value_and_slope": lambda self, x: (self.value(x), slope(x))})


def phi(x):
    return np.exp(-x * x / 2) / np.sqrt(2 * np.pi)


OTHERS = {
    "another gradient in a product": (
        linear(lambda x, dy, w: (x.T @ dy, dy.sum(axis=0), dy @ (x.T @ dy).T)),
        "changed",
        "dx is dy · dweightᵀ, where dy · weightᵀ is right",
    ),
    "a sum of another gradient": (
        linear(lambda x, dy, w: (x.T @ dy, (x.T @ dy).sum(axis=0), dy @ w.T)),
        "product",
        "dbias is the sum of dweight over the rows, where the sum of dy over the rows is right",
    ),
    "a row is left out": (
        linear(lambda x, dy, w: (x[1:].T @ dy[1:], dy.sum(axis=0), dy @ w.T)),
        "ledger",
        'in dweight, "row 0" is missing; the rest is right',
    ),
    "the weight itself comes in": (
        linear(lambda x, dy, w: (x.T @ dy + w, dy.sum(axis=0), dy @ w.T)),
        "known error",
        "dweight would be right, but weight is added to it",
    ),
    "a row that is read is left out": (
        embedding(lambda ids, dy, table: added(ids[1:], dy[1:], table)),
        "ledger",
        'in dweight, "dy[0]" is missing; the rest is right',
    ),
    "rows one too far": (
        embedding(lambda ids, dy, table: added(ids + 1, dy, table)),
        "order",
        "its rows are shifted by 1 (row 1 has what belongs in row 0)",
    ),
    "rows one too near": (
        embedding(lambda ids, dy, table: added(ids - 1, dy, table)),
        "order",
        "its rows are shifted by 1 (row 0 has what belongs in row 1)",
    ),
    "the others of softmax are added": (
        softmax(lambda dp, p: p * dp * (1 - p) + p * (total(p * dp) - p * dp)),
        "ledger",
        '"through the other p of its row (k ≠ j)" has the wrong sign',
    ),
    "a slope of letters": (
        activation(lambda x: 0.5 * (1 + erf(x, divisor=np.sqrt(2))) - x * x * phi(x)),
        "terms",
        "dx is dy · (Φ(x) − x² φ(x)), where dy · (Φ(x) + x φ(x)) is right",
    ),
    "one factor in each row": (
        norm(lambda dy, g, h, u, s: (u - mean(u) - h * mean(np.sin(u))) / s),
        "known error",
        "times, as if a term with x̂ was lost, or came in, or had another factor in each row",
    ),
}


@pytest.mark.parametrize(("layer_class", "kind", "says"), OTHERS.values(), ids=OTHERS)
def test_what_else_is_true_of_a_formula_is_told(layer_class, kind, says):
    for seed in range(3):
        first = checked(layer_class, seed).diagnosis[0]
        assert first.what == kind
        assert says in first.text


def test_dropout_is_named_where_all_is_right_without_it():
    class Another(Dropout):
        def backward(self, dy, tape):
            return dy * (1 - tape.take(self)[2])

        def forward(self, x, tape):
            y = super().forward(x, tape)
            if tape.keeps and tape.rng is None:
                self_tape = tape._kept.pop()[1]
                tape.keep(self, *self_tape[:2], np.zeros(x.shape, bool))
            return y

    x = np.random.default_rng(0).standard_normal((N, D))
    report = check_gradients(Another(0.3), x, rng=np.random.default_rng(0))
    assert report.diagnosis[0].text.startswith(
        "without dropout backward is right: what is wrong has to do with dropout"
    )


def test_no_formula_is_found_in_noise_and_none_in_what_is_nearly_one():
    rng = np.random.default_rng(0)
    for _ in range(10):
        right, wrong = rng.standard_normal((2, N, D))
        forms = {f"form {n}": rng.standard_normal((N, D)) for n in range(300)}
        first = {"one": right - forms["form 0"], **{f"other {n}": rng.standard_normal((N, D)) for n in range(300)}}
        terms = (Term("first", first, 1), Term("second", forms, 1))
        assert list(wrong_terms(Case(wrong, right, "x", terms=lambda terms=terms: terms))) == []
        other = first["other 7"] + forms["form 9"]
        (found,) = wrong_terms(Case(other, right, "x", terms=lambda terms=terms: terms))
        assert found.text == 'dx is other 7 + form 9: "first" should be one; "second" should be form 0'
        near = other + 1e-5 * rng.standard_normal((N, D))
        assert list(wrong_terms(Case(near, right, "x", terms=lambda terms=terms: terms))) == []


def test_an_example_names_the_numbers_of_the_layer():
    """Without eps nobody could work the example out by hand."""
    layer = norm(lambda dy, g, h, u, s: u * u)
    assert "for example with eps = 0.01, gamma = [" in checked(layer, 0).diagnosis[-1].text
