"""The page's arithmetic, in JavaScript, beside npbert's own: values, gradients, explanations, checks, bugs, training."""

import json
import math
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import npbert
from npbert import AdamW
from npbert.pages.number.export import export
from tests.pages import models

MATH = Path(npbert.__file__).parent / "pages" / "number" / "js" / "math"
SCRIPT = Path(__file__).parent / "node" / "arithmetic.mjs"
MODELS = range(3)
CASES = [(model, example) for model in MODELS for example in range(len(models.EXAMPLES))]
MOVED = {"name": "bert.encoder.layers.0.attention.query.weight", "row": 1, "column": 2}
OPTIMIZER = {"lr": 0.01, "betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": 0.1}
COMPLEX_ERF = {  # by scipy.special.erf
    (0.5, 0.3): (0.5615651885242132, 0.2676058649576036),
    (1.9, -1.0): (1.0086246645364676, 0.015952122049101833),
    (-2.5, 0.7): (-1.0005330591707435, -0.00036596180362486846),
    (3.0, 2.0): (0.9989632788568172, -1.1546724379290491e-05),
    (0.1, 1e-20): (0.11246291601828462, 1.1171516067889372e-20),
    (-4.0, 1e-25): (-0.9999999845827421, 1.2698234671866564e-32),
}


def find_node():
    """Node, or the one that comes with playwright."""
    if found := shutil.which("node"):
        return found
    driver = pytest.importorskip("playwright._impl._driver", reason="there is no node: install Node.js, or playwright")
    return str(driver.compute_driver_executable()[0])


@pytest.fixture(scope="module")
def exported():
    vocabulary = models.VOCABULARY
    return [export(model, models.EXAMPLES, vocabulary, optimizer=OPTIMIZER) for model in models.make_models()]


@pytest.fixture(scope="module")
def answers(exported, tmp_path_factory):
    """All that the tests ask JavaScript, in one run of node."""
    folder = tmp_path_factory.mktemp("number")
    questions = {
        "models": exported,
        "moved": {**MOVED, "values": np.linspace(-1, 1, 5).tolist()},
        "erf": ERF_AT,
        "complexErf": list(COMPLEX_ERF),
    }
    (folder / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
    command = [find_node(), str(SCRIPT), str(MATH), str(folder / "questions.json"), str(folder / "answers.json")]
    subprocess.run(command, check=True, timeout=120)
    return json.loads((folder / "answers.json").read_text(encoding="utf-8"))


ERF_AT = [*np.linspace(-7, 7, 2801).tolist(), 1e-300, 1e-9, 2 - 1e-15, 30.0, 0.0]


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


@pytest.mark.parametrize(("model", "example"), CASES)
def test_every_array_on_the_way_is_that_of_npbert(answers, monkeypatch, model, example):
    trace = answers["models"][model]["traces"][example]
    watched = models.Watched(models.make_models()[model], models.EXAMPLES[example], monkeypatch)
    assert trace["loss"] == pytest.approx(float(watched.loss), rel=1e-13)
    wanted = wanted_arrays(trace["steps"], trace["arrays"], watched)
    largest = max(np.abs(array).max() for name, array in wanted.items() if name.startswith("d("))
    for name, array in wanted.items():
        assert_same(trace["arrays"][name], array, name, 0.01 * largest if name.startswith("d(") else 0.0)
    not_compared = {name for name, array in trace["arrays"].items() if not array["parameter"]} - set(wanted)
    print(sorted(not_compared))


def wanted_arrays(steps, arrays, watched):
    """By the page's names, what npbert had at each step."""
    wanted = {"d(logits)": watched.dlogits}
    undone = {(step["part"], step["kind"]): step for step in steps if step["phase"] == "backward"}
    for step in steps:
        part, kind = step["part"], step["kind"]
        if step["phase"] == "backward" or part not in watched.forward or kind in ("Add", "Fork"):
            continue
        (x, y), (dy, dx) = watched.forward[part], watched.backward[part]
        layer = part.removesuffix(".attention.dot_product")
        if kind in ("Scores", "Softmax"):
            continue
        made = step["writes"][-1 if kind == "LayerNorm" else 0]
        wanted.update({made: y, f"d({made})": dy})
        if kind == "WeightedMean":
            wanted.update({f"d({layer}.{symbol})": gradient for symbol, gradient in zip("QKV", dx, strict=True)})
        elif kind not in ("Embedding", "SinusoidalPositions", "Decoder"):
            wanted[step["reads"][0]] = x
            (into,) = (w for w in undone[part, kind]["writes"] if arrays[w]["gradientOf"] == step["reads"][0])
            wanted[into] = dx
        if kind == "LayerNorm":
            _, wanted[f"{part}.xHat"], wanted[f"{part}.sigma"] = watched.normalized[part]
    count = len(watched.softmax) // 2
    for number, (first, second) in enumerate(watched.softmax):
        is_forward = number < count
        layer = number if is_forward else 2 * count - 1 - number  # backward ends with the first layer
        for symbol, heads in zip("SP" if is_forward else "PS", (first, second), strict=True):
            for head, array in enumerate(heads):
                name = f"bert.encoder.layers.{layer}.{symbol}.{head}"
                wanted[name if is_forward else f"d({name})"] = array
    for layer in range(count):
        _, (dx, dz) = watched.backward[f"bert.encoder.layers.{layer}"]
        wanted[f"d(bert.encoder.layers.{layer}.x)"] = dx + dz
    return wanted
