"""The page's arithmetic, in JavaScript, beside npbert's own: values, gradients, sums, paths, bugs and training."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import npbert
from npbert import AdamW
from npbert.optim import clip_factor, global_norm
from npbert.pages.number.export import export
from tests.pages import models
from tests.tables import one_in

MATH = Path(npbert.__file__).parent / "pages" / "number" / "js" / "math"
SCRIPT = Path(__file__).parent / "node" / "arithmetic.mjs"
QUERY = "bert.encoder.layers.0.attention.query.weight"
MOVED = [{"name": QUERY, "row": 1, "column": 2, "value": value} for value in (-1.0, 0.5)]
OPTIMIZER = {"lr": 0.01, "betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": 0.1}
MOST = [0.05, 1e3, 1.0]  # of each model, max_grad_norm: below the norm of the gradient, above it, about it
LEFT_OUT = ("bert.pooler", "seq_relationship")
FORMULAS = {  # of the numbers [1, 2]
    "bert.encoder.layers.0.S.1": "S₂[1, 2] = Σᵢ Q[1, i] · K[2, i] / √d",
    "d(bert.encoder.layers.0.K)": "dK[1, 2] = Σₙ dS₂[n, 1] · Q[n, 2] / √d",
    "d(bert.embeddings.word_embeddings.weight)": "dE[1, 2] = Σₘ z[m, 2] · dlogits[m, 1]",
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


@pytest.fixture(scope="module")
def answers(thorough, tmp_path_factory):
    """All that the tests ask JavaScript, by name, in one run of node."""
    questions = {
        "each": 1 if thorough else 19,
        "bugs": 1 if thorough else 4,
        "updates": 3 if thorough else 2,
        "models": [
            export(one, models.EXAMPLES, models.VOCABULARY) | {"optimizer": {**OPTIMIZER, "max_grad_norm": most}}
            for one, most in zip(models.make_models(), MOST, strict=True)
        ][: 3 if thorough else 1],
        "moved": MOVED,
        "followed": models.FOLLOWED,
        "rival": {"masked": 1, "word": RIVAL},
        "formulas": list(FORMULAS),
    }
    folder = tmp_path_factory.mktemp("node")
    asked, told = folder / "questions.json", folder / "answers.json"
    asked.write_text(json.dumps(questions), encoding="utf-8")
    subprocess.run([models.find_node(), *map(str, (SCRIPT, MATH, asked, told))], check=True, timeout=300)
    return json.loads(told.read_text(encoding="utf-8"))


@pytest.fixture(params=one_in(3, range(3)))
def both(request, answers):
    """A model, and what JavaScript says of it."""
    return models.make_models()[request.param], answers["models"][request.param] | {"most": MOST[request.param]}


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


def test_loss_and_gradients_are_those_of_npbert(both):
    model, found = both
    for example, trace in zip(models.EXAMPLES, found["traces"], strict=True):
        loss, gradients = models.loss_and_gradients(model, [example])
        assert trace["loss"] == pytest.approx(loss, rel=1e-13)
        assert_gradients(trace["arrays"], gradients)
    weight = dict(model.named_parameters())[QUERY].value
    for place, moved in zip(MOVED, found["moved"], strict=True):
        weight[place["row"], place["column"]] = place["value"]
        assert moved == pytest.approx(models.loss_and_gradients(model, models.EXAMPLES[:1])[0], rel=1e-13)


def test_the_difference_of_two_guesses_and_its_gradients_are_those_of_npbert(both):
    """Softmax's part in the losses of both words is the same, so their difference is that of the logits."""
    model, found = both[0], both[1]["rival"]
    example = models.EXAMPLES[1]
    second = max(n for n, label in enumerate(example.labels) if label >= 0)
    other = replace(example, labels=[RIVAL if n == second else label for n, label in enumerate(example.labels)])
    (loss, right), (rival, wrong) = (models.loss_and_gradients(model, [each]) for each in (example, other))
    assert found["loss"] == pytest.approx(2 * (rival - loss), rel=1e-12)  # the loss is the mean over two words
    assert_gradients(found["arrays"], {name: 2 * (wrong[name] - right[name]) for name in right})
    assert found["explained"]["wrong"] == []


def test_every_number_is_the_sum_that_its_explanation_says(both, answers):
    found = both[1]["explained"]
    assert found["count"] > 100 and found["wrong"] == []
    assert answers["formulas"] == FORMULAS


def test_a_planted_bug_is_where_it_is_its_sums_say_so_and_the_loss_still_falls(answers, thorough):
    """Of every bug; without --thorough, of one in four."""
    assert len(answers["broken"]) == len(FIRST_WRONG) // (1 if thorough else 4)
    for bug, found in answers["broken"].items():
        assert found["first"] == FIRST_WRONG[bug]
        first, *_, last = found["losses"]
        assert last < 0.8 * first
        assert any("is not" in line for line in found["explained"]), bug


def test_the_tape_is_a_stack_and_every_step_has_lit_lines(both):
    stack, found = [], both[1]
    for index, step in enumerate(found["traces"][1]["steps"]):
        if step["phase"] == "forward":
            stack.append((index, step["kept"]))
        else:
            assert stack.pop() == (step["undoes"], step["kept"])
    assert stack == found["unlit"] == []


def test_what_flows_into_a_stop_flows_out_and_each_cut_carries_the_gradient(both):
    for found in both[1]["paths"]:
        roads, near = found["roads"], {"abs": 1e-7 * max(abs(road["flow"]) for road in found["roads"])}  # a difference
        for cut, stop in enumerate(found["stops"]):
            flow = sum(road["flow"] for road in roads if road["from"] < cut <= road["to"])
            assert flow == pytest.approx(found["gradient"], **near), (found["name"], cut)
            assert sum(road["flow"] for road in roads if road["to"] == cut) == pytest.approx(stop["total"], **near)
        ways = {road["road"] for road in roads if road["from"] == -1}
        assert ways == ({"as it comes in", "as an answer"} if "word_embeddings" in found["name"] else {None})


def test_the_update_is_that_of_npbert_and_every_number_of_it_is_its_sum(both):
    """Given the page's own gradients, so that it is the optimizer alone that is compared."""
    model, updates = both[0], both[1]["updates"]
    shown = {name: w for name, w in model.named_parameters() if f"g({name})" in updates[0]["arrays"]}
    _, gradients = models.loss_and_gradients(model, models.EXAMPLES[:4])
    assert_gradients({f"d({name})": updates[0]["arrays"][f"g({name})"] for name in shown}, gradients)
    optimizer = AdamW(shown.values(), **OPTIMIZER)
    for update in updates:
        arrays = update["arrays"]
        assert update["sums"]["wrong"] == [] and update["loss"] == update["made"]
        assert update["losses"][0] == update["losses"][1], "the step that was shown is the step that is made"
        for name, w in shown.items():
            w.zero_grad()
            w.add_grad(numbers(arrays[f"g({name})"]).reshape(w.value.shape))
        norm = global_norm(shown.values())
        clip = clip_factor(norm, both[1]["most"])
        assert_same(arrays["norm"], np.array(norm), "norm")
        assert_same(arrays["clip"], np.array(clip), "clip")
        optimizer.step(clip)
        for name, w, m, v in zip(shown, shown.values(), *optimizer.moments().values(), strict=True):
            for key, wanted in (("m", m), ("v", v), ("new", w.value)):
                assert_same(arrays[f"{key}({name})"], wanted, f"{key}({name})")
