"""The page's arithmetic, in JavaScript, beside npbert's own: values, gradients, sums, checks, bugs and training."""

import json
import math
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import npbert
from npbert.data import collate
from npbert.pages.html import resource
from npbert.pages.number.export import export
from tests.pages import models
from tests.pages.shared import once

MATH = Path(npbert.__file__).parent / "pages" / "number" / "js" / "math"
SCRIPT = Path(__file__).parent / "node" / "arithmetic.mjs"
MOVED = {"name": "bert.encoder.layers.0.attention.query.weight", "row": 1, "column": 2}
OPTIMIZER = {"lr": 0.01, "betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": 0.1}
MOST = [0.05, 1e3, 1.0]  # of each model, max_grad_norm: below the norm of the gradient, above it, about it
BATCH = models.EXAMPLES[:4]
ROOM = "--max-semi-space-size=64"  # megabytes for what is new: with less, a fifth of the time is tidying up
COMPLEX = [  # far from the real numbers, where every rule of complex numbers counts
    ("bert.encoder.layers.0.attention.query.weight", 1, 0.3 + 0.4j),
    ("bert.encoder.layers.0.feed_forward.intermediate.weight", 2, -0.5 + 0.7j),
    ("bert.encoder.layers.0.output_norm.gamma", 0, 0.4 - 0.6j),
    ("bert.embeddings.word_embeddings.weight", 4, -1 + 0.5j),
]
COMPLEX_ERF = {  # by scipy.special.erf
    (0.5, 0.3): (0.5615651885242132, 0.2676058649576036),
    (1.9, -1.0): (1.0086246645364676, 0.015952122049101833),
    (-2.5, 0.7): (-1.0005330591707435, -0.00036596180362486846),
    (3.0, 2.0): (0.9989632788568172, -1.1546724379290491e-05),
    (0.1, 1e-20): (0.11246291601828462, 1.1171516067889372e-20),
    (-4.0, 1e-25): (-0.9999999845827421, 1.2698234671866564e-32),
}

ERF_AT = [*np.linspace(-7, 7, 2801).tolist(), 1e-300, 1e-9, 2 - 1e-15, 30.0, 0.0]
FORMULAS = {  # of the numbers [1, 2]
    "bert.encoder.layers.0.Q": "Q[1, 2] = Σᵢ x[1, i] · Wq[i, 2] + bq[2]",
    "bert.encoder.layers.0.S.1": "S₁[1, 2] = Σᵢ Q[1, i] · K[2, i] / √d",
    "bert.encoder.layers.0.attention.s": "s[1, 2] = x[1, 2] + A[1, 2]",
    "d(bert.encoder.layers.0.K)": "dK[1, 2] = Σₙ dS₁[n, 1] · Q[n, 2] / √d",
    "d(bert.encoder.layers.0.x)": "dx[1, 2] = "
    + " + ".join(f"dx {road}[1, 2]" for road in ("past attention", "through Q", "through K", "through V")),
    "d(bert.embeddings.word_embeddings.weight)": "dE[1, 2] = Σₘ z[m, 2] · dlogits[m, 1]"
    " + Σ dword[n, 2] over all n with id 1",
    "d(bert.encoder.layers.1.y)": "dy[1, 2] = dr[0, 2]",
}
NOTES = {
    name: text
    for names, text in re.findall('data-note="(.*?)">(.*?)</p>', resource("number/notes.html"), re.DOTALL)
    for name in names.split()
}
MODELS = range(3)
RIVAL = models.VOCABULARY.index("are")
CASES = [(model, example) for model in MODELS for example in range(len(models.EXAMPLES))]


def all_answers():
    """All that the tests ask JavaScript, by name, in one run of node for all processes."""
    questions = {
        "models": [
            export(one, models.EXAMPLES, models.VOCABULARY, optimizer={**OPTIMIZER, "max_grad_norm": most})
            for one, most in zip(models.make_models(), MOST, strict=True)
        ],
        "moved": {**MOVED, "values": np.linspace(-1, 1, 5).tolist()},
        "complex": [
            {"name": name, "row": row, "column": 1, "value": {"re": value.real, "im": value.imag}}
            for name, row, value in COMPLEX
        ],
        "followed": models.FOLLOWED,
        "rival": {"masked": 1, "word": RIVAL},
        "formulas": list(FORMULAS),
        "notes": NOTES,
        "erf": ERF_AT,
        "complexErf": list(COMPLEX_ERF),
    }
    node = models.find_node()

    def ask(path):
        (asked := path.with_name("questions.json")).write_text(json.dumps(questions), encoding="utf-8")
        subprocess.run([node, ROOM, str(SCRIPT), str(MATH), str(asked), str(path)], check=True, timeout=300)

    return json.loads(once("answers.json", ask).read_text(encoding="utf-8"))


answers = pytest.fixture(all_answers, scope="module")


def assert_same(found, wanted, what, smallest_scale=0.0):
    """Equal to 12 digits of the array's largest number, or of `smallest_scale`: what cancels to 0 has no digits."""
    wanted = np.reshape(wanted, found["shape"])
    scale = max(np.abs(wanted).max(), smallest_scale)
    assert np.abs(np.reshape(found["values"], found["shape"]) - wanted).max() <= 1e-12 * scale, what


@pytest.mark.parametrize(("model", "example"), CASES)
def test_loss_and_gradients_are_those_of_npbert(answers, model, example):
    trace = answers["models"][model]["traces"][example]
    loss, gradients = models.loss_and_gradients(models.make_models()[model], [models.EXAMPLES[example]])
    assert trace["loss"] == pytest.approx(loss, rel=1e-13)
    found = {name: array["gradient"] for name, array in trace["arrays"].items() if array["parameter"]}
    assert set(found) == {name for name in gradients if not name.startswith(("bert.pooler", "seq_relationship"))}
    largest = max(np.abs(gradient).max() for gradient in gradients.values())
    for name, gradient in found.items():
        assert_same(trace["arrays"][gradient], gradients[name], name, 0.01 * largest)  # as npbert's own check


def test_every_number_is_the_sum_that_its_explanation_says_unless_a_bug_is_planted(answers):
    for explained in (one for model in answers["models"] for one in model["explained"]):
        assert explained["count"] > 1000
        assert explained["wrong"] == []
    assert set(answers["said"]) == set(NOTES), "none is missing, and none is never said"
    wrong = {line.split()[0] for line in answers["explainedWrong"]}
    assert "d(bert.encoder.layers.1.feed_forward.s)" in wrong
    assert not any(name.endswith((".Q", ".K)", ".weight)")) for name in wrong)


def test_a_formula_is_said_by_the_terms_of_its_sum(answers):
    assert answers["formulas"] == FORMULAS


@pytest.mark.parametrize("model", MODELS)
def test_the_page_finds_its_own_backward_right(answers, model):
    """The gradients of all arrays on the way, too; and each step has lines of npbert that light up."""
    assert answers["models"][model]["unlit"] == [] and answers["models"][model]["complex"]["count"] > 500
    for method, least in (("differences", 1e-8), ("complex", 1e-11)):
        found = answers["models"][model][method]
        assert found["ok"] and found["worst"]["error"] < least and found["first"] is None, found


def test_a_model_that_is_certain_or_knows_nothing_is_not_found_wrong(answers):
    first, second, *_, last = answers["certain"]
    assert first["loss"] < 0.1 and last["loss"] < 1e-9 and first["found"] and second["found"]
    assert all(one["ok"] for one in answers["certain"]), answers["certain"]
    for one in answers["ignorant"]:
        assert one["check"]["ok"] and one["found"], one
        assert one["check"]["worst"]["error"] < 1e-8, one


LAST = "bert.encoder.layers.1"
FIRST_WRONG = {
    "norm-spread": "predictions.a",
    "norm-gamma": "predictions.a",
    "scores-root": f"{LAST}.Q",
    "scores-transposed": f"{LAST}.K",
    "softmax-shares": f"{LAST}.S.0",
    "table-decoder": "bert.embeddings.word_embeddings.weight",
    "residual-past": f"{LAST}.h",
    "fork-value": f"{LAST}.x",
    "loss-mean": "logits",
    "embedding-last": "bert.embeddings.token_type_embeddings.weight",
    "bias-mean": "predictions.dense.bias",
    "activation-slope": "predictions.t",
}


def test_a_planted_bug_is_found_where_it_is_and_the_loss_still_falls(answers):
    assert {bug: broken["check"]["first"] for bug, broken in answers["broken"].items()} == FIRST_WRONG
    page = resource("number/break.html")
    assert set(re.findall('data-bug="(.+?)"', page)) == set(re.findall('value="(.+?)"', page)) == set(FIRST_WRONG)
    for broken in answers["broken"].values():
        assert not broken["check"]["ok"]
        first, *_, last = broken["losses"]
        assert last < 0.8 * first
        assert broken["losses"] != answers["right"]


def test_moving_a_number_moves_the_loss_as_npbert_says(answers):
    found = answers["moved"]
    one, model = models.EXAMPLES[0], models.make_models()[0]
    parameter = dict(model.named_parameters())[MOVED["name"]]
    _, gradients = models.loss_and_gradients(model, [one])
    gradient = gradients[MOVED["name"]][MOVED["row"], MOVED["column"]]
    assert found["difference"] == pytest.approx(gradient, rel=1e-6)
    assert found["complex"] == pytest.approx(gradient, rel=1e-13)
    for value, loss in zip(np.linspace(-1, 1, 5), found["losses"], strict=True):
        parameter.value[MOVED["row"], MOVED["column"]] = value
        assert loss == pytest.approx(models.loss_and_gradients(model, [one])[0], rel=1e-13)
    assert found["untouched"]
    kept = found["kept"]
    assert kept["before"] == kept["again"] != kept["after"], "a trace stays as it is when the model is trained on"


@pytest.mark.parametrize("model", MODELS)
def test_the_complex_loss_is_that_of_npbert(answers, model):
    for found, (name, row, value) in zip(answers["moved"]["complexLosses"][model], COMPLEX, strict=True):
        complex_model = models.make_models()[model]
        for parameter in complex_model.parameters():
            parameter.value = parameter.value.astype(complex)
        of_name = dict(complex_model.named_parameters())[name].value
        of_name[(row, 1) if of_name.ndim > 1 else 1] = value
        losses = complex_model.loss(collate(models.EXAMPLES[:1], pad_id=0))
        loss = getattr(losses, "mlm_loss", losses.loss)
        assert complex(found["re"], found["im"]) == pytest.approx(complex(loss), rel=1e-12)
        assert abs(loss.imag) > 1e-6


def test_a_difference_is_wrong_at_both_ends_and_the_complex_step_at_one(answers):
    errors = {round(math.log10(one["h"]), 1): one for one in answers["moved"]["errors"]}
    for method, large, small in (("central", -1, -13), ("forward", -1, -14)):
        best = min(one[method] for power, one in errors.items() if power >= -16)
        assert errors[large][method] > 100 * best < errors[small][method]
    assert errors[-2]["complex"] == pytest.approx(errors[-2]["central"], rel=0.1)  # both bend with the curve
    assert max(one["complex"] for power, one in errors.items() if power <= -8) < 1e-13
    assert errors[-30]["central"] is errors[-30]["forward"] is None


def test_erf_is_right_to_the_last_digits(answers):
    found, wanted = np.array(answers["erf"]), np.array([math.erf(x) for x in ERF_AT])
    assert np.abs(found - wanted).max() <= 1e-15
    assert (np.abs(found - wanted) <= 1.5e-15 * np.abs(wanted)).all()
    for found, wanted in zip(answers["complexErf"], COMPLEX_ERF.values(), strict=True):
        assert found == pytest.approx(wanted, rel=2e-14, abs=0)


@pytest.mark.parametrize(("model", "example"), CASES)
def test_steps_and_arrays_tell_of_one_another(answers, model, example):
    trace = answers["models"][model]["traces"][example]
    steps, arrays = trace["steps"], trace["arrays"]
    assert [step["index"] for step in steps] == list(range(len(steps)))
    stack = []
    for step in steps:
        assert all(name in arrays for name in [*step["reads"], *step["writes"]])
        if step["phase"] == "forward":
            stack.append((step["index"], step["tape"]["keeps"]))
        else:
            assert stack.pop() == (step["undoes"], step["tape"]["takes"])
            assert set(step["adds"]) <= set(step["writes"])
    assert stack == []
    masked = [label for label in models.EXAMPLES[example].labels if label >= 0]
    assert [one["label"] for one in trace["probabilities"]] == masked


def test_numbers_are_written_in_few_letters(answers):
    assert answers["short"] == ["+0.009", "+9e\u22124", "\u22120.50", "0"]
    assert answers["percent"] == ["<\u00a00.1\u00a0%", "50\u00a0%", "100.0\u00a0%"], "what is hardly there is not 0"
