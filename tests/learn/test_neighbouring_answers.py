"""Wrong answers beside the known ones: what is said first names the term. And what is said of right answers."""

import pytest

from npbert.learn import RIGHT, WRONG, judge_file
from npbert.learn.exercises import EXERCISES
from npbert.learn.words import answer
from tests.learn.answering import answered
from tests.learn.unknown_answers import CASES, UNKNOWN, linear, loss


@pytest.fixture
def judge(tmp_path):
    """judge(number, bodies) -> the verdict on the file with these answers."""

    def judge(number, bodies):
        path = tmp_path / EXERCISES[number].file_name
        path.write_text(answered(number, bodies), encoding="utf-8")
        return judge_file(EXERCISES[number], path)

    return judge


@pytest.mark.parametrize(("number", "bodies", "says"), CASES)
def test_the_first_sentence_names_the_term(number, bodies, says, judge):
    verdict = judge(number, bodies)
    assert verdict.status == WRONG
    assert says.lower() in verdict.says.lower()


def test_that_memory_is_shared_is_said_after_the_wrong_gradient(judge):
    verdict = judge(2, {"Linear.backward": linear(db="dy[0]")})
    assert (
        "The gradient of bias shares memory with dy: add_grad wants an array that nobody else holds." in verdict.because
    )


def test_each_wrong_gradient_has_its_own_explanation(judge):
    verdict = judge(2, {"Linear.backward": linear(dw="100 * x.T @ dy", db="dy.std(axis=0)")})
    assert verdict.says == "dW is 100.000 times too large, everywhere."
    assert "db is wrong, for example with" in verdict.because


ROW_SUM = "s = (dp * p).sum(axis=-1, keepdims=True)\n"
BECAUSE = [
    (4, ROW_SUM + "return p * (dp - s) / 5", False, "k = j is one of them"),
    (4, ROW_SUM + "return p * (dp - s) - p * (1 - p) * dp", True, "k = j is one of them"),
    (9, "self.attention_norm.backward(dy, tape)", True, "the next backward to be called is that of output_norm"),
    (9, "self.feed_forward.backward(dy, tape)", True, "the next backward to be called is that of a LayerNorm"),
]


@pytest.mark.parametrize(("number", "body", "is_said", "text"), BECAUSE)
def test_what_helps_with_one_mistake_is_said_of_that_one_alone(number, body, is_said, text, judge):
    verdict = judge(number, {UNKNOWN[number][0]: body})
    assert verdict.status == WRONG
    assert (text in verdict.because) == is_said


SHAPES = [
    (2, "self.weight.add_grad(x.T @ dy)\nself.bias.add_grad(dy.sum(axis=0)[None])\nreturn dy", "db is (O,), as b."),
    (6, "self.weight.add_grad(dy)", "So begin with dW = np.zeros_like(self.weight.value)"),
    (7, "self.gamma.add_grad((dy * x_hat).sum())\nreturn dy", "they are sums over the rows, .sum(axis=0)."),
]


@pytest.mark.parametrize(("number", "body", "says"), SHAPES)
def test_of_a_gradient_that_is_refused_it_is_said_which_shape_is_wanted(number, body, says, judge):
    verdict = judge(number, {UNKNOWN[number][0]: body})
    assert "a gradient of shape" in verdict.says
    assert says in verdict.because


def test_what_is_only_turned_is_not_called_nearly_right(judge):
    body = loss("(1 - 2 * onehot) * (onehot - p)")
    assert "near" not in judge(5, {"SoftmaxCrossEntropy.backward": body}).says


LARGE = loss("np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True) - onehot")
REMARKS = [
    (2, "Linear.backward", linear(), []),
    (2, "Linear.backward", linear(dw="x.T.astype(float) @ dy"), ["a gradient of float64 for a parameter of float32"]),
    (
        3,
        "GELU.value_and_slope",
        "return self.value(x), _cdf(x) + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)",
        ["float64"],
    ),
    (5, "SoftmaxCrossEntropy.backward", LARGE, ["yours is NaN, as e^score overflows", "backward returns float64"]),
    (8, "Dropout.backward", "return self.apply(dy, mask)", []),
]


@pytest.mark.parametrize(("number", "name", "body", "says"), REMARKS)
def test_what_should_be_known_of_a_right_answer_is_said(number, name, body, says, judge):
    verdict = judge(number, {name: body})
    assert (verdict.status, verdict.says) == (RIGHT, "")
    assert verdict.because.count("One thing to know: ") == len(says)
    told = " ".join(answer(EXERCISES[number], verdict).split())
    assert all(text in told for text in says)
