"""The page's arithmetic, in JavaScript, beside npbert's own: values, gradients, sums, paths, bugs and training."""

import json
import math
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import npbert
from npbert import AdamW, Parameter
from npbert.optim import clip_factor, global_norm
from npbert.pages.number.export import export
from tests.pages import models
from tests.pages.shared import once
from tests.tables import one_in

MATH = Path(npbert.__file__).parent / "pages" / "number" / "js" / "math"
SCRIPT = Path(__file__).parent / "node" / "arithmetic.mjs"
LAYER = "bert.encoder.layers.0"
QUERY = f"{LAYER}.attention.query.weight"
MOVED = [{"name": QUERY, "row": 1, "column": 2, "value": value} for value in (-1.0, 0.5)]
OPTIMIZER = {"lr": 0.01, "betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": 0.1}
MOST = [0.05, 1e3, 1.0]  # of each model, max_grad_norm: below the norm of the gradient, above it, about it
LEFT_OUT = ("bert.pooler", "seq_relationship")
ERF_AT = [*np.linspace(-7, 7, 2801).tolist(), 1e-300, 1e-9, 2 - 1e-15, 30.0, 0.0]
FORMULAS = {  # of the numbers [1, 2]
    f"{LAYER}.Q": "Q[1, 2] = Σᵢ x[1, i] · Wq[i, 2] + bq[2]",
    f"{LAYER}.S.1": "S₂[1, 2] = Σᵢ Q[1, i] · K[2, i] / √d",
    f"{LAYER}.attention.s": "s[1, 2] = x[1, 2] + A[1, 2]",
    f"d({LAYER}.K)": "dK[1, 2] = Σₙ dS₂[n, 1] · Q[n, 2] / √d",
    f"d({LAYER}.x)": "dx[1, 2] = "
    + " + ".join(f"dx {road}[1, 2]" for road in ("past attention", "through Q", "through K", "through V")),
    "d(bert.embeddings.word_embeddings.weight)": "dE[1, 2] = Σₘ z[m, 2] · dlogits[m, 1]",
    "d(bert.encoder.layers.1.y)": "dy[1, 2] = dr[0, 2]",
}
FIRST_WRONG = {
    "norm-spread": "d(predictions.a)",
    "norm-gamma": "d(predictions.a)",
    "scores-root": "d(bert.encoder.layers.1.Q)",
    "scores-transposed": "d(bert.encoder.layers.1.K)",
    "softmax-shares": "d(bert.encoder.layers.1.S.0)",
    "table-decoder": "d(bert.embeddings.word_embeddings.weight)",
    "residual-past": "d(bert.encoder.layers.1.h) past feed-forward",
    "fork-value": "d(bert.encoder.layers.1.x)",
    "loss-mean": "d(logits)",
    "embedding-last": "d(bert.embeddings.token_type_embeddings.weight)",
    "bias-mean": "d(predictions.dense.bias)",
    "activation-slope": "d(predictions.t)",
}
RIVAL = models.VOCABULARY.index("are")
each_model = pytest.mark.parametrize("model", one_in(3, range(3)))


@pytest.fixture(scope="module")
def answers(thorough):
    """All that the tests ask JavaScript, by name, in one run of node for all processes."""
    questions = {
        "each": 1 if thorough else 5,
        "bugs": 1 if thorough else 4,
        "models": [
            export(one, models.EXAMPLES, models.VOCABULARY, optimizer={**OPTIMIZER, "max_grad_norm": most})
            for one, most in zip(models.make_models(), MOST, strict=True)
        ][: 3 if thorough else 1],
        "moved": MOVED,
        "followed": models.FOLLOWED,
        "rival": {"masked": 1, "word": RIVAL},
        "formulas": list(FORMULAS),
        "erf": ERF_AT,
    }
    node = models.find_node()

    def ask(path):
        (asked := path.with_name("questions.json")).write_text(json.dumps(questions), encoding="utf-8")
        subprocess.run([node, str(SCRIPT), str(MATH), str(asked), str(path)], check=True, timeout=300)

    return json.loads(once("answers.json", ask).read_text(encoding="utf-8"))


def numbers(found):
    return np.reshape(found["values"], found["shape"])


def assert_same(found, wanted, what, smallest_scale=0.0):
    """Equal to 12 digits of the array's largest number, or of `smallest_scale`: what cancels to 0 has no digits."""
    scale = max(np.abs(wanted).max(), smallest_scale)
    assert np.abs(numbers(found) - np.reshape(wanted, found["shape"])).max() <= 1e-12 * scale, what


def assert_gradients(arrays, gradients):
    largest = max(np.abs(gradient).max() for gradient in gradients.values())
    for name, gradient in gradients.items():
        if not name.startswith(LEFT_OUT):
            assert_same(arrays[f"d({name})"], gradient, name, 0.01 * largest)  # as npbert's own check


@each_model
@pytest.mark.parametrize("example", range(len(models.EXAMPLES)))
def test_loss_and_gradients_are_those_of_npbert(answers, model, example):
    trace = answers["models"][model]["traces"][example]
    loss, gradients = models.loss_and_gradients(models.make_models()[model], [models.EXAMPLES[example]])
    assert trace["loss"] == pytest.approx(loss, rel=1e-13)
    assert_gradients(trace["arrays"], gradients)


@each_model
def test_the_difference_of_two_guesses_and_its_gradients_are_those_of_npbert(answers, model):
    """Softmax's part in the losses of both words is the same, so their difference is that of the logits."""
    found, example, one = answers["models"][model]["rival"], models.EXAMPLES[1], models.make_models()[model]
    second = max(n for n, label in enumerate(example.labels) if label >= 0)
    other = replace(example, labels=[RIVAL if n == second else label for n, label in enumerate(example.labels)])
    (loss, right), (rival, wrong) = (models.loss_and_gradients(one, [each]) for each in (example, other))
    assert found["loss"] == pytest.approx(2 * (rival - loss), rel=1e-12)  # the loss is the mean over two words
    assert_gradients(found["arrays"], {name: 2 * (wrong[name] - right[name]) for name in right})
    assert found["explained"]["wrong"] == []


@each_model
def test_every_number_is_the_sum_that_its_explanation_says(answers, model):
    found = answers["models"][model]["explained"]
    assert found["count"] > 200 and found["wrong"] == []


def test_a_formula_says_what_a_number_is_made_of(answers):
    assert answers["formulas"] == FORMULAS


def test_a_planted_bug_is_where_it_is_its_sums_say_so_and_the_loss_still_falls(answers, thorough):
    """Of every bug; without --thorough, of one in four."""
    assert len(answers["broken"]) == len(FIRST_WRONG) // (1 if thorough else 4)
    for bug, found in answers["broken"].items():
        assert found["first"] == FIRST_WRONG[bug]
        first, *_, last = found["losses"]
        assert last < 0.8 * first
        assert any("is not" in line for line in found["explained"]), bug


@each_model
def test_steps_and_arrays_tell_of_one_another_and_the_tape_is_a_stack(answers, model):
    trace = answers["models"][model]["traces"][1]
    stack = []
    for index, step in enumerate(trace["steps"]):
        assert step["index"] == index
        assert all(name in trace["arrays"] for name in [*step["reads"], *step["writes"]])
        if step["phase"] == "forward":
            stack.append((index, step["tape"]["keeps"]))
        else:
            assert stack.pop() == (step["undoes"], step["tape"]["takes"])
    assert stack == []
    assert answers["models"][model]["unlit"] == []


@each_model
def test_a_chain_is_a_product_that_leads_to_the_loss(answers, model):
    chains = answers["models"][model]["chains"]
    assert len(chains) > 60
    for one in chains:
        assert one["said"] == pytest.approx(one["product"], rel=1e-12), one
        assert one["end"] == "d(loss)" or one["value"] == 0, one


@each_model
def test_what_flows_into_a_stop_flows_out_and_each_cut_carries_the_gradient(answers, model):
    for found in answers["models"][model]["paths"]:
        near = {"abs": 1e-7 * max(abs(road["flow"]) for road in found["roads"])}  # by a difference of two forwards
        for cut in range(len(found["stops"])):
            flow = sum(road["flow"] for road in found["roads"] if road["from"] < cut <= road["to"])
            assert flow == pytest.approx(found["gradient"], **near), (found["name"], cut)
            into = sum(road["flow"] for road in found["roads"] if road["to"] == cut)
            assert into == pytest.approx(found["stops"][cut]["total"], **near), (found["name"], cut)
        ways = {road["road"] for road in found["roads"] if road["from"] == -1}
        assert ways == ({"as it comes in", "as an answer"} if "word_embeddings" in found["name"] else {None})


@each_model
def test_the_size_of_a_road_is_the_norm_of_what_comes_back_on_it(answers, model):
    arrays = {name: numbers(array) for name, array in answers["models"][model]["traces"][1]["arrays"].items()}
    norm = f"{LAYER}.attention_norm"
    dxhat, xhat, sigma = arrays[f"d({norm}.xHat)"], arrays[f"{norm}.xHat"], arrays[f"{norm}.sigma"]
    p, dp = arrays[f"{LAYER}.P.0"], arrays[f"d({LAYER}.P.0)"]
    attention = ("past attention", "through Q", "through K", "through V")
    wanted = {
        f"d({LAYER}.x)": {road: arrays[f"d({LAYER}.x) {road}"] for road in attention},
        f"d({LAYER}.attention.s)": {
            "directly": dxhat / sigma,
            "through the mean μ": dxhat.mean(axis=1, keepdims=True) / sigma * np.ones_like(xhat),
            "through the spread σ": xhat * (dxhat * xhat).mean(axis=1, keepdims=True) / sigma,
        },
        f"d({LAYER}.S.0)": {
            "its own share grows": p * dp,
            "all shares of the row shrink": p * (p * dp).sum(axis=1, keepdims=True),
        },
    }
    told = answers["models"][model]["roads"]
    for name, roads in wanted.items():
        found = {road["road"]: road["size"] for road in told[name]}
        assert found == {road: pytest.approx(np.linalg.norm(back), rel=1e-12) for road, back in roads.items()}, name
    assert [road["road"] for road in told["d(bert.embeddings.word_embeddings.weight)"]] == [
        "as an answer",
        "as it comes in",
    ]
    assert told[f"d({LAYER}.Q)"] == told["d(logits)"] == [], "one road is no choice"


@each_model
def test_moving_a_number_moves_the_loss_as_npbert_says(answers, model):
    for place, loss in zip(MOVED, answers["models"][model]["moved"], strict=True):
        one = models.make_models()[model]
        dict(one.named_parameters())[QUERY].value[place["row"], place["column"]] = place["value"]
        assert loss == pytest.approx(models.loss_and_gradients(one, models.EXAMPLES[:1])[0], rel=1e-13)


@each_model
def test_the_update_is_that_of_npbert_and_every_number_of_it_is_its_sum(answers, model):
    """Given the page's own gradients, so that it is the optimizer alone that is compared."""
    updates = answers["models"][model]["updates"]
    named = dict(models.make_models()[model].named_parameters())
    shown = {name: Parameter(w.value) for name, w in named.items() if f"g({name})" in updates[0]["arrays"]}
    optimizer = AdamW(shown.values(), **OPTIMIZER)
    beta1, beta2 = OPTIMIZER["betas"]
    loss, gradients = models.loss_and_gradients(models.make_models()[model], models.EXAMPLES[:4])
    assert updates[0]["made"] == pytest.approx(loss, rel=1e-12)
    assert_gradients({f"d({name})": updates[0]["arrays"][f"g({name})"] for name in shown}, gradients)
    for t, update in enumerate(updates, 1):
        arrays = update["arrays"]
        assert update["sums"]["wrong"] == [] and update["loss"] == update["made"]
        assert update["losses"][0] == update["losses"][1], "the step that was shown is the step that is made"
        for name, w in shown.items():
            w.zero_grad()
            w.add_grad(np.reshape(arrays[f"g({name})"]["values"], w.value.shape))
        norm = global_norm(shown.values())
        clip = clip_factor(norm, MOST[model])
        assert model == 2 or (clip < 1) == (model == 0)
        assert_same(arrays["norm"], np.array(norm), "norm")
        assert_same(arrays["clip"], np.array(clip), "clip")
        before = [w.value.copy() for w in shown.values()]
        optimizer.step(clip)
        for name, old, w, m, v in zip(shown, before, shown.values(), *optimizer.moments().values(), strict=True):
            wanted = {"m": m, "v": v, "m_hat": m / (1 - beta1**t), "v_hat": v / (1 - beta2**t), "new": w.value}
            wanted["decay"] = (optimizer.kept(w) - 1) * old
            for key, value in wanted.items():
                assert_same(arrays[f"{key}({name})"], value, f"{key}({name})")


def test_erf_is_right_to_the_last_digits(answers):
    found, wanted = np.array(answers["erf"]), np.array([math.erf(x) for x in ERF_AT])
    assert np.abs(found - wanted).max() <= 1e-15
    assert (np.abs(found - wanted) <= 1.5e-15 * np.abs(wanted)).all()


def test_numbers_are_written_in_few_letters(answers):
    assert answers["short"] == ["+0.009", "+9e\u22124", "\u22120.50", "0"]
    assert answers["percent"] == ["<\u00a00.1\u00a0%", "50\u00a0%", "100.0\u00a0%"], "what is hardly there is not 0"
